"""What the pages of sessions show: filters as links, bars of what repeats, a session's calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from django import forms
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from apps.audit.filters import EntryFilters
from apps.console.forms import ConsoleForm
from apps.firewall.runtime.sessions import Budgets
from apps.sessions.selectors import STATES, LoopState, SessionFilters
from apps.sessions.services import BUDGETS

if TYPE_CHECKING:
    from django.http import QueryDict

    from apps.sessions.models import Session
    from apps.sessions.tree import Branch

    SessionRecord: TypeAlias = Session

STATE_LABELS = {"open": _("open"), "ended": _("ended")}
FILTERS = ("q", "state", "agent", "channel", "sender")
CALLS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Bar:
    """A tool that repeats: `width` in percent of the one that repeats most."""

    tool: str
    count: int
    stuck: int
    width: int


@dataclass(frozen=True, slots=True)
class Line:
    """A session of a tree, as deep as it stands."""

    session: "Session"
    level: int
    is_current: bool


class BudgetsForm(ConsoleForm):
    max_calls = forms.IntegerField(label=_("Calls"), required=False, min_value=1)
    max_denied = forms.IntegerField(label=_("Refused calls"), required=False, min_value=1)
    max_duration_s = forms.IntegerField(label=_("Seconds"), required=False, min_value=1)

    @classmethod
    def of(cls, session: "Session") -> "BudgetsForm":
        return cls(initial={name: getattr(session, name) for name in BUDGETS})

    @property
    def budgets(self) -> Budgets:
        return Budgets(**self.cleaned_data)


class EndForm(ConsoleForm):
    reason = forms.CharField(label=_("Reason"), max_length=500, required=False)


def filters_of(query: "QueryDict") -> SessionFilters:
    """Read the filters of a URL; a state that is none filters nothing."""
    state = query.get("state", "")
    agent, channel, sender, text = (query.get(name, "").strip() for name in ("agent", "channel", "sender", "q"))
    is_known = state in STATES
    return SessionFilters(agent=agent, state=state if is_known else "", channel=channel, sender=sender, text=text)


def address(query: "QueryDict", **more: str) -> str:
    """Write the list's address with the filters that are set."""
    given = {name: query.get(name, "") for name in FILTERS} | more
    kept = {name: value for name, value in given.items() if value}
    return f"{reverse('sessions')}?{urlencode(kept)}" if kept else reverse("sessions")


def bars_of(loops: LoopState) -> list[Bar]:
    most = max((each.count for each in loops.repeats), default=1)
    return [Bar(each.tool, each.count, each.stuck, round(each.count * 100 / most)) for each in loops.repeats]


def lines_of(branch: "Branch", *, current: Any, level: int = 0) -> Iterator[Line]:
    """Walk a tree from its top down, without recursion of its own depth on the page."""
    yield Line(branch.session, level, branch.session.pk == current)
    for child in branch.children:
        yield from lines_of(child, current=current, level=level + 1)


def calls_filter(session: "Session") -> EntryFilters:
    """Find the calls of a session in the ledger, by every spelling of its key."""
    return EntryFilters(
        environment=session.environment.slug,
        agent=(session.agent,),
        session_key=tuple(session.spellings) or (session.key,),
        since=session.started_at,
    )


def audit_address(session: "Session") -> str:
    """Write the address of a session's calls on the audit page."""
    keys = session.spellings or [session.key]
    query = urlencode({"agent": session.agent, "session_key": keys, "span": "all"}, doseq=True)
    return f"{reverse('audit')}?{query}"
