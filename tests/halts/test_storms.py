"""The storm breaker: who is denied too often asks nobody until somebody lets it go on."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.approvals.errors import AnswerInvalidError
from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.approvals.storming import storm_save
from apps.audit.models import Entry
from apps.halts.errors import HaltInvalidError
from apps.halts.models import Halt
from apps.halts.selectors import halts_holding, halts_standing
from apps.halts.services import halt_ask, halt_lift, halt_place
from apps.halts.storms import storm_pause, storms_look, told
from apps.registry.models import Environment
from tests.approvals.conftest import NOON, ask, draft_for, environment  # noqa: F401 - fixtures

pytestmark = pytest.mark.usefixtures("environment")
SECOND = timedelta(seconds=1)
Ask = Callable[..., Approval]


@pytest.fixture
def deny(ask: Ask, operator: Any) -> Callable[..., None]:  # noqa: F811 - fixtures
    """Have an agent denied so often, once a second from NOON on."""

    def make(times: int, **fields: Any) -> None:
        for number in range(times):
            approval_resolve(ask(**fields), decision="deny", by=operator, at=NOON + number * SECOND)

    return make


@pytest.fixture
def three(environment: Environment) -> Environment:  # noqa: F811
    """Three denials within five minutes are a storm."""
    storm_save(environment, denials=3, minutes=5)
    return environment


def pause(environment: Environment, agent: str = "ops-runner", *, after_s: int = 10) -> Halt | None:  # noqa: F811
    return storm_pause(environment, agent, at=NOON + after_s * SECOND)


def told_of(halt: Halt) -> list[Entry]:
    return list(Entry.objects.filter(kind="kill_switch", changes__halt=halt.shown_id).order_by("seq"))


def test_fewer_denials_pause_nobody(three: Environment, deny: Callable[..., None]) -> None:
    deny(2)
    assert pause(three) is None


def test_one_more_pauses_the_agent_and_is_on_record(three: Environment, deny: Callable[..., None]) -> None:
    deny(3)
    halt = pause(three)
    assert halt is not None
    assert (halt.state, halt.scope, halt.name, halt.placed_by_label) == (
        "paused",
        "agent",
        "ops-runner",
        "storm breaker",
    )
    assert "denied 3 times within 5 minutes" in told(halt)
    [entry] = told_of(halt)
    assert (entry.status, entry.agent, (entry.changes or {})["denials"]) == ("paused", "ops-runner", 3)
    assert pause(three, after_s=3600) == halt  # it holds until somebody lifts it, and is told once
    assert len(told_of(halt)) == 1


def test_another_agent_and_what_was_long_ago_count_nowhere(three: Environment, deny: Callable[..., None]) -> None:
    deny(2)
    deny(2, agent="other")
    assert pause(three) is None
    deny(1)
    assert pause(three, after_s=301) is None


def test_the_usual_setting_is_ten_in_five_minutes(
    environment: Environment,  # noqa: F811
    deny: Callable[..., None],
) -> None:
    deny(9)
    assert pause(environment) is None
    deny(1)
    assert pause(environment) is not None


def test_no_number_of_denials_pauses_nobody(environment: Environment, deny: Callable[..., None]) -> None:  # noqa: F811
    storm_save(environment, denials=None, minutes=5)
    deny(12)
    assert pause(environment) is None
    assert storms_look(NOON + 20 * SECOND) == 0


def test_the_look_pauses_also_who_has_not_asked_again(three: Environment, deny: Callable[..., None]) -> None:
    deny(3)
    assert [storms_look(NOON + 10 * SECOND) for _ in range(2)] == [1, 1]
    assert [halt.name for halt in halts_holding(three)] == ["ops-runner"]


def test_one_click_lets_it_ask_again_and_denials_before_count_no_more(
    three: Environment, deny: Callable[..., None], operator: Any
) -> None:
    deny(3)
    halt = pause(three)
    assert halt is not None
    halt_lift(halt, by=operator, at=NOON + 11 * SECOND)
    assert pause(three, after_s=12) is None
    statuses = [(entry.status, entry.actor) for entry in told_of(halt)]
    assert statuses == [("paused", "system"), ("lifted", operator.actor)]


def test_a_pause_stops_no_process_and_freezes_nothing(
    three: Environment,
    deny: Callable[..., None],
    ask: Ask,  # noqa: F811
    operator: Any,
) -> None:
    waiting = ask()
    deny(3)
    before = halts_standing().digest
    assert pause(three) is not None
    assert halts_standing().digest == before
    assert halts_standing().by_environment["production"].halts == ()
    assert approval_resolve(waiting, decision="allow-once", by=operator, at=NOON + 12 * SECOND).is_allowed


def test_a_stop_takes_its_place_and_a_pause_has_no_half_way_back(
    three: Environment, deny: Callable[..., None], operator: Any
) -> None:
    deny(3)
    halt = pause(three)
    assert halt is not None
    with pytest.raises(HaltInvalidError):
        halt_ask(halt, by=operator, at=NOON + 11 * SECOND)
    stop = halt_place(
        three, scope="agent", name="ops-runner", reason="enough", unknown=True, by=operator, at=NOON + 12 * SECOND
    )
    assert list(halts_holding(three)) == [stop]
    assert pause(three, after_s=13) is None


def test_a_stopped_agent_is_not_paused_as_well(three: Environment, deny: Callable[..., None], operator: Any) -> None:
    deny(3)
    halt_place(three, scope="agent", name="ops-runner", unknown=True, reason="enough", by=operator, at=NOON)
    assert pause(three) is None


@pytest.mark.parametrize(("denials", "minutes"), [(1, 5), (1001, 5), (10, 0), (10, 1441)])
def test_settings_out_of_bounds_are_refused(three: Environment, denials: int, minutes: int) -> None:
    with pytest.raises(AnswerInvalidError):
        storm_save(three, denials=denials, minutes=minutes)
