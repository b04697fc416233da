"""Sessions of agents, read, ended and bounded by programs."""

from typing import Any

import pytest
from django.utils import timezone

from apps.sessions.models import Session
from tests.api.conftest import Program
from tests.sessions.conftest import take_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(environment: Any) -> Session:
    """A session with a sub-session, a named run and a loop."""
    for at in range(3):
        take_step(environment.slug, "main", run=f"turn-{at // 2}", at=timezone.now(), channel="telegram")
    take_step(environment.slug, "agent:bot:subagent:1", spawned_by="main", at=timezone.now())
    return Session.objects.get(key="agent:bot:main")


@pytest.fixture
def manager(program: Any) -> Program:
    answer: Program = program("audit_read", "sessions_manage")
    return answer


def test_sessions_are_listed_by_filter_and_page(program: Any, made: Session) -> None:
    reader = program("audit_read")
    first = reader.get("sessions?limit=1").json()
    second = reader.get(f"sessions?limit=1&after={first['older']}").json()

    assert [each["key"] for each in first["rows"] + second["rows"]] == ["agent:bot:subagent:1", "agent:bot:main"]
    assert second["older"] is None
    [found] = reader.get("sessions?channel=telegram&state=open&q=BOT:main&agent=bot&sender=7").json()["rows"]
    assert (found["id"], found["calls"], found["state"]) == (made.shown_id, 3, "open")
    assert reader.get("sessions?state=ended").json() == {"rows": [], "older": None}


@pytest.mark.parametrize("query", ["state=shut", "after=x", "after=W10"])
def test_a_list_that_cannot_be_made_says_why(program: Any, environment: Any, query: str) -> None:
    answer = program("audit_read").get(f"sessions?{query}")

    assert (answer.status_code, answer.json()["code"]) == (422, "filter_invalid")


def test_one_session_tells_of_its_runs_its_sub_sessions_and_what_repeats(program: Any, made: Session) -> None:
    shown = program("audit_read").get(f"sessions/{made.shown_id}").json()

    assert [(run["run_id"], run["calls"]) for run in shown["runs"]] == [("turn-1", 1), ("turn-0", 2)]
    assert [each["key"] for each in shown["sub_sessions"]] == ["agent:bot:subagent:1"]
    assert shown["loops"]["repeats"] == [{"tool": "read", "count": 3, "stuck": 2}]
    assert "signature" not in str(shown)


def test_a_session_is_ended_with_its_sub_sessions_and_reopened(manager: Program, made: Session) -> None:
    ended = manager.post(f"sessions/{made.shown_id}/end", {"reason": "enough"}).json()
    reopened = manager.post(f"sessions/{made.shown_id}/reopen", {}).json()

    assert (ended["state"], ended["end_reason"], ended["sub_sessions"][0]["state"]) == ("ended", "enough", "ended")
    assert ended["ended_by"].startswith("token:tok_")
    assert (reopened["state"], reopened["ended_at"]) == ("open", None)


def test_budgets_are_set_as_a_whole(manager: Program, made: Session) -> None:
    path = f"sessions/{made.shown_id}/budgets"
    first = manager.ask("PUT", path, {"max_calls": 9, "max_duration_s": 60}).json()
    second = manager.ask("PUT", path, {"max_denied": 2}).json()

    assert first["budgets"] == {"max_calls": 9, "max_denied": None, "max_duration_s": 60}
    assert second["budgets"] == {"max_calls": None, "max_denied": 2, "max_duration_s": None}


@pytest.mark.parametrize(("value", "status"), [(0, 422), (-1, 422), ("many", 400)])
def test_a_budget_that_is_none_is_refused(manager: Program, made: Session, value: Any, status: int) -> None:
    answer = manager.ask("PUT", f"sessions/{made.shown_id}/budgets", {"max_calls": value})

    assert (answer.status_code, [each["path"] for each in answer.json()["details"]]) == (status, ["max_calls"])


def test_reading_is_not_ending(program: Any, made: Session) -> None:
    reader = program("audit_read")

    assert reader.post(f"sessions/{made.shown_id}/end", {}).status_code == 403
    assert reader.ask("PUT", f"sessions/{made.shown_id}/budgets", {}).status_code == 403
    assert program("calls_make").get("sessions").status_code == 403
    assert program("sessions_manage").get(f"sessions/{made.shown_id}").status_code == 403


@pytest.mark.parametrize("bound", [{"environment": "staging"}, {"agents": ["clerk"]}])
def test_a_token_bound_elsewhere_sees_and_ends_nothing(program: Any, made: Session, bound: Any) -> None:
    stranger = program("audit_read", "sessions_manage", **bound)

    assert stranger.get(f"sessions/{made.shown_id}").status_code == 404
    assert stranger.post(f"sessions/{made.shown_id}/end", {}).status_code == 404
    assert stranger.get("sessions").json().get("rows", []) == []
    assert Session.objects.get(pk=made.pk).is_open


def test_what_does_not_exist_is_not_found(manager: Program) -> None:
    assert manager.get("sessions/ses_00000000000000000000000000").status_code == 404
    assert manager.get("sessions/call_00000000000000000000000000").status_code == 404
