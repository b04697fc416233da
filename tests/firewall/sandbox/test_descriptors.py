"""Runs that are cancelled anywhere let go of their own descriptors, each once, and of nobody else's."""

import asyncio
import gc
import os
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.sandbox.descriptor_transport import DescriptorTransport
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import ProcessResult, run_process
from tests.stepping import Stepped

pytestmark = [pytest.mark.unhurried, pytest.mark.every_loop]
WAITS_LIMIT = 60


def cat(where: Path) -> Any:
    return run_process(
        ["/bin/cat"],
        cwd=str(where),
        env={"PATH": "/usr/bin:/bin"},
        limits=Limits(cpu_s=10, processes=32),
        time_limit_s=60.0,
        output_limit_bytes=4096,
        stdin=b"said\n",
    )


def identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


async def cancelled(work: Any, at: int) -> tuple[Stepped, object]:
    """Cancel work when it waits for the nth time, and give how it ended."""

    async def whole() -> object:
        return await stepped

    stepped = Stepped(work, at=at, disturb=lambda: task.cancel())
    task = asyncio.ensure_future(whole())
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    return stepped, outcome


async def test_a_cancelled_run_closes_none_of_what_is_opened_after_it(tmp_path: Path) -> None:
    assert isinstance(await cat(tmp_path), ProcessResult)  # the launcher is up
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    for at in range(1, WAITS_LIMIT):
        stepped, outcome = await cancelled(cat(tmp_path), at)
        later = {descriptor: identity(descriptor) for descriptor in (os.open(tmp_path, os.O_RDONLY) for _ in range(16))}
        was_disturbed = stepped.was_disturbed
        del stepped, outcome
        gc.collect()
        await asyncio.sleep(0)

        assert {descriptor: identity(descriptor) for descriptor in later} == later, f"cancelled at its wait {at}"
        for descriptor in later:
            os.close(descriptor)
        if not was_disturbed:
            break
    else:
        raise AssertionError("it never came to its end")
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


async def test_what_waits_to_be_written_is_written_after_it_was_closed() -> None:
    reading, writing = os.pipe()
    said, told = asyncio.StreamReader(), os.urandom(1_000_000)
    out, into = DescriptorTransport(reading, said), DescriptorTransport(writing)
    writer = into.writer()
    writer.write(told)
    writer.close()
    writer.write(b"too late")

    async with asyncio.timeout(60):
        assert await said.read() == told
    out.abort()
    for descriptor in (reading, writing):
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)


async def test_who_writes_to_what_nobody_reads_hears_of_it() -> None:
    reading, writing = os.pipe()
    into = DescriptorTransport(writing)
    writer = into.writer()
    writer.write(b"x" * 1_000_000)
    waiting = asyncio.ensure_future(writer.drain())
    await asyncio.sleep(0)
    assert not waiting.done()
    os.close(reading)

    async with asyncio.timeout(60):
        with pytest.raises(ConnectionError):
            await waiting
    with pytest.raises(ConnectionError):
        await writer.drain()
    into.abort()
    into.abort()
    assert into.get_write_buffer_size() == 0
