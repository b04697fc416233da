"""The kill switch for programs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.openclaw_gateways.services import Heartbeat, enrolment_create, enrolment_redeem, gateway_heard
from tests.api.conftest import Program
from tests.approvals.conftest import ask, draft_for  # noqa: F401 - fixtures
from tests.console.conftest import called  # noqa: F401 - fixture

WANTED = {"scope": "tool", "name": "exec", "reason": "wait"}


def test_a_program_stops_asks_and_lifts(environment: Any, program: Callable[..., Program]) -> None:
    client = program("policy_read", "calls_stop")

    made = client.post("halts", WANTED)
    assert (made.status_code, made.json()["state"], made.json()["frozen"]) == (201, "stopped", 0)
    shown_id = made.json()["id"]
    listed = client.get("halts").json()
    assert ([each["id"] for each in listed["halts"]], listed["processes"]) == ([shown_id], [])

    assert client.post(f"halts/{shown_id}/ask", None).json()["state"] == "asking"
    assert client.post(f"halts/{shown_id}/lift", None).json()["state"] == "lifted"
    assert client.get("halts").json()["halts"] == []
    again = client.post(f"halts/{shown_id}/lift", None)
    assert (again.status_code, again.json()["code"]) == (409, "halt_lifted")


def test_gateways_are_named_to_whoever_may_see_more_than_an_agents_things(
    environment: Any, program: Callable[..., Program]
) -> None:
    at = timezone.now()
    _enrolment, secret = enrolment_create(environment, name="office", by=None, at=at)
    gateway, _token = enrolment_redeem(secret, Heartbeat(boot="boot-1"), at=at)
    gateway_heard(gateway, Heartbeat(boot="boot-1"), at=at)
    everybody, bound = program("policy_read", "calls_stop"), program("policy_read", "calls_stop", agents=["main"])
    wanted = {"scope": "agent", "name": "main", "reason": "x", "unknown": True}

    told = bound.post("halts", wanted).json()
    assert "gateways" not in told["heard_by"] and bound.get("halts").json()["gateways"] == []
    lifted = everybody.post(f"halts/{told['id']}/lift", None).json()

    silent = [{"name": "office", "standing": "live"}]
    assert lifted["heard_by"]["gateways"] == {"heard": 0, "of": 1, "holding": [], "silent": silent}
    (row,) = everybody.get("halts").json()["gateways"]
    assert (row["id"], row["name"], row["standing"], row["holds"]) == (gateway.shown_id, "office", "live", False)


def test_the_same_twice_is_a_conflict(environment: Any, program: Callable[..., Program]) -> None:
    client = program("calls_stop")
    client.post("halts", WANTED)

    again = client.post("halts", WANTED)

    assert (again.status_code, again.json()["code"]) == (409, "halt_exists")


def test_mistakes_are_named(environment: Any, program: Callable[..., Program]) -> None:
    answer = program("calls_stop").post("halts", {"scope": "environment", "name": "x", "reason": "y"})

    assert (answer.status_code, answer.json()["details"][0]["path"]) == (422, "name")


@pytest.mark.parametrize("scopes", [("policy_read",), ("policy_write",), ("approvals_resolve",)])
def test_stopping_takes_its_own_scope(
    environment: Any, program: Callable[..., Program], scopes: tuple[str, ...]
) -> None:
    assert program(*scopes).post("halts", WANTED).status_code == 403


@pytest.mark.parametrize(
    ("scope", "name", "code", "told"),
    [
        ("agent", "mian", "unknown_name", "there is no agent `mian`, did you mean `main`?"),
        ("tool", "exce", "unknown_name", "there is no tool `exce`, did you mean `exec`?"),
        ("tool", "zyxwv", "unknown_name", "there is no tool `zyxwv`"),
        ("channel", "telegrm", "unknown_name", "there is no channel `telegrm`, did you mean `telegram`?"),
        ("tool", "group:runtime", "invalid", "`group:runtime` is a group: stop each of its tools, or everything"),
        ("agent", "*", "invalid", "a stop takes no patterns: stop each one, or everything"),
        ("agent", "!!!", "invalid", "nothing can have the name `!!!`"),
    ],
)
def test_a_name_that_nothing_has_stops_nothing_and_says_so(
    draft: Any, program: Callable[..., Program], scope: str, name: str, code: str, told: str
) -> None:
    client = program("policy_read", "calls_stop")

    answer = client.post("halts", {"scope": scope, "name": name, "reason": "wait"})

    detail = {"path": "name", "code": code, "message": told}
    assert (answer.status_code, answer.json()["details"]) == (422, [detail])
    assert client.get("halts").json()["halts"] == []


@pytest.mark.parametrize(
    ("scope", "name", "kept"),
    [
        ("agent", " Main ", "main"),
        ("tool", "Exec", "exec"),
        ("tool", "bash", "exec"),
        ("channel", "Telegram", "telegram"),
        ("channel", "Lark", "feishu"),
    ],
)
def test_another_spelling_stops_what_it_means(
    draft: Any, program: Callable[..., Program], scope: str, name: str, kept: str
) -> None:
    answer = program("calls_stop").post("halts", {"scope": scope, "name": name, "reason": "wait"})

    assert (answer.status_code, answer.json()["name"], answer.json()["meets"]["problem"]) == (201, kept, "")


def test_what_nothing_has_yet_is_stopped_where_somebody_says_that_they_mean_it(
    draft: Any, program: Callable[..., Program]
) -> None:
    answer = program("calls_stop").post(
        "halts", {"scope": "agent", "name": "mian", "reason": "it comes tomorrow", "unknown": True}
    )

    assert (answer.status_code, answer.json()["name"]) == (201, "mian")
    assert "did you mean `main`" in answer.json()["meets"]["problem"]


def test_an_agent_without_a_record_can_be_stopped_once_it_asked_or_made_a_call(
    environment: Any,
    program: Callable[..., Program],
    ask: Any,  # noqa: F811
    called: Any,  # noqa: F811
) -> None:
    client = program("calls_stop")
    ask(agent="clerk")
    called(agent="porter")

    for name in ("clerk", "porter"):
        assert client.post("halts", {"scope": "agent", "name": name, "reason": "wait"}).status_code == 201


@pytest.mark.usefixtures("empty_ledger")  # agents of calls on record are met, too
def test_what_a_stop_meets_is_told_before_in_the_answer_and_while_it_holds(
    environment: Any,
    program: Callable[..., Program],
    ask: Any,  # noqa: F811
) -> None:
    client = program("policy_read", "calls_stop")
    ask()
    ask()
    ask(agent="main", channel="slack")

    before = client.get("halts/effect?scope=agent&name=Ops-Runner").json()
    assert (before["name"], before["agents"], before["requests"], before["problem"]) == (
        "ops-runner", ["ops-runner"], 2, "",
    )  # fmt: skip
    assert client.get("halts/effect?scope=environment").json()["agents"] == ["main", "ops-runner"]
    assert client.get("halts/effect?scope=channel&name=Slack").json()["requests"] == 1
    assert "did you mean `ops-runner`" in client.get("halts/effect?scope=agent&name=ops-runer").json()["problem"]

    placed = client.post("halts", {"scope": "agent", "name": "ops-runner", "reason": "wait"}).json()
    assert (placed["meets"]["agents"], placed["meets"]["requests"]) == (["ops-runner"], 2)
    (listed,) = client.get("halts").json()["halts"]
    assert listed["meets"]["agents"] == ["ops-runner"]


@pytest.mark.usefixtures("empty_ledger")
def test_the_names_of_everything_that_can_be_stopped_are_listed(
    draft: Any,
    program: Callable[..., Program],
    ask: Any,  # noqa: F811
) -> None:
    ask(agent="clerk", channel="telegram")

    names = program("calls_stop", "policy_read").get("halts/names").json()

    assert names["agent"] == ["clerk", "main"]
    assert {"exec", "read"} <= set(names["tool"])
    assert "telegram" in names["channel"]
