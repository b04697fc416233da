"""Hooks in the path of a call: what they may change, what becomes of one that fails, what a person is asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import Action, CallResult
from apps.firewall.runtime.hooks import Hook, Rewrites
from apps.firewall.runtime.hooks.handlers import HookFailedError
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.rehearse import rehearse
from apps.firewall.runtime.testing import FakeExecutor, FakeHooks, FakeWorld, call_of
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.running import ToolOutcome, failed
from tests.firewall.runtime.test_invoke import code, snapshot


def answering(answer: Any, **options: Any) -> Hook:
    async def handler(event: Any) -> Any:
        return answer

    return Hook(**{"plugin": "p1", "name": "h1", "handler": handler, **options})


def seeing(seen: list[Any], answer: Any = None, **options: Any) -> Hook:
    async def handler(event: Any) -> Any:
        seen.append(event)
        return answer

    return Hook(**{"plugin": "p1", "handler": handler, **options})


def raising(error: BaseException, **options: Any) -> Hook:
    async def handler(event: Any) -> Any:
        raise error

    return Hook(**{"plugin": "p1", "handler": handler, **options})


def world(*asked: Hook, told: tuple[Hook, ...] = (), **options: Any) -> FakeWorld:
    return FakeWorld(snapshot(**options), hooks=FakeHooks(asked=asked, told=told))


async def test_a_hook_may_block_and_its_words_are_the_answer() -> None:
    here = world(answering({"block": True, "blockReason": "not on\x07 Sundays"}))

    result = await invoke(call_of("read", path="a"), here.ports)

    assert result.error == {"code": "hook_blocked", "message": "not on� Sundays", "details": []}
    assert (here.ledger.kinds, here.executor.actions) == ([("denial", "denied")], [])
    judgement = here.ledger.notes[0].judgement
    assert (judgement.layer, judgement.rule) == ("hooks", "p1")


async def test_rewritten_params_are_what_runs_and_what_is_recorded() -> None:
    seen: list[Any] = []
    here = world(answering({"params": {"path": "b"}}), told=(seeing(seen),))
    call = call_of("read", path="a")

    result = await invoke(call, here.ports)
    await here.hooks.settle()

    assert (result.status, dict(call.params)) == ("completed", {"path": "a"})
    assert here.executor.actions[0].params["path"] == "b"
    change = {"plugin": "p1", "member": "path", "kind": "changed", "before": "a", "after": "b"}
    intent = here.ledger.notes[0]
    assert intent.changes is not None
    assert (intent.changes["hooks"], intent.call.params["path"]) == ([change], "b")
    assert [event.params["path"] for event in seen] == ["b"]
    assert len(here.hooks.rewrites) == 0


async def test_what_a_hook_made_of_the_params_is_checked_like_an_agents() -> None:
    here = world(answering({"params": {"path": 5, "offset": 0}}))

    result = await invoke(call_of("read", path="a"), here.ports)

    assert code(result) == "parameter_validation_failed"
    assert here.executor.actions == []
    assert here.ledger.notes[0].changes is not None


async def test_a_rewrite_that_was_lost_refuses_the_call() -> None:
    here = world(answering({"params": {"path": "b"}}))
    here.hooks.rewrites = Rewrites(kept=0)

    assert code(await invoke(call_of("read", path="a"), here.ports)) == "rewrite_lost"
    assert (here.executor.actions, here.ledger.kinds) == ([], [("denial", "denied")])


@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
@pytest.mark.parametrize(
    ("hook", "kind"),
    [
        (raising(ValueError("no")), "raised"),
        (raising(SystemExit(3)), "raised"),
        (answering(["block"]), "wrong_answer"),
        (answering({"block": "yes"}), "wrong_answer"),
        (answering({"params": {"path": "x" * 1_100_000}}), "huge_answer"),
        (raising(HookFailedError("it does not prove its answer", kind="bad_signature")), "bad_signature"),
    ],
)
async def test_a_before_hook_that_fails_stops_the_call(hook: Hook, kind: str, release: str) -> None:
    here = world(hook, release=release)

    result = await invoke(call_of("read", path="a"), here.ports)

    assert code(result) == "hook_failed"
    assert [report.kind for report in here.hooks.reports] == [kind]
    assert here.executor.actions == []


async def test_the_older_release_passes_over_what_fails_where_an_operator_wants_that() -> None:
    seen: list[Any] = []
    here = world(raising(ValueError("no")), seeing(seen, plugin="p2"), release="2026.2")
    here.hooks.lenient = frozenset({call_of("read").environment})

    assert (await invoke(call_of("read", path="a"), here.ports)).status == "completed"
    assert len(seen) == 1
    assert [report.status for report in here.hooks.reports] == ["failed", "passed"]


async def test_the_newer_release_is_strict_whatever_an_operator_wants() -> None:
    here = world(raising(ValueError("no")))
    here.hooks.lenient = frozenset({call_of("read").environment})

    assert code(await invoke(call_of("read", path="a"), here.ports)) == "hook_failed"


@pytest.mark.parametrize("outcome", [ToolOutcome(result={"text": "hi"}), failed("tool_failed", "no", {"partial": 1})])
async def test_after_hooks_are_told_of_success_and_failure_and_change_neither(outcome: ToolOutcome) -> None:
    seen: list[Any] = []
    hooks = (raising(ValueError("no"), plugin="p0"), seeing(seen, {"block": True}))
    here = world(told=hooks)
    here.executor = FakeExecutor(answer=outcome)
    plain = FakeWorld(here.snapshot, executor=FakeExecutor(answer=outcome))

    result = await invoke(call_of("read", path="a"), here.ports)
    expected = await invoke(call_of("read", path="a"), plain.ports)
    await here.hooks.settle()

    assert told_of(result) == told_of(expected)
    assert here.ledger.kinds == plain.ledger.kinds
    assert [(event.result, event.error) for event in seen] == [
        (None, outcome.error) if outcome.error else (outcome.result, None)
    ]
    assert [report.status for report in here.hooks.reports] == ["failed", "passed"]


async def test_after_hooks_are_told_of_a_call_that_a_hook_stopped_as_of_one_that_failed() -> None:
    seen: list[Any] = []
    here = world(answering({"block": True, "blockReason": "not today"}), told=(seeing(seen),))

    result = await invoke(call_of("read", path="a"), here.ports)
    await here.hooks.settle()

    [event] = seen
    assert (event.tool, event.params, event.duration_ms) == ("read", {"path": "a"}, 0)
    assert (event.result, event.error) == (None, {"code": "hook_blocked", "message": "not today"})
    assert (result.status, here.ledger.kinds) == ("denied", [("denial", "denied")])


@pytest.mark.parametrize(
    ("tool", "params", "code_told"),
    [
        ("nothing", {"path": "a"}, "tool_not_found"),
        ("read", {"offset": "x"}, "parameter_validation_failed"),
        ("exec", {"command": "ls", "env": {"LD_PRELOAD": "a"}}, "environment_refused"),
    ],
)
async def test_after_hooks_are_told_of_every_refusal_once(tool: str, params: dict[str, Any], code_told: str) -> None:
    seen: list[Any] = []
    here = world(told=(seeing(seen),))

    await invoke(call_of(tool, **params), here.ports)
    await here.hooks.settle()

    assert [(event.tool, event.error["code"]) for event in seen] == [(tool, code_told)]


async def test_values_that_are_masked_are_masked_of_a_refused_call_too() -> None:
    seen: list[Any] = []
    here = world(told=(seeing(seen),))

    await invoke(call_of("exec", command="ls", env={"LD_PRELOAD": "made-up"}), here.ports)
    await here.hooks.settle()

    assert "made-up" not in str(seen[0].params)


async def test_after_hooks_hear_of_a_call_that_waits_for_a_person_when_it_ended() -> None:
    seen: list[Any] = []
    here = world(answering({"requireApproval": {}}), told=(seeing(seen),))

    await invoke(call_of("read", path="a"), here.ports)
    await here.hooks.settle()
    assert seen == []

    await resume(here.approvals.asked[0].action, approval_id=here.approvals.asked[0].call.id, ports=here.ports)
    await here.hooks.settle()
    assert [event.error for event in seen] == [None]


async def test_an_after_hook_that_fails_changes_no_refusal() -> None:
    here = world(answering({"block": True}), told=(raising(ValueError("no")),))

    result = await invoke(call_of("read", path="a"), here.ports)
    await here.hooks.settle()

    assert (result.status, code(result)) == ("denied", "hook_blocked")
    assert [report.status for report in here.hooks.reports] == ["blocked", "failed"]


@pytest.mark.parametrize(("letters", "expected"), [(20, "completed"), (200, "tokens_exceeded")])
async def test_what_a_hook_rewrote_is_held_to_the_size_of_a_request(letters: int, expected: str) -> None:
    params = BUILTINS["read"].definition.parameters
    tool = ToolEntry("read", params=params, traits={"rate_limit": {"tokens_per_request": 20}})
    source = SnapshotSource(environment="production", tools=[tool], agents=[AgentSource("bot")])
    here = FakeWorld(build_snapshot(source), hooks=FakeHooks(asked=(answering({"params": {"path": "b" * letters}}),)))

    result = await invoke(call_of("read", path="a"), here.ports)

    assert (result.status if result.error is None else code(result)) == expected
    assert len(here.executor.actions) == (expected == "completed")


async def test_a_hook_may_have_a_person_asked_about_exactly_what_would_run() -> None:
    seen: list[Any] = []
    wish = {"title": "Really?", "description": "a gate", "severity": "critical", "timeoutMs": 5000}
    here = world(
        seeing(seen, {"params": {"path": "b"}, "requireApproval": wish | {"allowedDecisions": ["allow-once"]}})
    )

    result = await invoke(call_of("read", path="a"), here.ports)

    assert result.status == "awaiting_approval"
    request = here.approvals.asked[0]
    assert request.wish is not None
    assert (request.wish.title, request.wish.severity, request.wish.timeout_ms) == ("Really?", "critical", 5000)
    assert request.wish.decisions == ("allow-once", "deny")
    assert (request.action.params["path"], request.judgement.layer) == ("b", "hooks")

    action = Action.from_json(request.action.to_json())
    resumed = await resume(action, approval_id=request.call.id, ports=here.ports)

    assert (resumed.status, len(seen)) == ("completed", 1)
    assert here.executor.actions[0].params["path"] == "b"
    assert here.ledger.notes[0].changes is not None
    assert here.ledger.notes[0].changes["hooks"] == request.action.hook_changes


async def test_always_answers_the_same_plugin_about_the_same_params_only() -> None:
    here = world(answering({"requireApproval": {}}))
    call = call_of("read", path="a")
    await invoke(call, here.ports)
    here.approvals.always.append(("read", here.approvals.asked[0].action.params, "p1"))

    same = await invoke(call_of("read", path="a"), here.ports)
    other = await invoke(call_of("read", path="b"), here.ports)

    assert (same.status, other.status) == ("completed", "awaiting_approval")
    assert len(here.approvals.used) == 1


async def test_a_command_is_asked_about_each_time_though_its_policy_lets_it_run() -> None:
    here = world(answering({"requireApproval": {}}))

    result = await invoke(call_of("exec", command="ls"), here.ports)

    assert result.status == "awaiting_approval"
    assert here.approvals.asked[0].verdict is not None


async def test_a_rehearsal_asks_no_hook_and_says_so() -> None:
    seen: list[Any] = []
    here = world(seeing(seen), seeing(seen, plugin="p2", priority=5))

    found = await rehearse(call_of("read", path="a"), here.ports)

    assert (found.runs, seen, here.hooks.reports) == (True, [], [])
    warnings = {each["code"]: each["message"] for each in found.warnings}
    assert warnings["hooks_not_asked"].endswith("`p2`, `p1`")


ANSWERS: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        {"params": {"path": "b"}},
        {"block": True},
        {"requireApproval": {}},
        "nonsense",
        {"params": {"path": 1}},
    ]
)


@given(answers=st.lists(ANSWERS, max_size=4))
async def test_whatever_hooks_say_nothing_runs_that_one_blocked_or_a_person_must_see(answers: list[Any]) -> None:
    here = world(*(answering(answer, plugin=f"p{number}") for number, answer in enumerate(answers)))

    result = await invoke(call_of("read", path="a"), here.ports)

    is_stopped = any(answer == {"block": True} or answer == "nonsense" for answer in answers)
    asks = {"requireApproval": {}} in answers
    assert (result.status == "completed") == (bool(here.executor.actions))
    if is_stopped:
        assert result.status == "denied"
    elif asks:
        assert result.status in {"awaiting_approval", "denied"}
    if here.executor.actions:
        assert here.executor.actions[0].params["path"] in {"a", "b", "1"}


def told_of(result: CallResult) -> tuple[Any, ...]:
    return (result.status, result.result, result.error)
