"""Placing, taking back and lifting a stop; what is frozen, what is on record, who may."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.approvals.selectors import approval_now
from apps.audit.models import Entry
from apps.audit.services import boot_id
from apps.firewall.identifiers import new_id
from apps.halts.errors import HaltExistsError, HaltInvalidError, HaltLiftedError
from apps.halts.hearing import halts_heard, heard_forget
from apps.halts.models import Halt, HeardHalts
from apps.halts.selectors import halts_holding, halts_past, halts_standing, processes
from apps.halts.services import halt_ask, halt_lift, halt_place
from apps.registry.models import Environment
from tests.approvals.conftest import ask, draft_for  # noqa: F401 - fixtures

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def environment(db: None) -> Environment:
    return Environment.objects.get_or_create(slug="production", defaults={"name": "Production"})[0]


def placed(environment: Environment, scope: str = "agent", name: str = "ops-runner", **more: Any) -> Halt:
    given = {"reason": "it deletes things", "at": NOON, "unknown": True, **more}
    return halt_place(environment, scope=scope, name=name, **given)


def test_a_stop_goes_its_way_back_step_by_step_and_each_is_on_record(environment: Environment, operator: Any) -> None:
    halt = placed(environment, by=operator)
    assert list(halts_holding(environment)) == [halt]

    halt = halt_ask(halt, by=operator, at=NOON + timedelta(minutes=1))
    assert halts_standing().by_environment["production"].halts[0].state == "asking"

    halt_lift(halt, by=operator, at=NOON + timedelta(minutes=2))
    assert not halts_holding(environment).exists()
    assert halts_past(environment, most=5) == [halt]
    entries = Entry.objects.filter(kind="kill_switch", changes__halt=halt.shown_id).order_by("seq")
    assert list(entries.values_list("status", "actor", "agent")) == [
        (each, operator.actor, "ops-runner") for each in ("placed", "asking", "lifted")
    ]


def test_names_are_kept_as_calls_carry_them(environment: Environment) -> None:
    assert placed(environment, "agent", " Ops Runner ").name == "ops-runner"
    assert placed(environment, "tool", " Bash ").name == "exec"
    assert placed(environment, "channel", "Telegram").name == "telegram"
    assert placed(environment, "environment", "").name == ""


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"scope": "planet"}, "scope"),
        ({"name": ""}, "name"),
        ({"scope": "environment", "name": "production"}, "name"),
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 501}, "reason"),
    ],
)
def test_a_stop_that_says_nothing_sensible_is_refused(
    environment: Environment, given: dict[str, str], path: str
) -> None:
    with pytest.raises(HaltInvalidError) as caught:
        placed(environment, **{"scope": "agent", "name": "main", **given})

    assert [each["path"] for each in caught.value.details] == [path]
    assert not Halt.objects.exists()


def test_the_same_is_stopped_once_until_it_was_lifted(environment: Environment) -> None:
    halt = placed(environment)
    with pytest.raises(HaltExistsError):
        placed(environment)

    halt_lift(halt, at=NOON)
    with pytest.raises(HaltLiftedError):
        halt_lift(halt, at=NOON)
    with pytest.raises(HaltLiftedError):
        halt_ask(halt, at=NOON)
    assert placed(environment).holds


@pytest.mark.parametrize("role", ["auditor", "viewer"])
def test_who_may_not_answer_requests_may_stop_nothing(
    environment: Environment, role: str, request: pytest.FixtureRequest
) -> None:
    person = request.getfixturevalue(role)
    with pytest.raises(PermissionDeniedError):
        placed(environment, by=person)
    halt = placed(environment)
    with pytest.raises(PermissionDeniedError):
        halt_lift(halt, by=person, at=NOON)


def test_requests_freeze_while_anything_stops_them_and_go_on_with_the_first_step_back(
    environment: Environment,
    ask: Any,  # noqa: F811
) -> None:
    mine, other, unknown = ask(), ask(agent="main"), ask(agent="main", channel="")
    whole = placed(environment, "channel", "telegram", at=NOON + timedelta(seconds=20))
    assert whole.frozen == 3

    agent = placed(environment, at=NOON + timedelta(seconds=30))
    halt_ask(whole, at=NOON + timedelta(seconds=60))

    states = [approval_now(each.pk) for each in (mine, other, unknown)]
    assert [each is not None and each.frozen_at is not None for each in states] == [True, False, False]
    assert states[1] is not None and states[1].expires_at == NOON + timedelta(seconds=120 + 40)

    halt_lift(agent, at=NOON + timedelta(seconds=80))
    last = approval_now(mine.pk)
    assert last is not None and (last.frozen_at, last.expires_at) == (None, NOON + timedelta(seconds=120 + 60))


def test_processes_say_what_they_hold_to_and_those_that_are_gone_are_forgotten(environment: Environment) -> None:
    at = datetime.now(UTC)
    halts_heard(boot_id(), kind="server", digest=halts_standing().digest, at=at)
    halts_heard(new_id(), kind="worker", digest="", at=at)
    assert [(each.kind, each.has_heard) for each in processes(at=at)] == [("server", True)]

    placed(environment)
    assert [each.has_heard for each in processes(at=at)] == [False]

    halts_heard(boot_id(), kind="server", digest=halts_standing().digest, at=at)
    assert [each.has_heard for each in processes(at=at)] == [True]
    assert heard_forget({boot_id()}) == 1
    assert HeardHalts.objects.count() == 1


def test_a_secret_in_a_reason_is_masked(environment: Environment) -> None:
    halt = placed(environment, reason="its key sk-" + "abcdefghij" * 4 + " leaked")

    assert "abcdefghij" not in halt.reason
    assert "leaked" in halt.reason
