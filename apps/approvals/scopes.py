"""How far an "always" may reach for one request, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.approvals.models import Approval
from apps.approvals.proposals import ANY, first_pattern
from apps.approvals.states import Decision
from apps.approvals.unbound import in_each
from apps.firewall.engine.exec_policy import AllowEntry

ReachName = Literal["exact", "first", "any"]

SHELL_CODES: Final = frozenset({"shell_syntax", "reserved_word", "assignment", "wrapper", "shell", "inline_code"})
"""What in a line makes it more than the words that were read, as the engine's evidence names it."""


ALWAYS_OFF: Final[Mapping[str, Promise]] = {
    "shell": _("A line that needs a shell, or runs other code, cannot be saved as a rule."),
    "variables": _("A command that is given variables cannot be saved as a rule."),
    "runs_elsewhere": _("Another machine runs it: no rule here speaks for that."),
    "rule": _("This request offers one answer at a time."),
}
"""Why a request offers no "always", by code."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One way to answer "always". `arg_pattern` is empty for the exact action."""

    name: ReachName
    arg_pattern: str = ""
    is_broad: bool = False


def reaches_of(approval: Approval) -> list[Reach]:
    """List how far an "always" may reach, the narrowest first; nothing where the request does not offer one."""
    if Decision.ALLOW_ALWAYS not in approval.decisions:
        return []
    reaches = [Reach("exact")]
    if approval.kind != Approval.Kind.EXEC or not approval.resolved_path or len(approval.argv) < 2:
        return reaches
    if len(approval.argv) > 2:
        reaches.append(Reach("first", first_pattern(approval.argv[1])))
    return [*reaches, Reach("any", ANY, is_broad=True)]


def entry_of(approval: Approval, reach: Reach) -> AllowEntry:
    """Write what an "always" of this reach would cover, as the judge compares it; words are those that people see."""
    return AllowEntry(
        pattern=approval.resolved_path,
        arg_pattern=reach.arg_pattern or None,
        argv=None if reach.arg_pattern else tuple(approval.argv),
        source=Decision.ALLOW_ALWAYS,
    )


def always_is_off(approval: Approval) -> str:
    """Tell why a request offers no "always", as a code; empty where it does.

    Returns:
        `shell`: it needs a shell, starts one, runs another program or carries code; `variables`: it sets some;
        `runs_elsewhere`: another machine runs it; `rule`: the policy asks every time.
    """
    if Decision.ALLOW_ALWAYS in approval.decisions:
        return ""
    codes = {str(item.get("code", "")) for item in approval.evidence}
    if codes & SHELL_CODES:
        return "shell"
    if "variables" in codes:
        return "variables"
    return "rule" if approval.runs_here else "runs_elsewhere"


def always_off_shown(approval: Approval) -> dict[str, Any] | None:
    """Tell programs why a request offers no "always"; None where it does."""
    code = always_is_off(approval)
    return {"code": code, "reason": in_each(lambda: str(ALWAYS_OFF[code]))} if code else None
