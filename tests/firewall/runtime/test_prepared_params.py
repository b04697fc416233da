"""Params on their way through a call: what is approved, run and recorded, and what callers and records learn."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Action, Call
from apps.firewall.runtime.facts import facts_of
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.testing import FakeExecutor, FakeWorld, call_of
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.injection import FACTS


def entry(name: str, properties: Mapping[str, Any], **more: Any) -> ToolEntry:
    params = {"type": "object", "properties": properties, "additionalProperties": False}
    return ToolEntry(name, params=params, **more)


TOOLS = (
    entry("count_words", {"limit": {"type": "integer", "default": 10}, "tags": {"type": "array"}}),
    entry("send_pin", {"pin": {"type": "string", "sensitive": True, "maxLength": 4}, "auth": {"type": "object"}}),
    entry("note_add", {"who": {"type": "string"}}, traits={"context_mappings": {"who": "sender.id"}}),
    entry("seat_book", {"row": {"type": "integer"}}, traits={"extra_params": "refuse"}),
    entry("file_show", {"file": {"type": "string", "format": "file-path"}}),
)


def snapshot(dialect: str = "2026.9", deny: tuple[str, ...] = ()) -> Snapshot:
    own = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    agent = AgentSource("bot", policy=Policy(allow=None, deny=deny))
    return build_snapshot(
        SnapshotSource(dialect=dialect, environment="production", tools=[*own, *TOOLS], agents=[agent])
    )


def world(**options: Any) -> FakeWorld:
    names = frozenset({"read", "write", "exec", *(tool.name for tool in TOOLS)})
    return FakeWorld(snapshot(**options), executor=FakeExecutor(tools=names))


async def test_the_prepared_params_run_and_are_recorded() -> None:
    here = world()

    result = await invoke(call_of("count_words", limit="5", tags="a,b"), here.ports)

    assert result.status == "completed"
    assert here.executor.actions[0].params == {"limit": 5, "tags": ["a", "b"]}
    assert [note.call.params for note in here.ledger.notes] == [{"limit": 5, "tags": ["a", "b"]}] * 2


async def test_a_field_that_was_left_out_is_told_in_the_answer() -> None:
    here = world()

    result = await invoke(call_of("count_words", limt=5), here.ports)

    assert here.executor.actions[0].params == {"limit": 10}
    assert [(each["path"], each["code"]) for each in result.warnings] == [("limt", "unknown_field")]
    assert "did you mean `limit`?" in result.warnings[0]["message"]


async def test_a_refused_call_records_what_was_sent_and_names_unknown_fields_too() -> None:
    here = world()

    result = await invoke(call_of("count_words", limit="many", other=1), here.ports)

    assert result.error is not None
    assert [(each["path"], each["code"]) for each in result.error["details"]] == [
        ("limit", "type_mismatch"),
        ("other", "unknown_field"),
    ]
    assert result.error["message"] == "the parameters of `count_words` have 1 mistake"
    assert here.ledger.notes[0].call.params == {"limit": "many", "other": 1}


async def test_a_misspelt_field_that_is_refused_comes_with_the_one_that_was_meant() -> None:
    here = world()

    result = await invoke(call_of("seat_book", rows=5), here.ports)

    assert result.error is not None
    assert result.error["details"] == [
        {
            "path": "rows",
            "code": "unknown_field",
            "message": "`rows` is not a parameter of this tool; did you mean `row`?",
        }
    ]
    assert here.executor.actions == []


async def test_what_is_approved_are_the_prepared_params_and_they_stay_the_same_when_it_runs() -> None:
    here = world()

    waiting = await invoke(call_of("exec", command="ls", timeout="5", colour="red"), here.ports)
    action = Action.from_json(here.approvals.asked[0].action.to_json())
    result = await resume(action, approval_id=new_id(), ports=here.ports)

    assert waiting.status == "awaiting_approval"
    assert action.params == {"command": "ls", "timeout": 5}
    assert result.status == "completed"
    assert [each["path"] for each in result.warnings] == ["colour"]


@pytest.mark.parametrize(("dialect", "status"), [("2026.2", "completed"), ("2026.9", "denied")])
async def test_the_live_dialect_says_which_names_a_file_tool_takes(dialect: str, status: str) -> None:
    here = world(dialect=dialect)

    result = await invoke(call_of("read", file_path="a.txt"), here.ports)

    assert result.status == status
    assert [action.params for action in here.executor.actions] == [{"path": "a.txt"}][: status == "completed"]


async def test_a_fact_of_the_caller_takes_the_place_of_what_the_model_wrote() -> None:
    here = world()
    call = replace(call_of("note_add", who="the owner"), context=CallContext(sender_id="1001"))

    result = await invoke(call, here.ports)

    assert here.executor.actions[0].params == {"who": "1001"}
    assert [each["code"] for each in result.warnings] == ["context_field_replaced"]


def test_every_fact_that_a_mapping_may_name_is_known_of_each_call() -> None:
    assert tuple(facts_of(call_of("read"))) == FACTS


async def test_paths_lead_into_the_workspace_of_the_agent_only(tmp_path: Path) -> None:
    class Desk(FakeExecutor):
        def workspace(self, call: Call) -> str:
            return str(tmp_path / "desk")

    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "a.txt").write_text("a")
    (tmp_path / "secret.txt").write_text("s")
    here = world()
    here.executor = Desk(tools=here.executor.tools)

    inside = await invoke(call_of("file_show", file="./a.txt"), here.ports)
    outside = await invoke(call_of("file_show", file="../secret.txt"), here.ports)

    assert inside.status == "completed"
    assert here.executor.actions[0].params == {"file": str((tmp_path / "desk" / "a.txt").resolve())}
    assert outside.error is not None
    assert [each["code"] for each in outside.error["details"]] == ["invalid_format"]


async def test_a_sensitive_param_reaches_the_tool_and_is_named_in_every_record() -> None:
    here = world()

    await invoke(call_of("send_pin", pin="1234"), here.ports)

    assert here.executor.actions[0].params == {"pin": "1234"}
    assert [note.sensitive for note in here.ledger.notes] == [("pin",)] * 2


async def test_a_refusal_shows_no_sensitive_value() -> None:
    here = world()

    result = await invoke(call_of("send_pin", pin="98765"), here.ports)

    assert result.status == "denied"
    assert "98765" not in str(result.error)
    assert here.ledger.notes[0].sensitive == ("pin",)


async def test_the_sensitive_params_of_a_tool_outside_the_set_are_named_in_the_denial() -> None:
    here = world(deny=("send_pin",))

    result = await invoke(call_of("send_pin", pin="1234"), here.ports)

    assert result.error is not None
    assert result.error["code"] == "tool_not_found"
    assert [note.sensitive for note in here.ledger.notes] == [("pin",)]


async def test_where_nobody_can_tell_what_is_sensitive_nothing_is_shown() -> None:
    broken = entry("send_pin", {"pin": {"type": "string"}}, traits={"timeout_ms": "soon"})
    here = FakeWorld(
        build_snapshot(SnapshotSource(environment="production", tools=[broken], agents=[AgentSource("bot")]))
    )

    result = await invoke(call_of("send_pin", pin="1234", note="x"), here.ports)

    assert result.error is not None
    assert result.error["code"] == "definition_invalid"
    assert here.ledger.notes[0].sensitive == ("pin", "note")


async def test_a_call_with_thousands_of_values_holds_up_no_other() -> None:
    here = world()
    large = asyncio.create_task(invoke(call_of("count_words", tags=json.dumps([1] * 50_000)), here.ports))
    await asyncio.sleep(0)

    small = await invoke(call_of("count_words", limit=1), here.ports)

    assert small.status == "completed"
    assert not large.done()
    assert (await large).status == "completed"
