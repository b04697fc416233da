"""What the pages of OpenClaw Gateways show: how each stands, its calls, and the commands that enrol one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.forms import ConsoleForm
from apps.openclaw_gateways.models import Standing
from apps.openclaw_gateways.selectors import Traffic

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
TRAFFIC_OF: Final = timedelta(minutes=5)
HEALTH_SHOWN: Final = 6
CALL_STATES: dict[str, tuple[str, Promise]] = {
    "asked": ("warn", _("asked")),
    "told": ("run", _("runs there")),
    "reported": ("run", _("reported")),
    "completed": ("ok", _("completed")),
    "failed": ("bad", _("failed")),
    "cancelled": ("bad", _("cancelled")),
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


class GatewayHealth(ShownGateway):
    """A gateway as the first page shows it: how it stands, and by which publication it last had an answer.

    Attributes:
        number: of that publication; None where it has had no answer, or by none of this environment.
        behind: how many publications came after it.
    """

    def __init__(self, gateway: "OpenClawGateway", traffic: Traffic, number: int | None, live_number: int) -> None:
        super().__init__(gateway)
        self.traffic, self.number = traffic, number
        self.behind = 0 if number is None else live_number - number

    @property
    def urgency(self) -> int:
        """Tell what to look at first: the silent ones, those behind, those never seen."""
        order = (self.standing == Standing.SILENT, self.behind > 0, self.standing == Standing.NEVER_SEEN)
        return order.index(True) if any(order) else len(order)


def health(
    gateways: Sequence["OpenClawGateway"],
    traffic: Mapping[Any, Traffic],
    numbers: Mapping[str, int],
    live_number: int,
) -> dict[str, Any]:
    """Give what the first page shows of gateways: the most urgent ones, and how many more there are."""
    shown = [
        GatewayHealth(each, traffic.get(each.pk, Traffic()), numbers.get(each.snapshot_digest), live_number)
        for each in gateways
    ]
    rows = sorted((each for each in shown if not each.is_revoked), key=lambda each: each.urgency)
    return {"gateways": rows[:HEALTH_SHOWN], "gateways_more": max(0, len(rows) - HEALTH_SHOWN)}


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
