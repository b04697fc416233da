"""A Python tool from the call to its record: its config and secret, facts about the caller, each way to fail."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import Call, CallResult
from apps.firewall.runtime.clock import SystemClock
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.python import PythonRunner
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.ports import Ports
from apps.firewall.runtime.testing import FakeApprovals, FakeLedger, FakeSnapshots
from apps.firewall.sandbox.levels import offer
from apps.firewall.tools.connections import Connection, Secrets, SourceUnknownError
from apps.firewall.tools.python_tools import PythonTools

TOOLS = """
    from openclaw_admin.tools import BaseTool, tool, ToolContext

    @tool
    def tell(word: str, context: ToolContext):
        config = {**context.config, "letters": len(context.config["key"])} if context.config else {}
        return {"word": word, "config": config, "session": context.session, "sandboxed": context.sandboxed}

    @tool
    async def wait():
        import asyncio
        await asyncio.sleep(60)
"""
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


class OneSource:
    """Stands for the registry: one source, with one secret."""

    async def connection(self, environment: str, source: str) -> Connection:
        if source != "office":
            raise SourceUnknownError(f"no source named `{source}` is switched on")
        return Connection(source=source, kind="file", secrets=Secrets({"KEY": "s3cret"}))


def entry(
    folder: Path, name: str = "tell", *, source: str = "office", traits: Mapping[str, Any] | None = None
) -> ToolEntry:
    executor = {
        "kind": "python",
        "attribute": name,
        "file": str(folder / "office.py"),
        "folder": str(folder),
        "source": source,
    }
    return ToolEntry(
        name, params=SCHEMA if name == "tell" else {"type": "object"}, traits=traits or {}, executor=executor
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "office.py").write_text(dedent(TOOLS))
    return tmp_path / "code"


async def run(tool: ToolEntry, **params: Any) -> tuple[CallResult, FakeLedger]:
    snapshot = build_snapshot(SnapshotSource(environment="production", tools=[tool], agents=[AgentSource("bot")]))
    assert tool.executor is not None
    folder = Path(tool.executor["folder"])
    ledger = FakeLedger()
    runner = PythonRunner(PythonTools(closed=(folder.parent / "keys",)), OneSource())
    ports = Ports(
        snapshots=FakeSnapshots(snapshot),
        ledger=ledger,
        approvals=FakeApprovals(),
        executor=Executors(Workspaces(folder.parent / "workspaces"), (runner,)),
        clock=SystemClock(),
    )
    context = CallContext(channel="slack", sender_id="U1")
    call = Call(environment="production", agent="bot", tool=tool.name, params=params, context=context)
    return await invoke(call, ports), ledger


async def test_a_call_reaches_the_tool_with_its_secret_and_the_facts_and_leaves_its_record(folder: Path) -> None:
    traits = {"config": {"key": {"$secret": "KEY"}, "units": "metric"}}

    result, ledger = await run(entry(folder, traits=traits), word="hi")

    assert result.status == "completed", result.error
    assert result.result == {
        "word": "hi",
        "config": {"key": "***", "units": "metric", "letters": len("s3cret")},
        "session": {
            "agent_id": "bot",
            "environment": "production",
            "channel": "slack",
            "sender_id": "U1",
        },
        "sandboxed": False,
    }
    assert ledger.kinds == [("call_intent", "started"), ("call_outcome", "completed")]


@pytest.mark.parametrize(
    ("source", "secret", "code"),
    [("office", "OTHER", "secret_missing"), ("gone", "KEY", "source_unknown")],
)
async def test_a_call_whose_secret_is_not_there_fails_before_the_tool_runs(
    folder: Path, source: str, secret: str, code: str
) -> None:
    tool = entry(folder, source=source, traits={"config": {"key": {"$secret": secret}}})

    result, _ = await run(tool, word="hi")

    assert result.error is not None
    assert (result.status, result.error["code"]) == ("failed", code)


async def test_a_call_is_ended_at_the_time_that_its_definition_gives(folder: Path) -> None:
    result, ledger = await run(entry(folder, "wait", traits={"timeout_ms": 600}))

    assert result.error is not None
    assert (result.status, result.error["code"]) == ("failed", "tool_timed_out")
    assert ledger.kinds[-1] == ("call_outcome", "failed")


@pytest.mark.skipif(bool(offer().lacks("isolated")), reason=str(offer()))
@pytest.mark.parametrize("level", ["isolated", "container"])
async def test_a_tool_that_needs_to_be_isolated_runs_in_bubblewrap(folder: Path, level: str) -> None:
    result, _ = await run(entry(folder, traits={"sandbox": {"level": level}}), word="hi")

    assert result.result is not None, result.error
    assert result.result["word"] == "hi"


async def test_a_tool_whose_folder_is_gone_or_closed_says_so(folder: Path, tmp_path: Path) -> None:
    gone = entry(folder)
    (folder / "office.py").unlink()
    result, _ = await run(gone, word="hi")
    closed = entry(tmp_path / "keys")
    (tmp_path / "keys").mkdir()
    refused, _ = await run(closed, word="hi")

    assert result.error is not None
    assert refused.error is not None
    assert (result.error["code"], refused.error["code"]) == ("import_failed", "folder_refused")
