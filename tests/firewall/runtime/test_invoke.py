"""The stages of a call: their order, what each refusal says, and what is on record when the answer comes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import new_id
from apps.firewall.runtime import invoke as invoke_module
from apps.firewall.runtime.call import Action, CallResult
from apps.firewall.runtime.executors.identifying import FileUnreadableError
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.stages import AFTER, STAGES
from apps.firewall.runtime.testing import FakeExecutor, FakeLedger, FakeWorld, call_of
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.running import ToolOutcome, failed

LISTED = {"agents": {"bot": {"allowlist": [{"pattern": "/bin/*"}]}}}


def snapshot(
    *,
    deny: tuple[str, ...] = (),
    exec_settings: Mapping[str, Any] | None = None,
    approvals: Mapping[str, Any] = LISTED,
    release: str = "2026.9",
) -> Snapshot:
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    entries.append(ToolEntry("web_search", params={"type": "object"}))
    entries.append(ToolEntry("broken", params={"type": "nothing"}))
    return build_snapshot(
        SnapshotSource(
            environment="production",
            dialect=release,
            tools=entries,
            agents=[AgentSource("bot", policy=Policy(allow=None, deny=deny))],
            settings={"exec": dict(exec_settings or {})},
            exec_approvals=approvals,
        )
    )


def world(**options: Any) -> FakeWorld:
    return FakeWorld(snapshot(**options))


def code(result: CallResult) -> str:
    assert result.error is not None
    return str(result.error["code"])


async def test_a_plain_call_leaves_an_intent_and_an_outcome() -> None:
    here = world()

    result = await invoke(call_of("read", path="a"), here.ports)

    assert (result.status, result.result, result.error) == ("completed", {"ok": True}, None)
    assert here.ledger.kinds == [("call_intent", "started"), ("call_outcome", "completed")]
    assert list(result.phases) == [stage.name for stage in (*STAGES, *AFTER)]


async def test_the_intent_is_on_record_before_the_tool_runs_and_the_outcome_before_the_answer() -> None:
    here = world()
    seen: list[list[tuple[str, str]]] = []

    def look(action: Action) -> ToolOutcome:
        seen.append(list(here.ledger.kinds))
        return ToolOutcome(result={})

    here.executor.answer = look
    await invoke(call_of("read", path="a"), here.ports)

    assert seen == [[("call_intent", "started")]]


async def test_a_tool_outside_the_set_is_answered_like_one_that_does_not_exist() -> None:
    here = world(deny=("write",))

    outside = await invoke(call_of("write", wrong="params"), here.ports)
    unknown = await invoke(call_of("wrjte", wrong="params"), here.ports)

    assert outside.error == {"code": "tool_not_found", "message": "no tool named `write`", "details": []}
    assert unknown.error == {"code": "tool_not_found", "message": "no tool named `wrjte`", "details": []}
    assert list(outside.phases) == list(unknown.phases) == ["decide", "after_hooks"]
    assert here.ledger.kinds == [("denial", "denied")] * 2
    assert [note.judgement.layer for note in here.ledger.notes] == ["agent", "unknown_tool"]


async def test_wrong_params_are_all_listed_and_nothing_runs() -> None:
    here = world()

    result = await invoke(call_of("read", offset=0), here.ports)

    assert code(result) == "parameter_validation_failed"
    assert result.error is not None
    assert [detail["path"] for detail in result.error["details"]] == ["offset", "path"]
    assert here.executor.actions == []


async def test_params_that_cannot_be_read_are_told_of_only_where_the_tool_may_be_seen() -> None:
    here = world(deny=("write",))
    refused, hidden = [
        await invoke(replace(call_of(tool), unreadable="the arguments are not JSON"), here.ports)
        for tool in ("read", "write")
    ]

    assert (code(refused), code(hidden)) == ("parameter_validation_failed", "tool_not_found")
    assert refused.error is not None
    assert [detail["code"] for detail in refused.error["details"]] == ["malformed_arguments"]
    assert here.ledger.kinds == [("denial", "denied")] * 2


@pytest.mark.parametrize(("tool", "expected"), [("web_search", "no_executor"), ("broken", "schema_invalid")])
async def test_a_tool_that_cannot_be_checked_or_run_here_says_so(tool: str, expected: str) -> None:
    here = world()

    assert code(await invoke(call_of(tool), here.ports)) == expected
    assert here.ledger.kinds == [("denial", "denied")]


async def test_without_a_publication_everything_is_denied_by_that_name() -> None:
    here = FakeWorld(None)

    assert code(await invoke(call_of("read", path="a"), here.ports)) == "no_publication"
    assert here.ledger.kinds == [("denial", "denied")]


async def test_an_intent_that_cannot_be_written_stops_the_call_and_says_why() -> None:
    here = world()
    here.ledger.refuses = {"call_intent"}

    result = await invoke(call_of("read", path="a"), here.ports)

    assert (result.status, code(result)) == ("denied", "audit_unavailable")
    assert here.executor.actions == []


async def test_a_ledger_that_stores_nothing_is_the_reason_that_is_given() -> None:
    here = world()
    here.ledger.refuses = {"call_intent", "denial"}

    assert code(await invoke(call_of("nothing"), here.ports)) == "audit_unavailable"
    assert [(note.kind, note.status) for note in here.ledger.kept] == [("denial", "denied")]


async def test_an_outcome_that_cannot_be_written_is_tried_again_and_then_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(invoke_module, "RETRY_OUTCOME_S", (0.0,))
    here = world()
    here.ledger.refuses = {"call_outcome"}

    result = await invoke(call_of("read", path="a"), here.ports)

    assert (result.status, code(result), result.result) == ("unknown", "audit_unavailable", None)
    assert [(note.kind, note.status) for note in here.ledger.kept] == [("call_outcome", "completed")]


async def test_a_tool_that_fails_is_a_failed_call_with_its_own_reason() -> None:
    here = world()
    here.executor.answer = failed("not_found", "`a` does not exist")

    result = await invoke(call_of("read", path="a"), here.ports)

    assert (result.status, code(result)) == ("failed", "not_found")
    assert here.ledger.kinds[-1] == ("call_outcome", "failed")


async def test_a_tool_that_breaks_tells_its_class_and_nothing_more() -> None:
    here = world()
    here.executor.answer = RuntimeError("a secret in the message")

    result = await invoke(call_of("read", path="a"), here.ports)

    assert result.status == "failed"
    assert result.error == {"code": "internal_error", "message": "an internal error: RuntimeError", "details": []}


async def test_an_error_before_the_run_is_a_denial_that_says_so() -> None:
    class Broken(FakeExecutor):
        def runs(self, tool: ToolEntry) -> bool:
            raise RuntimeError

    here = world()
    here.executor = Broken()

    result = await invoke(call_of("read", path="a"), here.ports)

    assert (result.status, code(result)) == ("denied", "internal_error")
    assert here.ledger.kinds == [("denial", "denied")]


async def test_a_cancelled_call_is_on_record_before_the_cancelling_goes_on() -> None:
    class Slow(FakeExecutor):
        async def run(self, action: Action, tool: ToolEntry) -> ToolOutcome:
            await asyncio.sleep(60)
            raise AssertionError

    here = world()
    here.executor = Slow()
    task = asyncio.create_task(invoke(call_of("read", path="a"), here.ports))
    async with asyncio.timeout(60):
        while not here.ledger.notes:
            await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert here.ledger.kinds[-1] == ("call_outcome", "failed")
    assert here.ledger.notes[-1].error is not None
    assert here.ledger.notes[-1].error["code"] == "cancelled"


async def test_an_admitted_command_runs_the_file_that_was_judged() -> None:
    here = world()

    result = await invoke(call_of("exec", command="ls -la"), here.ports)

    (action,) = here.executor.actions
    assert result.status == "completed"
    assert (action.argv, action.executable, action.files) == (["ls", "-la"], "/bin/ls", {"/bin/ls": "sha256:0"})


@pytest.mark.parametrize("name", ["bash", "EXEC"])
async def test_another_name_of_a_tool_is_the_same_tool(name: str) -> None:
    here = world()

    result = await invoke(call_of(name, command="ls"), here.ports)

    assert result.status == "completed"
    assert here.executor.actions[0].tool == "exec"


async def test_a_command_outside_the_list_waits_and_nothing_is_on_record_as_intended() -> None:
    here = world(approvals={})

    result = await invoke(call_of("exec", command="ls"), here.ports)

    assert result.status == "awaiting_approval"
    assert result.asked is not None
    assert here.executor.actions == []
    assert here.ledger.notes == []
    (request,) = here.approvals.asked
    assert request.action.argv == ["ls"]
    assert request.judgement.verdict == "ask"


async def test_a_command_is_refused_with_the_rule_where_commands_are_switched_off() -> None:
    here = world(exec_settings={"security": "deny"})

    result = await invoke(call_of("exec", command="ls"), here.ports)

    assert (result.status, code(result)) == ("denied", "security_deny")
    assert here.ledger.notes[0].judgement.rule == "tools.exec.security"


async def test_a_grant_runs_the_command_and_its_use_is_counted_first() -> None:
    entry = AllowEntry(pattern="/bin/ls", argv=("ls",))
    here = world(approvals={})
    here.approvals.entries = [entry]

    assert (await invoke(call_of("exec", command="ls"), here.ports)).status == "completed"
    assert here.approvals.used == [entry]


async def asked(here: FakeWorld, command: str = "ls") -> Action:
    await invoke(call_of("exec", command=command), here.ports)
    return here.approvals.asked[-1].action


async def test_an_allowed_action_runs_and_its_rows_name_the_approval() -> None:
    here = world(approvals={})
    action = Action.from_json((await asked(here, "ls | ls")).to_json())
    approval_id = new_id()

    result = await resume(action, approval_id=approval_id, ports=here.ports)

    assert result.status == "completed"
    assert str(result.call_id) == action.call_id
    assert here.executor.actions[0].argv == ["bash", "-c", "ls | ls"]
    assert {note.approval_id for note in here.ledger.notes} == {approval_id}


async def test_an_allowed_action_whose_program_changed_since_does_not_run() -> None:
    here = world(approvals={})
    action = await asked(here)
    here.executor.content = "sha256:1"

    result = await resume(action, approval_id=new_id(), ports=here.ports)

    assert (result.status, code(result)) == ("denied", "action_changed")
    assert here.executor.actions == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"deny": ("exec",)}, "tool_not_found"), ({"exec_settings": {"security": "deny"}}, "security_deny")],
)
async def test_an_allowed_action_that_the_live_policy_no_longer_gives_does_not_run(
    options: dict[str, Any], expected: str
) -> None:
    action = await asked(world(approvals={}))
    later = world(**options)

    result = await resume(action, approval_id=new_id(), ports=later.ports)

    assert (result.status, code(result)) == ("denied", expected)
    assert later.executor.actions == []


async def test_no_two_calls_share_anything() -> None:
    ledger = FakeLedger()
    here = world()
    here.ledger = ledger

    results = await asyncio.gather(*(invoke(call_of("read", path=str(n)), here.ports) for n in range(20)))

    assert len({result.call_id for result in results}) == 20
    assert len(ledger.notes) == 40


async def test_a_command_whose_files_cannot_be_read_is_denied_by_name() -> None:
    class Closed(FakeExecutor):
        def identities(self, executable: str, argv: Sequence[str], cwd: str) -> dict[str, str]:
            raise FileUnreadableError("`/root/x` cannot be read: permission denied")

    here = world()
    here.executor = Closed()

    result = await invoke(call_of("exec", command="ls /root/x"), here.ports)

    assert (result.status, code(result)) == ("denied", "file_unreadable")
    assert here.ledger.kinds == [("denial", "denied")]
    assert here.executor.actions == []
