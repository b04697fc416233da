"""What the page about the load of answering shows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.approvals.fatigue import FAST_S, fatigue, narrower

if TYPE_CHECKING:
    from apps.approvals.fatigue import Fatigue
    from apps.registry.models import Environment

ROW_TO_SEE: Final = 5
"""So many answers in a row, each in less than two seconds, are worth a look."""

YES_SHARE, YES_LEAST = 95, 10


@dataclass(frozen=True, slots=True)
class Span:
    """One choice of time."""

    label: Promise
    length: timedelta


SPANS: Final[dict[str, Span]] = {
    "24h": Span(_("24 h"), timedelta(hours=24)),
    "7d": Span(_("7 d"), timedelta(days=7)),
    "30d": Span(_("30 d"), timedelta(days=30)),
}
USUAL: Final = "7d"


def page_of(environment: "Environment", span: str, *, at: datetime) -> dict[str, Any]:
    """Gather everything of one time.

    Args:
        span: of `SPANS`; anything else is the usual one.
    """
    span = span if span in SPANS else USUAL
    found = fatigue(environment, since=at - SPANS[span].length, until=at)
    return {
        "found": found,
        "span": span,
        "spans": [(name, choice.label, name == span) for name, choice in SPANS.items()],
        "shares_chart": _shares_chart(found),
        "waits_chart": _waits_chart(found),
        "people": [(person, person.longest_row >= ROW_TO_SEE) for person in found.people],
        "rules": [
            (rule, rule.ended >= YES_LEAST and rule.allowed_percent >= YES_SHARE, rule.expired_percent >= 50)
            for rule in found.rules
        ],
        "narrower": narrower(environment),
        "fast_s": FAST_S,
    }


def _shares_chart(found: "Fatigue") -> dict[str, Any]:
    steps = found.steps
    parts = [[step.allowed for step in steps], [step.expired for step in steps], [step.denied for step in steps]]
    return {"stepSeconds": _step_s(found), "data": [_times(found), *parts]}


def _waits_chart(found: "Fatigue") -> dict[str, Any]:
    waits = [None if step.wait_ms is None else round(step.wait_ms / 1000, 1) for step in found.steps]
    return {"stepSeconds": _step_s(found), "unit": " s", "data": [_times(found), waits]}


def _times(found: "Fatigue") -> list[int]:
    return [round(step.at.timestamp()) for step in found.steps]


def _step_s(found: "Fatigue") -> int:
    times = _times(found)
    return times[1] - times[0] if len(times) > 1 else 3600
