"""Sessions as their calls make them: rows, runs, and histories that two processes write in turn or at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.firewall.runtime.loops import LoopHistoryInvalidError
from apps.firewall.runtime.sessions import Budgets, place_of
from apps.sessions.errors import SessionsUnavailableError
from apps.sessions.keeping import RUN_QUIET, session_state
from apps.sessions.models import Session, SessionRun
from apps.sessions.services import session_end
from tests.approvals.test_races import race
from tests.sessions.conftest import DIALECT, NOON, Step, call_in, session_of, take_step

pytestmark = pytest.mark.django_db

SOON = NOON + timedelta(minutes=5)


def test_the_first_call_makes_the_session_and_later_ones_move_it_on(step: Step) -> None:
    step(channel="telegram")
    step(at=SOON, tool="write")

    session = session_of()
    assert (session.agent, session.channel, session.sender) == ("bot", "telegram", "7")
    assert (session.started_at, session.last_call_at, session.last_tool) == (NOON, SOON, "write")
    assert (session.calls, session.denied, session.is_open) == (2, 0, True)


def test_a_session_is_one_however_its_key_is_spelled_and_every_spelling_is_known(step: Step) -> None:
    for key in ("main", "agent:bot:main", "MAIN", "main"):
        step(key)

    assert session_of().spellings == ["main", "agent:bot:main", "MAIN"]
    assert Session.objects.count() == 1


def test_agents_have_sessions_of_their_own(step: Step) -> None:
    step("main")
    step("main", agent="clerk")

    assert set(Session.objects.values_list("key", flat=True)) == {"agent:bot:main", "agent:clerk:main"}


def test_texts_of_strangers_are_stored_whatever_is_in_them(step: Step) -> None:
    step("a\x00\ud800" + "x" * 3000, channel="\x00" + "c" * 900, run="r\x00", runtime_tools=("t\x00",) * 900)

    [session] = Session.objects.all()
    [run] = session.runs.all()
    assert (len(session.channel), run.run_id, len(run.client_tools)) == (512, "r␀", 200)


def test_a_loop_is_found_over_the_stored_history(step: Step) -> None:
    entrances = [step() for _ in range(21)]

    assert [at for at, each in enumerate(entrances) if each.warning] == [10]
    assert entrances[20].stop is not None and entrances[20].stop.rule == "generic_repeat"
    assert (session_of().calls, session_of().denied) == (21, 1)


def test_a_history_that_cannot_be_read_lets_nobody_in_and_stays(step: Step) -> None:
    step()
    Session.objects.update(loops={"format": 99})

    with pytest.raises(LoopHistoryInvalidError):
        step()
    assert (session_of().loops, session_of().calls) == ({"format": 99}, 1)


def test_an_environment_that_does_not_exist_has_no_sessions(environment: Any) -> None:
    with pytest.raises(SessionsUnavailableError, match="no environment named `nowhere`"):
        take_step("nowhere")


def test_a_new_session_stands_at_its_beginning(environment: Any) -> None:
    place = place_of(call_in(environment.slug, "new"), DIALECT)

    assert place is not None
    state = session_state(place, at=NOON)
    assert (state.started_at, state.calls, Session.objects.count()) == (NOON, 0, 0)


def test_runs_are_named_by_their_caller(step: Step) -> None:
    for run in ("one", "two", "one"):
        step(run=run, runtime_tools=("ask_user",))

    runs = {run.run_id: (run.calls, run.is_given, run.client_tools) for run in SessionRun.objects.all()}
    assert runs == {"one": (2, True, ["ask_user"]), "two": (1, True, ["ask_user"])}


def test_calls_without_a_run_share_one_until_it_goes_quiet(step: Step) -> None:
    for at in (NOON, SOON, SOON + RUN_QUIET + timedelta(seconds=1)):
        step(at=at)

    runs = list(session_of().runs.order_by("started_at"))
    assert [(run.calls, run.is_given) for run in runs] == [(2, False), (1, False)]
    assert runs[0].run_id.startswith("srun_")


def test_a_call_is_a_handful_of_statements(step: Step) -> None:
    step()
    with CaptureQueriesContext(
        connection,
    ) as seen:
        step()

    statements = [each["sql"] for each in seen if "SAVEPOINT" not in each["sql"]]
    assert len(statements) == 4  # find and step; and for its end: find and remember


def test_a_session_that_an_ended_one_starts_is_ended_too(step: Step, admin: Any) -> None:
    step("main")
    session_end(session_of(), by=admin, at=SOON)
    entrance = step("agent:bot:subagent:1", spawned_by="main", at=SOON)

    assert entrance.stop is not None and entrance.stop.code == "session_ended"
    assert not session_of("agent:bot:subagent:1").is_open


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_lose_no_count_and_no_history(environment: Any) -> None:
    def runner(number: int) -> Callable[[], Any]:
        return lambda: [take_step(environment.slug, ends_as={"n": [number, each]}) for each in range(5)]

    answers = race(runner(number) for number in range(6))

    session = session_of()
    assert not [each for each in answers if isinstance(each, BaseException)]
    assert session.loops is not None
    assert (session.calls, len(session.loops["records"]), session.runs.get().calls) == (30, 30, 30)


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_do_not_pass_a_budget(environment: Any, admin: Any) -> None:
    take_step(environment.slug)
    Session.objects.update(max_calls=4)
    answers = race((lambda: take_step(environment.slug)) for _ in range(8))

    assert sum(each.stop is None for each in answers) == 3
    assert session_of().budgets == Budgets(max_calls=4)
