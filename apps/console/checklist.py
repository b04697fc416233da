"""The lock of publishing as a list of named checks: each one line of the review, whoever's gate it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

State = Literal["passed", "failed", "dangerous", "warned", "neutral"]
LOOKS: Final[dict[State, tuple[str, str]]] = {
    "passed": ("c-allow", "circle-check"),
    "failed": ("c-deny", "circle-x"),
    "dangerous": ("c-deny", "alert-triangle"),
    "warned": ("c-ask", "alert-triangle"),
    "neutral": ("t3", "equal"),
}
"""State -> class, icon."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line: what was checked, how it stands, and where to look.

    Attributes:
        count: how many speak against it; `anchor` leads to them on the page.
        remedy: what unlocks publishing, where it failed.
    """

    key: str
    state: State
    text: Promise
    count: int = 0
    anchor: str = ""
    remedy: Promise | str = ""

    @property
    def css(self) -> str:
        return LOOKS[self.state][0]

    @property
    def icon(self) -> str:
        return LOOKS[self.state][1]

    @property
    def locks(self) -> bool:
        return self.state == "failed"


def checks(
    *,
    compiles: bool,
    blocking: int,
    warnings: int,
    guardrails: int,
    tests: int,
    failing: int,
    is_same: bool,
    wider: int = 0,
    other: int = 0,
    ending_grants: int = 0,
) -> list[Check]:
    """List the checks of a draft; what has nothing to say has no line.

    Args:
        wider, other: how many changes let more run, and how many settings differ whose effect is not known.
        ending_grants: standing approvals of agents that it removes.
    """
    found = [_compiles(compiles), *_access(wider, other), _blocking(blocking), _warnings(warnings)]
    found.append(_guardrails(guardrails))
    if tests:
        found.append(_tests(failing))
    if ending_grants:
        found.append(Check("grants", "warned", _("Standing approvals end with agents that are removed"), ending_grants))
    same = Check("same", "neutral", _("The same as what is live"))
    return [*found, same if is_same else Check("differs", "passed", _("Differs from what is live"))]


def first_lock(found: Sequence[Check]) -> Check | None:
    """Return the check that keeps publishing locked before all others."""
    return next((check for check in found if check.locks), None)


def _compiles(compiles: bool) -> Check:
    if compiles:
        return Check("compiles", "passed", _("The draft compiles"))
    return Check("compiles", "failed", _("The draft does not compile"), remedy=_("The draft must compile first."))


def _access(wider: int, other: int) -> list[Check]:
    """Never a green line: that tools are lost or gained stands in the comparison, which takes longer."""
    if wider:
        return [Check("access", "dangerous", _("More can run than today"), wider, "access-changes")]
    return [Check("access", "warned", _("Settings changed, effect unknown"), other, "access-changes")] if other else []


def _blocking(count: int) -> Check:
    if not count:
        return Check("findings", "passed", _("Nothing blocks"))
    remedy = _("Blocking findings must be mended first.")
    return Check("findings", "failed", _("Blocking findings"), count, "findings", remedy)


def _warnings(count: int) -> Check:
    if not count:
        return Check("warnings", "passed", _("No warnings"))
    return Check("warnings", "warned", _("Warnings"), count, "findings")


def _guardrails(count: int) -> Check:
    if not count:
        return Check("guardrails", "passed", _("Guardrails hold or are accepted"))
    remedy = _("Guardrails that fail must be mended or accepted first.")
    return Check("guardrails", "failed", _("Guardrails fail"), count, "guardrail-review", remedy)


def _tests(failing: int) -> Check:
    if not failing:
        return Check("tests", "passed", _("Policy tests pass"))
    remedy = _("Failing policy tests must be mended or switched off first.")
    return Check("tests", "failed", _("Policy tests fail"), failing, "policy-tests", remedy)
