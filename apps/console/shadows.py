"""What the pages show of shadow rules: what they change, how many calls they would have changed, and how they stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, may
from apps.console.changes import KINDS, Line, compared
from apps.console.gate import ConsoleRequest
from apps.console.replays import ShownReplay
from apps.firewall.engine.rule_changes import ABSENT, RuleEdit
from apps.firewall.identifiers import show_id
from apps.policies.shadows.starting import shadows_of

if TYPE_CHECKING:
    from apps.policies.models import ShadowRule
    from apps.registry.models import Environment

LISTED: Final = 100


@dataclass(frozen=True, slots=True)
class Standing:
    """How a shadow rule stands: colour, sign and word, and a sentence for one that has ended."""

    colour: str
    icon: str
    word: Promise
    sentence: Promise | str = ""


STANDINGS: Final[Mapping[str, Standing]] = {
    "watching": Standing("info", "eye", _("watched")),
    "stopped": Standing("", "circle-minus", _("stopped"), _("Somebody stopped it. What it counted until then stays.")),
    "live": Standing("allow", "check", _("live"), _("It was published: what it would have done, it does now.")),
    "gone": Standing("ask", "alert-triangle", _("no place"), _("What it belongs to is not live any more.")),
    "changed": Standing(
        "ask",
        "git-branch",
        _("overtaken"),
        _("A publication says something else there. Start it again from the draft."),
    ),
    "failed": Standing("deny", "x", _("failed"), _("It could not be held against calls. Nothing is enforced by it.")),
}


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """One value that the change sets: where, and what differs."""

    path: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ShownShadow(ShownReplay):
    """A shadow rule as the pages show it."""

    @property
    def standing(self) -> Standing:
        return STANDINGS[self.replay.state]

    @property
    def kind(self) -> Promise | str:
        return KINDS[self.replay.kind][0]

    @property
    def icon(self) -> str:
        return KINDS[self.replay.kind][1]

    @property
    def edits(self) -> list[ShownEdit]:
        found = []
        for edit in map(RuleEdit.read, self.replay.edits):
            before, after = (None if side is ABSENT else side for side in (edit.before, edit.after))
            found.append(ShownEdit(".".join(edit.path), tuple(compared(before, after))))
        return found

    @property
    def changed(self) -> int:
        """How many calls it would have decided otherwise."""
        return self.blocked + self.allowed + self.asked + self.unasked

    @property
    def last(self) -> tuple[UUID, str] | None:
        """The newest call that it would have decided otherwise."""
        groups = (group for group in self.replay.tally.get("groups", ()) if group["change"] != "unknown")
        newest = max((call for group in groups for call in group["calls"]), default=None)
        return None if newest is None or not self.names_calls else (UUID(newest), show_id("call", UUID(newest)))


def shown(request: ConsoleRequest, shadow: "ShadowRule") -> ShownShadow:
    """Prepare a shadow rule for who asks; only readers of the ledger are led to the calls."""
    names_calls = may(request.user, Permission.AUDIT_READ)
    return ShownShadow(shadow, shadow.environment.dialect, shows_all=True, names_calls=names_calls)


def list_of(request: ConsoleRequest, environment: "Environment") -> dict[str, Any]:
    """Gather every shadow rule that is kept."""
    found = [shown(request, each) for each in shadows_of(environment)[:LISTED]]
    return {"shadows": found, "watched": sum(each.replay.is_watching for each in found)}
