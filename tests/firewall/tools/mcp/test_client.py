"""Speaking with real server processes, well-behaved and not."""

import asyncio
import contextlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection, Secrets
from apps.firewall.tools.mcp.errors import (
    McpEndedError,
    McpError,
    McpFloodError,
    McpNotStartedError,
    McpProtocolError,
    McpRefusedError,
    McpSettingsError,
    McpTimedOutError,
)
from apps.firewall.tools.mcp.sessions import opened
from tests.firewall.tools.mcp.conftest import Connect

pytestmark = pytest.mark.unhurried


async def fails_to_open(connection: Connection, *, timeout_s: float = 5.0) -> McpError:
    with pytest.raises(McpError) as caught:
        async with opened(connection, timeout_s=timeout_s):
            pass
    return caught.value


async def fails_to_call(connection: Connection, tool: str, *, timeout_s: float = 5.0) -> McpError:
    async with opened(connection) as client:
        with pytest.raises(McpError) as caught:
            await client.call(tool, {}, timeout_s=timeout_s)
    return caught.value


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_it_greets_lists_and_calls(connect: Connect) -> None:
    async with opened(connect()) as client:
        tools = await client.tools(timeout_s=5)
        answer = await client.call("echo", {"text": "hello"}, timeout_s=5)

    assert [each["name"] for each in tools] == ["echo", "Give.Image"]
    assert answer.content[0].text == "hello"  # type: ignore[union-attr]


async def test_the_server_says_who_it_is(connect: Connect) -> None:
    async with opened(connect()) as client:
        facts = client.facts

    assert (facts.name, facts.version, facts.protocol, facts.instructions) == (
        "tester",
        "1.2",
        "2025-06-18",
        "Be kind.",
    )


async def test_all_pages_of_a_listing_are_read(connect: Connect) -> None:
    async with opened(connect("pages")) as client:
        tools = await client.tools(timeout_s=5)

    assert [each["name"] for each in tools] == ["tool_0", "tool_1", "tool_2"]


async def test_a_listing_without_end_is_given_up(connect: Connect) -> None:
    async with opened(connect("endless_pages")) as client:
        with pytest.raises(McpFloodError, match="does not end"):
            await client.tools(timeout_s=5)


async def test_calls_at_once_get_each_its_own_answer(connect: Connect) -> None:
    async with opened(connect()) as client:
        asked = [client.call("echo", {"text": str(number)}, timeout_s=5) for number in range(20)]
        answers = await asyncio.gather(*asked)

    assert [each.content[0].text for each in answers] == [str(number) for number in range(20)]  # type: ignore[union-attr]


async def test_it_sees_nothing_of_ours_and_is_gone_afterwards(connect: Connect, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    async with opened(connect()) as client:
        told = (await client.call("whoami", {}, timeout_s=5)).content[0].text  # type: ignore[union-attr]
        read = await client.call("read", {"path": str(secret)}, timeout_s=5)
    pid, folder, names = told.split(" ", 2)

    assert names == "['HOME', 'LANG', 'ONE', 'PATH', 'TMPDIR']"
    assert read.is_error
    assert read.content[0].text == "PermissionError"  # type: ignore[union-attr]
    assert not is_running(int(pid))
    assert not Path(folder).exists()


async def test_readable_files_of_the_settings_may_be_read(connect: Connect, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    shown.write_text("open to it")
    async with opened(connect(settings={"paths": [str(shown)]})) as client:
        read = await client.call("read", {"path": str(shown)}, timeout_s=5)

    assert read.content[0].text == "open to it"  # type: ignore[union-attr]


@pytest.mark.parametrize(("settings", "made"), [({}, "PermissionError"), ({"network": True}, "made")])
async def test_it_has_the_network_only_where_its_settings_say_so(
    connect: Connect, settings: dict[str, bool], made: str
) -> None:
    async with opened(connect(settings=settings)) as client:
        answer = await client.call("socket", {}, timeout_s=5)

    assert answer.content[0].text == made  # type: ignore[union-attr]


async def test_it_works_in_the_folder_of_its_settings(connect: Connect, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with opened(connect(cwd=str(home))) as client:
        told = (await client.call("whoami", {}, timeout_s=5)).content[0].text  # type: ignore[union-attr]

    assert told.split(" ")[1] == str(home)
    assert home.is_dir()


async def test_a_server_that_dies_at_start_is_told_with_its_last_words(connect: Connect) -> None:
    fault = await fails_to_open(connect("dies_at_start"))

    assert isinstance(fault, McpEndedError)
    assert "exit code 1" in str(fault)
    assert "no licence" in str(fault)


async def test_secrets_that_a_server_says_back_are_not_told(connect: Connect) -> None:
    fault = await fails_to_open(connect("dies_at_start", secrets=Secrets({"licence": "licence"})))

    assert "no ***" in str(fault)


async def test_a_server_that_never_greets_is_given_up_in_time(connect: Connect) -> None:
    began = time.monotonic()
    fault = await fails_to_open(connect("hangs_at_start"), timeout_s=0.5)

    assert isinstance(fault, McpTimedOutError)
    assert time.monotonic() - began < 4


@pytest.mark.parametrize("mode", ["misgreets", "old"])
async def test_a_greeting_that_is_none_is_named(connect: Connect, mode: str) -> None:
    assert isinstance(await fails_to_open(connect(mode)), McpProtocolError)


async def test_a_program_that_is_not_there_is_named(connect: Connect) -> None:
    fault = await fails_to_open(connect(command=("no-such-server",)))

    assert isinstance(fault, McpSettingsError)
    assert "no-such-server" in str(fault)


async def test_a_program_outside_the_folders_of_programs_does_not_start(connect: Connect, tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)

    assert isinstance(await fails_to_open(connect(command=(str(script),))), McpNotStartedError)


@pytest.mark.parametrize("cwd", ["/", "relative", "/no/such/folder"])
async def test_a_folder_that_no_server_may_work_in_is_refused(connect: Connect, cwd: str) -> None:
    assert isinstance(await fails_to_open(connect(cwd=cwd)), McpSettingsError)


@pytest.mark.parametrize("asked", [{"cwd": "keys/below"}, {"cwd": "."}, {"settings": {"paths": ["keys"]}}])
async def test_the_keys_of_the_installation_are_closed_to_it(
    connect: Connect, tmp_path: Path, asked: dict[str, Any]
) -> None:
    (tmp_path / "keys/below").mkdir(parents=True)
    if "cwd" in asked:
        asked = {"cwd": str(tmp_path / asked["cwd"])}
    else:
        asked = {"settings": {"paths": [str(tmp_path / "keys")]}}

    fault = await fails_to_open(connect(closed=(str(tmp_path / "keys"),), **asked))

    assert isinstance(fault, McpSettingsError)
    assert "keys and records" in str(fault)


async def test_a_server_that_dies_in_a_call_is_told_with_its_exit_code(connect: Connect) -> None:
    fault = await fails_to_call(connect(), "die")

    assert isinstance(fault, McpEndedError)
    assert "exit code 7" in str(fault)
    assert "out of luck" in str(fault)


async def test_a_server_that_hangs_is_left_in_time_and_ended(connect: Connect) -> None:
    began = time.monotonic()
    fault = await fails_to_call(connect(), "hang", timeout_s=0.3)

    assert isinstance(fault, McpTimedOutError)
    assert time.monotonic() - began < 5


async def test_a_server_that_floods_with_messages_is_cut_off(connect: Connect) -> None:
    assert isinstance(await fails_to_call(connect(), "flood", timeout_s=20), McpFloodError)


async def test_a_message_without_end_is_cut_off(connect: Connect) -> None:
    assert isinstance(await fails_to_call(connect(), "endless_line", timeout_s=20), McpFloodError)


async def test_a_broken_message_ends_the_connection_and_is_shown(connect: Connect) -> None:
    fault = await fails_to_call(connect(), "rubbish")

    assert isinstance(fault, McpProtocolError)
    assert "jsonrpc" in str(fault)


async def test_a_greeting_on_the_wrong_stream_is_passed_over_and_remembered(connect: Connect) -> None:
    async with opened(connect("greets")) as client:
        await client.call("echo", {"text": "x"}, timeout_s=5)
        remarks = client.remarks

    assert "Server is ready!" in remarks


async def test_chatter_on_the_wrong_stream_is_too_much_in_the_end(connect: Connect) -> None:
    fault = await fails_to_call(connect(), "chatter")

    assert isinstance(fault, McpProtocolError)
    assert "calculating" in str(fault)


async def test_an_error_of_the_protocol_is_a_refusal(connect: Connect) -> None:
    fault = await fails_to_call(connect(), "refuse")

    assert isinstance(fault, McpRefusedError)
    assert "unknown tool" in str(fault)


async def test_an_answer_of_another_form_is_named(connect: Connect) -> None:
    assert isinstance(await fails_to_call(connect(), "misanswer"), McpProtocolError)


async def test_a_server_that_wants_our_model_is_told_that_it_has_none(connect: Connect) -> None:
    async with opened(connect()) as client:
        answer = await client.call("ask", {}, timeout_s=5)

    assert answer.structured_content == {"count": 7}


async def test_a_cancelled_call_leaves_the_connection_open(connect: Connect) -> None:
    async with opened(connect("normal")) as client:
        calling = asyncio.create_task(client.call("hang", {}, timeout_s=30))
        await asyncio.sleep(0.1)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert client.is_alive


async def test_a_cancelled_opening_leaves_no_process(connect: Connect, tmp_path: Path) -> None:
    opening = asyncio.create_task(fails_to_open(connect("hangs_at_start", cwd=str(tmp_path)), timeout_s=30))
    await asyncio.sleep(0.5)
    opening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await opening

    assert not any(str(tmp_path) in _cwd(entry) for entry in os.listdir("/proc") if entry.isdigit())


def _cwd(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
