"""Processes that stay: spoken with through their streams, held to the same limits, gone with the block."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

import pytest

from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.pipes import PipedProcess, piped_process

pytestmark = pytest.mark.unhurried

ECHO = "import sys\nfor line in sys.stdin.buffer:\n    sys.stdout.buffer.write(line.upper())\n    sys.stdout.flush()"


def running(
    code: str, where: Path, *, time_limit_s: float = 60.0, limits: Limits | None = None
) -> contextlib.AbstractAsyncContextManager[PipedProcess]:
    return piped_process(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=str(where),
        env={"LANG": "C.UTF-8"},
        limits=limits or Limits(cpu_s=10, processes=16),
        time_limit_s=time_limit_s,
        error_limit_bytes=2048,
    )


async def ended(process: PipedProcess) -> None:
    async with asyncio.timeout(60):
        await process.ended.wait()


def alive(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


async def test_what_is_written_is_answered_as_often_as_one_likes(tmp_path: Path) -> None:
    async with running(ECHO, tmp_path) as process:
        for word in (b"one\n", b"two\n"):
            await process.write(word)
            assert await process.read() == word.upper()


async def test_it_ends_by_itself_when_its_input_closes(tmp_path: Path) -> None:
    async with running(ECHO, tmp_path) as process:
        await process.write(b"hello\n")
        await process.read()

    assert (process.how, process.exit_code) == ("ended", 0)


async def test_its_whole_tree_is_gone_after_the_block_though_it_refuses_to_end(tmp_path: Path) -> None:
    marker = f"stubborn-{tmp_path.name}"
    code = (
        "import os, signal, sys, time\n"
        f"{marker!r}\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n    os.setsid()\n"
        "print('here', flush=True)\ntime.sleep(60)"
    )
    async with running(code, tmp_path) as process:
        assert b"here" in await process.read()
        assert alive(marker)

    assert process.how == "stopped"
    assert not alive(marker)


async def test_a_block_left_by_a_mistake_ends_it_too(tmp_path: Path) -> None:
    marker = f"mistake-{tmp_path.name}"
    with pytest.raises(ZeroDivisionError):
        async with running(f"{marker!r}\nprint(1, flush=True)\nimport time; time.sleep(60)", tmp_path) as process:
            await process.read()
            raise ZeroDivisionError

    assert not alive(marker)


async def test_a_cancelled_block_ends_it_too(tmp_path: Path) -> None:
    marker = f"cancelled-{tmp_path.name}"
    started = asyncio.Event()

    async def stay() -> None:
        async with running(f"{marker!r}\nprint(1, flush=True)\nimport time; time.sleep(60)", tmp_path) as process:
            await process.read()
            started.set()
            await process.ended.wait()

    staying = asyncio.create_task(stay())
    await started.wait()
    staying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await staying

    assert not alive(marker)


async def test_a_death_is_told_with_its_exit_code_and_last_words(tmp_path: Path) -> None:
    code = "import sys\nprint('no key', file=sys.stderr)\nsys.exit(3)"
    async with running(code, tmp_path) as process:
        assert await process.read() == b""
        await ended(process)

    assert (process.how, process.exit_code) == ("ended", 3)
    assert process.errors().text() == "no key\n"


async def test_a_signal_that_ended_it_is_told(tmp_path: Path) -> None:
    async with running("import os\nos.kill(os.getpid(), 9)", tmp_path) as process:
        await ended(process)

    assert process.signal == signal.SIGKILL


async def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    missing = str(tmp_path / "nobody")
    async with piped_process(
        [missing], cwd=str(tmp_path), env={}, limits=Limits(), time_limit_s=60, error_limit_bytes=100
    ) as process:
        assert await process.read() == b""
        await ended(process)

    assert process.how == "not_started"
    assert process.error


async def test_its_time_is_bounded(tmp_path: Path) -> None:
    async with running("import time; time.sleep(60)", tmp_path, time_limit_s=0.3) as process:
        await ended(process)

    assert process.how == "timed_out"


async def test_it_sees_no_file_outside_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("key")
    code = f"try:\n    print(open({str(secret)!r}).read())\nexcept OSError as exc:\n    print(type(exc).__name__)"
    async with running(code, home) as process:
        answer = await process.read()

    assert answer == b"PermissionError\n"


async def test_an_error_stream_without_end_is_kept_at_its_ends_only(tmp_path: Path) -> None:
    code = "import sys\nsys.stderr.write('begin' + 'x' * 2_000_000 + 'finish')\nsys.stderr.flush()"
    async with running(code, tmp_path) as process:
        await ended(process)

    kept = process.errors()
    assert len(kept.head + kept.tail) <= 2048
    assert (kept.head[:5], kept.tail[-6:]) == (b"begin", b"finish")


async def test_one_that_floods_an_unread_output_ends_with_the_block(tmp_path: Path) -> None:
    async with running("import sys\nwhile True:\n    sys.stdout.write('x' * 65536)", tmp_path) as process:
        await process.read()

    assert process.how == "stopped"


async def test_writing_to_one_that_is_gone_is_a_named_error(tmp_path: Path) -> None:
    async with running("pass", tmp_path) as process:
        await ended(process)
        with pytest.raises(ConnectionError):
            for _ in range(20):
                await process.write(b"x" * 65536)


async def test_one_that_is_told_to_end_is_gone_at_once(tmp_path: Path) -> None:
    marker = f"told-{tmp_path.name}"
    code = f"{marker!r}\nimport signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)"
    async with running(f"{code}\ntime.sleep(60)", tmp_path, time_limit_s=60) as process:
        await process.read()
        process.end()
        async with asyncio.timeout(30):
            await process.ended.wait()

        assert (process.how, alive(marker)) == ("stopped", [])


async def test_one_that_reserves_is_held_by_the_kernel_to_what_it_may_write_to(tmp_path: Path) -> None:
    code = """
import mmap
kept = mmap.mmap(-1, 2_000_000_000, flags=mmap.MAP_SHARED)
try:
    bytearray(200_000_000)
except MemoryError:
    print("refused")
"""
    async with piped_process(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=str(tmp_path),
        env={},
        limits=Limits(),
        time_limit_s=60,
        error_limit_bytes=2048,
        reserves=True,
        data_bytes=100_000_000,
    ) as process:
        assert await process.read() == b"refused\n"
