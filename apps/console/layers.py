"""Words for the engine's layers. Number, order and labels are the engine's; here is what people call each of them."""

from collections.abc import Mapping
from typing import Final

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.firewall.engine.answers import ContextResolution

NAMES: Final[Mapping[str, Promise]] = {
    "apply_patch": gettext_lazy("apply_patch gate"),
    "transport": gettext_lazy("Channel's built-in list"),
    "profile": gettext_lazy("Profile"),
    "provider_profile": gettext_lazy("Provider profile"),
    "global": gettext_lazy("Global"),
    "global_provider": gettext_lazy("Global provider"),
    "agent": gettext_lazy("Agent"),
    "agent_provider": gettext_lazy("Agent provider"),
    "group": gettext_lazy("Group"),
    "sender": gettext_lazy("Sender"),
    "sandbox": gettext_lazy("Sandbox"),
    "owner_only": gettext_lazy("Owner-only"),
    "subagent": gettext_lazy("Sub-agent"),
    "runtime": gettext_lazy("Runtime"),
    "inherited": gettext_lazy("Inherited"),
}
_WHY_NOT: Final[Mapping[str, Promise]] = {
    "apply_patch": gettext_lazy("leaves apply_patch as it is"),
    "transport": gettext_lazy("this channel has no built-in list"),
    "profile": gettext_lazy("no profile limits this agent"),
    "provider_profile": gettext_lazy("no profile is set for this provider"),
    "global": gettext_lazy("no global lists"),
    "global_provider": gettext_lazy("no global rule for this provider"),
    "agent": gettext_lazy("this agent has no lists of its own"),
    "agent_provider": gettext_lazy("this agent has no rule for this provider"),
    "group": gettext_lazy("no rule of a group holds here"),
    "sender": gettext_lazy("no rule for this sender"),
    "sandbox": gettext_lazy("the session is not sandboxed"),
    "owner_only": gettext_lazy("nothing is kept from this sender"),
    "subagent": gettext_lazy("no sub-agent, depth 0"),
    "runtime": gettext_lazy("the caller gave no list"),
    "inherited": gettext_lazy("nothing was inherited"),
}
# where the block of a layer is edited: url name, and whether it takes the agent's key
_PAGES: Final[Mapping[str, tuple[str, bool]]] = {
    "profile": ("agent", True),
    "provider_profile": ("agent", True),
    "agent": ("agent", True),
    "agent_provider": ("agent", True),
    "apply_patch": ("agent-exec", True),
    "sandbox": ("agent-sandbox", True),
    "global": ("global", False),
    "global_provider": ("global", False),
    "owner_only": ("global", False),
    "subagent": ("global", False),
    "group": ("groups", False),
    "sender": ("groups", False),
}


def layer_name(key: str) -> str:
    """Name a layer for people; one that is new to this table is called by its key."""
    name = NAMES.get(key)
    return key.replace("_", " ").capitalize() if name is None else str(name)


def why_not(key: str, resolution: ContextResolution | None) -> str:
    """Say why a layer does not apply."""
    if key == "profile" and resolution is not None and resolution.profile:
        return _("the profile %(name)s limits nothing") % {"name": resolution.profile}
    reason = _WHY_NOT.get(key)
    return _("does not apply in this context") if reason is None else str(reason)


def page_of(key: str, source: str, agent: str | None) -> str:
    """Find the page where the block of a layer is edited; empty while there is none.

    Args:
        source: where the block stands; the profile and sandbox of every agent are not on an agent's page.
        agent: the agent's key in the draft; None when it has no page.
    """
    name, takes_agent = _PAGES.get(key, ("", False))
    if takes_agent and not source.startswith("agents."):
        name, takes_agent = "global", False
    if not name or (takes_agent and not agent):
        return ""
    try:
        return reverse(name, args=[agent] if takes_agent else [])
    except NoReverseMatch:
        return ""
