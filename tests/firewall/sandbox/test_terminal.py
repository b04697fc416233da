"""Commands that are spoken with while they run, by pipes and by a terminal of their own; real processes."""

import asyncio
import sys
from pathlib import Path

import pytest

from apps.firewall.sandbox.leash import InputClosedError, InputFullError, Leash
from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import ProcessResult, run_process

pytestmark = [pytest.mark.unhurried, pytest.mark.every_loop]
PATH = "/usr/local/bin:/usr/bin:/bin"


class Spoken:
    """A command with what it has said so far."""

    def __init__(self, argv: list[str], where: Path, leash: Leash, **changes: object) -> None:
        self.said = b""
        self.leash = leash
        options: dict[str, object] = {
            "cwd": str(where),
            "env": {"PATH": PATH, "TERM": "xterm"},
            "limits": Limits(cpu_s=10, processes=32),
            "time_limit_s": 60.0,
            "output_limit_bytes": 65536,
        }
        self.task: asyncio.Task[ProcessResult] = asyncio.ensure_future(
            run_process(argv, **{**options, **changes}, watch=self._watch, leash=leash)  # type: ignore[arg-type]
        )

    def _watch(self, stream: str, part: bytes) -> bytes:
        self.said += part
        return part

    async def listens(self) -> None:
        async with asyncio.timeout(60):
            while not self.leash.is_open:
                await asyncio.sleep(0.01)

    async def says(self, text: bytes) -> None:
        async with asyncio.timeout(60):
            while text not in self.said:
                assert not self.task.done() or text in self.said, (self.said, self.task.result())
                await asyncio.sleep(0.01)


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


async def test_a_command_reads_what_is_written_to_it_until_that_was_all(tmp_path: Path) -> None:
    cat = Spoken(["/bin/cat"], tmp_path, Leash())
    await cat.listens()
    assert await cat.leash.write(b"one\n")
    await cat.says(b"one\n")
    assert await cat.leash.write(b"two\n", is_last=True)
    result = await cat.task
    assert (result.ended, result.exit_code, result.stdout.head) == ("ended", 0, b"one\ntwo\n")
    with pytest.raises(InputClosedError):
        await cat.leash.write(b"three\n")


async def test_its_end_can_be_asked_for_and_is_that_of_its_whole_tree(tmp_path: Path) -> None:
    code = "trap '' TERM HUP INT; sleep 61 & echo ready; while :; do sleep 62; done"
    stubborn = Spoken(["/bin/sh", "-c", code], tmp_path, Leash())
    await stubborn.says(b"ready")
    stubborn.leash.end()
    result = await asyncio.wait_for(stubborn.task, 60)
    assert (result.ended, result.stdout.head) == ("stopped", b"ready\n")
    with pytest.raises(InputClosedError):
        await stubborn.leash.write(b"x")


@pytest.mark.slow
async def test_what_nobody_reads_is_refused_beyond_a_limit(tmp_path: Path) -> None:
    deaf = Spoken(["/bin/sleep", "63"], tmp_path, Leash())
    await deaf.listens()
    assert not await deaf.leash.write(b"x" * 200_000)
    with pytest.raises(InputFullError):
        await deaf.leash.write(b"x" * 200_000)
    deaf.leash.end()
    assert (await deaf.task).ended == "stopped"


@pytest.mark.parametrize("isolated", [False, True])
async def test_a_terminal_is_the_commands_own(tmp_path: Path, isolated: bool) -> None:
    if isolated and offer().lacks("isolated"):
        pytest.skip("this machine has no bubblewrap")
    code = (
        "import os; print([os.isatty(n) for n in range(3)], os.get_terminal_size());"
        "terminal = os.open('/dev/tty', os.O_RDWR); os.write(terminal, b'controlling\\n');"
        "print(os.getsid(0) != 0, os.tcgetpgrp(0) == os.getpgrp())"
    )
    run = Spoken(python(code), tmp_path, Leash(has_terminal=True), isolated=isolated, uses_python=True)
    result = await run.task
    said = result.stdout.text()
    assert "[True, True, True] os.terminal_size(columns=120, lines=30)" in said, said
    assert "controlling" in said
    assert "True" in said.splitlines()[-1]
    assert (result.exit_code, result.stderr.head) == (0, b"")


async def test_a_terminal_takes_lines_the_end_and_an_interrupt(tmp_path: Path) -> None:
    cat = Spoken(["/bin/cat"], tmp_path, Leash(has_terminal=True))
    await cat.listens()
    await cat.leash.write(b"hello\r")
    await cat.says(b"hello\r\nhello\r\n")
    await cat.leash.write(b"", is_last=True)
    assert (await asyncio.wait_for(cat.task, 60)).exit_code == 0

    asleep = Spoken(["/bin/sh", "-c", "echo ready; exec sleep 64"], tmp_path, Leash(has_terminal=True))
    await asleep.says(b"ready")
    await asleep.leash.write(b"\x03")
    assert (await asyncio.wait_for(asleep.task, 60)).signal == 2


async def test_escape_sequences_come_as_they_were_written_and_the_last_word_too(tmp_path: Path) -> None:
    code = r"printf '\033]0;title\007\033[31mred\033[0m'; i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done"
    run = Spoken(["/bin/sh", "-c", code + "; printf last"], tmp_path, Leash(has_terminal=True))
    result = await run.task
    assert run.said.startswith(b"\x1b]0;title\x07\x1b[31mred\x1b[0m")
    assert run.said.endswith(b"line 2999\r\nlast")
    assert (result.ended, result.exit_code) == ("ended", 0)


async def test_what_a_terminal_says_waits_for_a_slow_reader_and_is_whole(tmp_path: Path) -> None:
    run = Spoken(python("import sys; sys.stdout.write('x' * 3_000_000)"), tmp_path, Leash(has_terminal=True))
    result = await run.task
    assert (len(run.said), set(run.said), result.exit_code) == (3_000_000, {ord("x")}, 0)


async def test_more_than_a_terminal_holds_is_written_as_the_command_reads(tmp_path: Path) -> None:
    code = (
        "import sys, tty; tty.setraw(0); print('ready', flush=True); left = 100_000\n"
        "while left: left -= len(sys.stdin.buffer.raw.read(left))\nprint('had all')"
    )
    reader = Spoken(python(code), tmp_path, Leash(has_terminal=True))
    await reader.says(b"ready")
    await reader.leash.write(b"y" * 100_000)
    result = await asyncio.wait_for(reader.task, 60)
    assert result.exit_code == 0
    assert b"had all" in reader.said


async def test_a_terminals_command_is_held_to_its_limits_and_to_its_files(tmp_path: Path) -> None:
    bomb = Spoken(
        ["/bin/sh", "-c", "b() { b | b & b; }; b"],
        tmp_path,
        Leash(has_terminal=True),
        limits=Limits(cpu_s=10, processes=20),
    )
    assert (await asyncio.wait_for(bomb.task, 60)).ended == "process_limit"
    late = Spoken(["/bin/sleep", "65"], tmp_path, Leash(has_terminal=True), time_limit_s=0.3)
    assert (await asyncio.wait_for(late.task, 60)).ended == "timed_out"
