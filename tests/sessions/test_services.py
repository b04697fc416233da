"""What people do to sessions, and what time does."""

from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.runtime.sessions import Budgets
from apps.sessions.access import session_access
from apps.sessions.errors import BudgetError, SessionFilterError, SessionNotFoundError
from apps.sessions.keeping import RUN_QUIET
from apps.sessions.models import Session, SessionRun
from apps.sessions.selectors import SessionFilters, loop_state, sessions
from apps.sessions.services import KEPT, session_budgets_set, session_end, session_reopen, sessions_sweep
from apps.sessions.tree import LIMIT, descendants, tree_of
from tests.sessions.conftest import NOON, Step, session_of

pytestmark = pytest.mark.django_db

SOON = NOON + timedelta(minutes=5)


def test_ending_a_session_refuses_its_calls_and_says_why(step: Step, admin: Any) -> None:
    step()
    session = session_end(session_of(), by=admin, at=SOON, reason=" it spends too much ")
    entrance = step()

    assert (session.ended_by_label, session.end_reason) == ("user:admin", "it spends too much")
    assert entrance.stop is not None
    assert entrance.stop.message == "this session was ended: it spends too much"
    assert session_of().runs.get().ended_at == SOON


def test_ending_a_session_ends_those_that_it_started_and_no_others(step: Step, admin: Any) -> None:
    step("main")
    step("agent:bot:subagent:1", spawned_by="main")
    step("agent:bot:subagent:1:subagent:2", spawned_by="agent:bot:subagent:1")
    step("other")
    session_end(session_of(), by=admin, at=SOON)

    assert set(Session.objects.filter(ended_at=None).values_list("key", flat=True)) == {"agent:bot:other"}
    ended = [each.shown_id for each in Session.objects.exclude(ended_at=None)]
    assert Entry.objects.filter(kind="session_change", status="ended", changes__session__in=ended).count() == 3


def test_ending_twice_changes_nothing(step: Step, admin: Any) -> None:
    step()
    session_end(session_of(), by=admin, at=SOON, reason="first")
    again = session_end(session_of(), by=admin, at=SOON + timedelta(hours=1), reason="second")

    assert (again.end_reason, again.ended_at) == ("first", SOON)


def test_a_reopened_session_takes_calls_and_forgets_its_loops(step: Step, admin: Any) -> None:
    for _ in range(21):
        step()
    session = session_reopen(session_end(session_of(), by=admin, at=SOON), by=admin, at=SOON)

    assert (session.is_open, session.loops, session.calls) == (True, None, 21)
    assert step().stop is None


@pytest.mark.usefixtures("empty_ledger")
def test_budgets_hold_from_the_next_call_on_and_are_on_record(step: Step, admin: Any) -> None:
    step()
    session_budgets_set(session_of(), Budgets(max_calls=1), by=admin, at=SOON)
    entrance = step()
    entry = Entry.objects.filter(kind="session_change", status="budgets").latest("at")

    assert entrance.stop is not None and entrance.stop.rule == "max_calls"
    assert entry.changes is not None and entry.changes["budgets"] == {"max_calls": [None, 1]}


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "7", 2**60])
def test_a_budget_is_a_whole_number_from_one_up(step: Step, admin: Any, value: Any) -> None:
    step()
    with pytest.raises(BudgetError) as caught:
        session_budgets_set(session_of(), Budgets(max_denied=value), by=admin, at=SOON)

    assert [detail["path"] for detail in caught.value.details] == ["max_denied"]


def test_what_nobody_uses_for_a_month_is_forgotten_and_what_is_used_stays(step: Step) -> None:
    step("old")
    step("new", at=NOON + KEPT)
    removed = sessions_sweep(NOON + KEPT + timedelta(seconds=1))

    assert (removed, [each.key for each in Session.objects.all()]) == (1, ["agent:bot:new"])
    assert SessionRun.objects.count() == 1


def test_a_run_that_went_quiet_is_closed_with_its_last_call(step: Step) -> None:
    step(run="turn")
    sessions_sweep(NOON + RUN_QUIET + timedelta(seconds=1))
    closed = SessionRun.objects.get()
    step(run="turn", at=NOON + 2 * RUN_QUIET)

    assert (closed.ended_at, SessionRun.objects.get().is_open) == (NOON, True)


def test_a_list_goes_from_the_session_used_last_and_pages_by_cursor(step: Step, environment: Any) -> None:
    for number in range(5):
        step(f"s{number}", at=NOON + timedelta(minutes=number // 2))
    seen, after = [], ""
    while True:
        page = sessions(environment, SessionFilters(), after=after, limit=2)
        seen += [each.key for each in page.rows]
        if page.older is None:
            break
        after = page.older

    assert [key[-2:] for key in seen] == ["s4", "s3", "s2", "s1", "s0"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"agent": "clerk"}, {"agent:clerk:main"}),
        ({"agents": ("clerk",)}, {"agent:clerk:main"}),
        ({"channel": "slack"}, {"agent:bot:x"}),
        ({"state": "ended"}, {"agent:bot:x"}),
        ({"state": "open"}, {"agent:clerk:main", "agent:bot:main"}),
        ({"text": "BOT:"}, {"agent:bot:main", "agent:bot:x"}),
        ({"text": "\x00"}, set()),
        ({"sender": "nobody"}, set()),
    ],
)
def test_filters(step: Step, environment: Any, admin: Any, filters: dict[str, Any], found: set[str]) -> None:
    step("main")
    step("main", agent="clerk")
    step("x", channel="slack")
    session_end(session_of("agent:bot:x"), by=admin, at=SOON)

    assert {each.key for each in sessions(environment, SessionFilters(**filters)).rows} == found


@pytest.mark.parametrize("after", ["no cursor", "W10", "WyIyMDI2LTExLTIwIiwgIngiXQ"])
def test_a_foreign_cursor_is_refused(environment: Any, after: str) -> None:
    with pytest.raises(SessionFilterError):
        sessions(environment, SessionFilters(), after=after)


def test_a_state_that_is_none_is_refused(environment: Any) -> None:
    with pytest.raises(SessionFilterError, match="open, ended"):
        sessions(environment, SessionFilters(state="shut"))


def test_what_repeats_is_counted_by_tool_and_parameters(step: Step) -> None:
    for number in range(4):
        step(ends_as={"n": number // 2})
    state = loop_state(session_of())

    assert state.remembered == 4
    assert [(each.tool, each.count, each.stuck) for each in state.repeats] == [("read", 4, 2)]


def test_a_tree_that_runs_in_a_circle_ends(step: Step) -> None:
    step("agent:bot:a", spawned_by="agent:bot:b")
    step("agent:bot:b", spawned_by="agent:bot:a")
    top = tree_of(session_of("agent:bot:a"))

    assert [child.session.key for child in top.children] == ["agent:bot:b"]
    assert top.children[0].children == []


def test_a_tree_of_any_size_is_looked_at_as_far_as_its_limit(step: Step, environment: Any) -> None:
    step("main")
    Session.objects.bulk_create(
        Session(
            environment=environment, agent="bot", key=f"k{number}", parent_key="agent:bot:main",
            started_at=NOON, last_call_at=NOON,
        )
        for number in range(LIMIT + 5)
    )  # fmt: skip

    assert len(descendants(session_of())) == LIMIT


def test_who_may_see_a_session_and_who_may_end_it(
    step: Step, operator: Any, auditor: Any, viewer: Any, outsider: Any
) -> None:
    step()
    found = session_of()

    assert session_access(operator, found.pk, write=True) == found
    assert session_access(auditor, found.pk) == found
    with pytest.raises(PermissionDeniedError):
        session_access(auditor, found.pk, write=True)
    for nobody in (viewer, outsider):
        with pytest.raises(SessionNotFoundError):
            session_access(nobody, found.pk)


@pytest.mark.parametrize("bound", [{"environment": "staging"}, {"agents": ["clerk"]}])
def test_a_token_sees_the_sessions_of_its_own_environment_and_agents(step: Step, token: Any, bound: Any) -> None:
    step()
    row, _ = token("audit_read", "sessions_manage", **bound)

    with pytest.raises(SessionNotFoundError):
        session_access(row, session_of().pk)
