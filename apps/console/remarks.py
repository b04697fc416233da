"""The review's remarks in people's words, for lists that are saved and for those being typed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.firewall.engine.snapshot import Snapshot
from apps.policies.lint.draft import Draft
from apps.policies.lint.layers import agent_findings
from apps.policies.lint.names import NameRemark, NameReview

if TYPE_CHECKING:
    from apps.registry.models import Environment

FIELDS: Final = {"allow": "allow", "alsoAllow": "also_allow", "deny": "deny"}
SENTENCES: Final[Mapping[str, Promise]] = {
    "allow_voided": _("%(entry)s is denied in the same block."),
    "blank_entry": _("A blank entry names nothing."),
    "matches_nothing": _("%(entry)s matches no tool here at present."),
    "old_name": _("%(entry)s is an old name."),
    "repeated": _("%(entry)s says what another entry says already."),
    "unknown_name": _("%(entry)s is no tool, group or plugin."),
    "allows_nothing": _("This list leaves no tool at all."),
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One remark under a field; `suggestion` is what was probably meant."""

    severity: str
    text: str
    entry: str
    suggestion: str

    @property
    def css(self) -> str:
        return {"error": "c-deny", "warning": "c-ask"}.get(self.severity, "")

    @property
    def icon(self) -> str:
        return "info-circle" if self.severity == "info" else "alert-triangle"


Lists = Mapping[str, Sequence[str] | None]


def reviewer(environment: "Environment", draft: Snapshot | None = None) -> Callable[[Lists], dict[str, list[Shown]]]:
    """Return what reviews blocks of lists; what it reads of the draft is read once.

    Args:
        draft: the draft where it is compiled already; its tools need not be read then.
    """
    review = NameReview(Draft(environment, None if draft is None else draft.engine.universe))

    def remarks(lists: Lists) -> dict[str, list[Shown]]:
        found: dict[str, list[Shown]] = {field: [] for field in FIELDS.values()}
        for remark in review.block(lists.get("allow"), lists.get("also_allow"), lists.get("deny")):
            found[FIELDS[remark.member]].append(_shown(remark))
        return found

    return remarks


def layer_remarks(
    environment: "Environment", draft: Snapshot, agent: Any, values: Mapping[str, Any]
) -> dict[str, list[Shown]]:
    """Review an agent with typed values against its profile and the global lists.

    What concerns the agent as a whole stands at `allow`.
    """
    typed = copy(agent)
    for name in (*FIELDS.values(), "profile"):
        setattr(typed, name, values.get(name))
    found: dict[str, list[Shown]] = {field: [] for field in FIELDS.values()}
    for finding in agent_findings(Draft(environment, draft.engine.universe), typed):
        member = finding.path.rpartition(".tools.")[2]
        remark = Shown(finding.severity, finding.message, finding.entry, finding.suggestion)
        found[FIELDS.get(member, "allow")].append(remark)
    return found


def _shown(remark: NameRemark) -> Shown:
    sentence = SENTENCES.get(remark.code)
    text = remark.message if sentence is None else str(sentence) % {"entry": remark.entry}
    return Shown(remark.severity, text, remark.entry, remark.suggestion)


def counts(remarks: Mapping[str, Iterable[Shown]]) -> dict[str, int]:
    """Count the remarks by severity."""
    totals = {"error": 0, "warning": 0, "info": 0}
    for each in remarks.values():
        for remark in each:
            totals[remark.severity] += 1
    return totals


def lists_of(record: Any, prefix: str = "") -> dict[str, list[str] | None]:
    """Read the three lists of a record."""
    return {field: getattr(record, prefix + field) for field in FIELDS.values()}
