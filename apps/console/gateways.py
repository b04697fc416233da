"""What the pages of OpenClaw Gateways show: how each stands, its calls, and the commands that enrol one."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.openclaw_gateways.models import Standing

if TYPE_CHECKING:
    from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway

    GatewayRecord: TypeAlias = OpenClawGateway


@dataclass(frozen=True, slots=True)
class StandingKind:
    """How a standing looks."""

    lab: str
    icon: str
    label: Promise | str


STANDINGS = {
    Standing.LIVE: StandingKind("allow", "plug-connected", Standing.LIVE.label),
    Standing.SILENT: StandingKind("ask", "plug-connected-x", Standing.SILENT.label),
    Standing.NEVER_SEEN: StandingKind("", "clock", Standing.NEVER_SEEN.label),
    Standing.REVOKED: StandingKind("deny", "ban", Standing.REVOKED.label),
}
CALL_STATES: dict[str, tuple[str, Promise]] = {
    "asked": ("warn", _("asked")),
    "told": ("run", _("runs there")),
    "reported": ("run", _("reported")),
    "completed": ("ok", _("completed")),
    "failed": ("bad", _("failed")),
    "denied": ("bad", _("denied")),
    "unknown": ("warn", _("unknown")),
}


class EnrolForm(ConsoleForm):
    """What a gateway is called."""

    name = forms.CharField(label=_("Name"), max_length=100)


class ShownGateway:
    """A gateway as the list and its page show it."""

    def __init__(self, gateway: "OpenClawGateway", *, latest: "GatewayCall | None" = None) -> None:
        self.gateway = gateway
        self.latest = latest
        self.standing = gateway.standing(timezone.now())

    @property
    def kind(self) -> StandingKind:
        return STANDINGS[self.standing]

    @property
    def is_revoked(self) -> bool:
        return self.standing == Standing.REVOKED


class ShownGatewayCall:
    """A call of a gateway as its page shows it."""

    def __init__(self, call: "GatewayCall") -> None:
        self.call = call
        state = call.outcome or call.state
        known = CALL_STATES.get(state)
        self.dot = known[0] if known else "off"
        self.label: Promise | str = known[1] if known else state

    @property
    def is_on_record(self) -> bool:
        """Say whether the ledger has entries of it."""
        return bool(self.call.outcome) or self.call.told_at is not None


@dataclass(frozen=True, slots=True)
class Made:
    """An enrolment that was made just now."""

    name: str
    secret: str
    expires_at: datetime

    @property
    def commands(self) -> str:
        """What to type on the gateway's machine."""
        install = f"node openclaw-plugin/install.mjs --server {settings.PUBLIC_URL} --enrol-file enrolment"
        return f"umask 077; echo {self.secret} > enrolment\n{install}\nrm enrolment"


def list_context(rows: list["OpenClawGateway"], latest: dict[Any, "GatewayCall"]) -> dict[str, Any]:
    """Give what the table of gateways shows."""
    return {"rows": [ShownGateway(each, latest=latest.get(each.pk)) for each in rows]}
