"""Plugins in processes of their own: what they answer, and every way in which they fail to."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.runtime.hook_runners.wire import event_json, event_name
from apps.firewall.runtime.hook_runners.workers import HookWorkers, PluginPlace
from apps.firewall.runtime.hooks import AfterEvent, BeforeEvent
from apps.firewall.runtime.hooks.handlers import HookFailedError
from apps.firewall.tools.python_tools import FolderRefusedError
from tests.firewall.runtime.hook_runners.packages import installed, workers

EVENT = BeforeEvent(tool="read", params={"path": "a"}, call_id="1", facts={"agent.id": "bot"})
CODE = """
import asyncio, os, sys, time
loaded_in = os.getpid()
seen = []

def before_tool_call(event):
    do = event["params"].get("do", "")
    seen.append(do)
    if do == "raise": raise ValueError("no, " + "x" * 2000)
    if do == "exit": sys.exit(3)
    if do == "die": os._exit(3)
    if do == "hang": time.sleep(600)
    if do == "huge": return {"blockReason": "x" * 5_000_000}
    if do == "odd": return {"block": object()}
    if do == "nan": return {"params": {"n": float("nan")}}
    if do == "print": print("not an answer"); os.write(1, b'{"id": 1}')
    return {"seen": len(seen), "event": event}

async def after_tool_call(event):
    await asyncio.sleep(0)
    return {"was": event["durationMs"], "error": event.get("error")}
"""


async def ask(found: HookWorkers, place: PluginPlace, event: Any = EVENT, **params: Any) -> Any:
    payload = event_json(event) | ({"params": params} if params else {})
    return await found.ask("key", place, event_name(event), payload)


async def failure(found: HookWorkers, place: PluginPlace, **params: Any) -> HookFailedError:
    with pytest.raises(HookFailedError) as raised:
        await ask(found, place, **params)
    return raised.value


async def test_a_plugin_gets_the_event_and_each_one_finds_it_as_it_was_loaded(tmp_path: Path) -> None:
    place = installed(tmp_path, CODE)
    async with workers() as found:
        first, second = [await ask(found, place) for _ in range(2)]

    assert first == second
    assert first["seen"] == 1
    assert first["event"] == {
        "toolName": "read",
        "toolCallId": "1",
        "params": {"path": "a"},
        "context": {"agent.id": "bot"},
        "config": {},
    }


async def test_each_event_comes_with_the_config_of_its_hook(tmp_path: Path) -> None:
    place = replace(installed(tmp_path, CODE), config={"folders": ["a"], "token": "made-up"})
    async with workers() as found:
        answers = [await ask(found, place), await ask(found, place)]

    assert [each["event"]["config"] for each in answers] == [{"folders": ["a"], "token": "made-up"}] * 2
    assert "made-up" not in repr(place)


async def test_a_coroutine_function_is_told_what_became_of_a_call(tmp_path: Path) -> None:
    event = AfterEvent(tool="read", params={}, duration_ms=7, error={"code": "tool_failed", "message": "no"})
    async with workers() as found:
        said = await ask(found, installed(tmp_path, CODE), event)

    assert said == {"was": 7, "error": {"code": "tool_failed", "message": "no"}}


async def test_every_failure_is_told_by_its_kind_and_costs_the_next_event_nothing(tmp_path: Path) -> None:
    place = installed(tmp_path, CODE)
    kinds = {"raise": "raised", "exit": "raised", "die": "ended", "huge": "huge_answer", "odd": "wrong_answer"}
    kinds["nan"] = "wrong_answer"
    async with workers() as found:
        failures = {do: await failure(found, place, do=do) for do in kinds}
        after = await ask(found, place, do="print")

    assert {do: each.kind for do, each in failures.items()} == kinds
    assert failures["raise"].message == "it raised ValueError"
    assert len(failures["raise"].said) == 500
    assert after["seen"] == 1


async def test_one_that_hangs_holds_up_nobody_and_ends_when_its_caller_goes(tmp_path: Path) -> None:
    place = installed(tmp_path, CODE)
    async with workers() as found:
        hanging = asyncio.create_task(ask(found, place, do="hang"))
        assert (await ask(found, place))["seen"] == 1
        assert not hanging.done()
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        assert (await ask(found, place))["seen"] == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [("raise RuntimeError('broken')", "raised"), ("import os; os._exit(1)", "ended"), ("def broken(:", "raised")],
)
async def test_a_plugin_that_cannot_be_loaded_fails_each_time(tmp_path: Path, code: str, kind: str) -> None:
    place = installed(tmp_path, code)
    async with workers() as found:
        assert [(await failure(found, place)).kind for _ in range(2)] == [kind, kind]


async def test_one_that_is_not_installed_says_so(tmp_path: Path) -> None:
    async with workers() as found:
        trouble = await failure(found, PluginPlace(entry_point="nobody:hooks"))

    assert trouble.said == "no installed package offers `nobody:hooks`"


async def test_a_plugin_without_the_handler_passes(tmp_path: Path) -> None:
    async with workers() as found:
        assert await ask(found, installed(tmp_path, "x = 1")) is None


async def test_a_plugin_reads_no_closed_folder_and_reaches_no_network(tmp_path: Path) -> None:
    secret = tmp_path / "keys" / "key"
    secret.parent.mkdir()
    secret.write_text("secret")
    code = f"""
    import socket
    def before_tool_call(event):
        if event["params"]["do"] == "read":
            return {{"text": open({str(secret)!r}).read()}}
        return {{"port": socket.socket().connect(("127.0.0.1", 9))}}
    """
    place = installed(tmp_path / "packages", code)
    async with workers(secret.parent) as found:
        reading, connecting = [await failure(found, place, do=do) for do in ("read", "connect")]
        with pytest.raises(FolderRefusedError):
            await found.ask("other", installed(secret.parent, code), "before_tool_call", {})

    assert (reading.kind, connecting.kind) == ("raised", "raised")
    assert "PermissionError" in reading.message


async def test_installed_plugins_are_listed_without_loading_one(tmp_path: Path) -> None:
    installed(tmp_path, "raise RuntimeError('loaded')")
    async with workers() as found:
        listed = await found.installed([str(tmp_path)])

    assert [(each.name, each.release) for each in listed] == [("acme-hooks:hooks", "1.0")]


async def test_a_worker_that_nobody_uses_ends_and_the_next_event_has_another(tmp_path: Path) -> None:
    code = "import os\ndef before_tool_call(event): return {'pid': os.getppid()}"
    place = installed(tmp_path, code)
    async with workers(idle_s=0.0) as found:
        first = await ask(found, place)
        for _ in range(3):
            await asyncio.sleep(0)  # the loop runs what is due
        second = await ask(found, place)

    assert first != second
