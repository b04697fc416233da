"""What of a draft a gateway cannot be held to: layers whose rules ask for facts that its plugin does not tell."""

from collections.abc import Iterator, Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.firewall.engine.unknown_facts import facts_asked
from apps.openclaw_gateways.models import OpenClawGateway
from apps.openclaw_gateways.selectors import gateways
from apps.policies.lint import LintFinding
from apps.policies.selectors import draft_snapshot
from apps.registry.models import Environment

CODE: Final = "not_enforceable_at_gateway"
OLDER: Final = ("channel", "account_id", "sender_id", "sender_is_owner")
"""What a plugin tells that does not say what it can tell."""
PLACES: Final[Mapping[str, str]] = {
    "apply_patch": "tools.exec.applyPatch.allowModels",
    "global_provider": "tools.byProvider",
    "agent_provider": "agents.*.tools.byProvider",
    "group": "channels",
    "sender": "tools.toolsBySender",
}
FACTS: Final[Mapping[str, Promise]] = {
    "provider": gettext_lazy("the provider"),
    "model_id": gettext_lazy("the model"),
    "spawned_by": gettext_lazy("the session that spawned a sub-agent"),
    "account_id": gettext_lazy("the account"),
    "group_channel": gettext_lazy("the group's name"),
    "group_space": gettext_lazy("the guild or team"),
    "channel": gettext_lazy("the channel"),
    "sender_id": gettext_lazy("the sender's id"),
    "sender_e164": gettext_lazy("the sender's phone number"),
    "sender_username": gettext_lazy("the sender's username"),
    "sender_name": gettext_lazy("the sender's name"),
}


def enforceable_findings(environment: Environment) -> Iterator[LintFinding]:
    """Return a remark for each gateway and each layer of the draft that it cannot be held to: its calls are refused."""
    heard = list(gateways(environment).filter(revoked_at=None, facts__isnull=False))
    if not heard:
        return
    try:
        snapshot = draft_snapshot(environment)
    except SnapshotError:  # is remarked on by the review itself
        return
    for gateway in heard:
        yield from _findings(gateway, snapshot)


def _findings(gateway: OpenClawGateway, snapshot: Snapshot) -> Iterator[LintFinding]:
    told = {*OLDER, *gateway.facts}
    for layer, asked in facts_asked(snapshot).items():
        lacking = [fact for fact in asked if fact not in told]
        if lacking:
            names = ", ".join(str(FACTS[fact]) for fact in lacking)
            message = _(
                "Not enforceable at gateway %(gateway)s: needs %(facts)s. Calls that such a rule might deny are "
                "refused there. Update the plugin of the gateway."
            ) % {"gateway": gateway.name, "facts": names}
            yield LintFinding(CODE, "warning", PLACES[layer], None, "", gateway.name, message)
