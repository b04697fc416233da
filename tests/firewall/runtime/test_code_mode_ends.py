"""How runs of code end: by their time, by their memory, by whoever waits for them; and that nothing is left of them."""

import asyncio
import contextlib
import os
import signal
from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.runtime.code_mode.results import CodeUnavailableError
from apps.firewall.sandbox.levels import Part, offer
from apps.firewall.sandbox.node import node_problem, program_problem
from tests.firewall.runtime.coding import NEEDS_NODE, TIME_MS, Desk, for_ever, nodes, pool_of, run

pytestmark = NEEDS_NODE

ENDLESS = {
    "before it waits": "for (;;) {}",
    "after it waited": "await openclaw.tools.search('x'); for (;;) {}",
    "in what follows a promise": "await null; await new Promise(() => Promise.resolve().then(() => { for (;;) {} }))",
    "by microtasks": "for (;;) await null",
    "by waiting for nothing": "await new Promise(() => {})",
    "by waiting for the bridge": "await openclaw.tools.call('x')",
    "by blocking its thread": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    "in a pattern": "return /^(a+)+$/.test('a'.repeat(60) + '!')",
    "while its result is written": "return { toJSON() { for (;;) {} } }",
    "while it is asked": "openclaw.tools.call('x'); Object.prototype.toJSON = () => { for (;;) {} }; return {}",
}


@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS.keys())
@pytest.mark.slow
async def test_code_without_end_is_ended_by_its_time(code: str) -> None:
    desk = Desk(call=for_ever)
    async with pool_of(size=1) as pool:
        await pool.warm()
        result = await pool.run(code, desk, timeout_ms=400)

    assert result.error is not None
    assert (result.ended, result.error.code) == ("timed_out", "code_timed_out")
    assert result.duration_ms >= 400
    assert len(desk.ended) == len(desk.asked)
    assert not nodes()


@pytest.mark.parametrize(
    "code",
    [
        "const all = []; for (;;) all.push({ all })",
        "let text = 'x'; for (;;) text += text + 'y'.repeat(1e6) + text.length",
        "const all = []; for (let n = 0; ; n++) all.push('x'.repeat(1e6).toUpperCase())",
        "await openclaw.tools.search('x'); const all = []; for (;;) all.push(new Map([[{}, []]]))",
        "for (;;) new Promise(() => {}).then(() => {}), Promise.resolve().then(function more() { return more })",
    ],
)
@pytest.mark.slow
async def test_code_that_takes_too_much_memory_is_ended(code: str) -> None:
    result = await run(code)

    assert result.ended in {"memory_limit", "threw"}
    assert not nodes()


async def test_buffers_outside_the_heap_are_counted() -> None:
    result = await run(
        """
        const all = [];
        try { for (;;) all.push(new Uint8Array(1e7).fill(1)) } catch {}
        return all.length * 10;
        """
    )

    assert result.ended == "memory_limit" or result.value < 256


async def test_the_time_is_that_of_all_of_it() -> None:
    """Waiting for room counts, too."""
    async with pool_of(size=1, at_once=1) as pool:
        desk = Desk(call=for_ever)
        first = asyncio.create_task(pool.run("await openclaw.tools.call('x')", desk, timeout_ms=TIME_MS))
        await desk.began.wait()

        second = await pool.run("return 1", Desk(), timeout_ms=200)
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first

    assert second.ended == "timed_out"


@pytest.mark.parametrize("code", ["return 1", "throw 1", "}{", "const all = []; for (;;) all.push([all])"])
@pytest.mark.slow
async def test_what_it_waits_for_is_cancelled_when_it_ends(code: str) -> None:
    desk = Desk(call=for_ever)
    await run(f"openclaw.tools.call('x'); openclaw.tools.call('y'); {code}", desk)

    assert desk.cancelled == ["call"] * len(desk.asked)


async def test_what_takes_a_while_to_be_cancelled_is_waited_for() -> None:
    tidied = []

    async def slow(asked: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.1)
            tidied.append(1)

    await run("openclaw.tools.call('x'); await openclaw.tools.search('y'); return 1", Desk(call=slow))

    assert tidied == [1]


async def test_a_cancelled_run_ends_its_tree_and_what_it_waits_for() -> None:
    desk = Desk(call=for_ever)
    async with pool_of(size=0) as pool:
        running = asyncio.create_task(pool.run("await openclaw.tools.call('x')", desk, timeout_ms=TIME_MS))
        await desk.began.wait()
        assert nodes()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

        assert (desk.cancelled, nodes()) == (["call"], set())


async def test_closing_ends_what_runs_and_what_is_ready() -> None:
    desk = Desk(call=for_ever)
    async with pool_of(size=2) as pool:
        await pool.warm()
        running = asyncio.create_task(pool.run("await openclaw.tools.call('x')", desk, timeout_ms=TIME_MS))
        await desk.began.wait()
        assert len(nodes()) >= 2
        await pool.close()
        assert not nodes()
        result = await running

    assert (result.ended, desk.cancelled) == ("killed", ["call"])
    with pytest.raises(CodeUnavailableError, match="not run any more"):
        await pool.run("return 1", Desk(), timeout_ms=TIME_MS)


async def test_closing_while_processes_start_leaves_none() -> None:
    async with pool_of(size=2) as pool:
        running = asyncio.create_task(pool.run("return 1", Desk(), timeout_ms=TIME_MS))
        await asyncio.sleep(0)
        await pool.close()

        assert not nodes()
        with pytest.raises(CodeUnavailableError):
            await running


async def test_each_process_is_used_once_and_another_takes_its_place() -> None:
    async with pool_of(size=2) as pool:
        await pool.warm()
        before = nodes()
        await pool.run("return 1", Desk(), timeout_ms=TIME_MS)
        await pool.warm()
        after = nodes()

    assert len([pid for pid in before if pid in after]) < len(before)
    assert len(after) == len(before)


async def test_processes_that_nobody_uses_are_let_go() -> None:
    async with pool_of(size=1, idle_s=0.2) as pool:
        await pool.warm()
        async with asyncio.timeout(60):
            while nodes():
                await asyncio.sleep(0.05)

        assert (await pool.run("return 1", Desk(), timeout_ms=TIME_MS)).value == 1


async def test_a_process_that_died_while_it_waited_is_not_kept() -> None:
    async with pool_of(size=1) as pool:
        await pool.warm()
        for pid in nodes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await pool.run("return 1", Desk(), timeout_ms=TIME_MS)  # its death may not have been heard of yet
        result = await pool.run("return 1", Desk(), timeout_ms=TIME_MS)

    assert result.value == 1


async def test_without_walls_nothing_runs() -> None:
    bare = replace(
        offer(),
        bubblewrap=Part("bubblewrap", "bwrap is not installed"),
        landlock=Part("landlock", "the kernel has none"),
    )
    async with pool_of(offered=bare) as pool:
        assert "the kernel has none" in pool.problem()
        with pytest.raises(CodeUnavailableError, match="bwrap is not installed") as refused:
            await pool.run("return 1", Desk(), timeout_ms=TIME_MS)
        with pytest.raises(CodeUnavailableError):
            await pool.warm()

    assert refused.value.code == "code_isolation_unavailable"
    assert not nodes()


async def test_without_seccomp_nothing_runs() -> None:
    bare = replace(offer(), seccomp=Part("seccomp", "the kernel has no seccomp filters"))
    async with pool_of(offered=bare) as pool:
        assert "no seccomp filters" in pool.problem()


async def test_without_node_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.firewall.sandbox.node.node", lambda: "")
    program_problem.cache_clear()
    try:
        assert "Node is not installed" in node_problem()
        async with pool_of() as pool:
            with pytest.raises(CodeUnavailableError, match="Node is not installed"):
                await pool.run("return 1", Desk(), timeout_ms=TIME_MS)
    finally:
        program_problem.cache_clear()


@pytest.mark.skipif(bool(offer().landlock.problem), reason="no Landlock")
async def test_landlock_holds_it_where_bubblewrap_is_missing() -> None:
    here = replace(offer(), bubblewrap=Part("bubblewrap", "bwrap is not installed"))
    async with pool_of(size=0, offered=here) as pool:
        assert pool.problem() == ""
        result = await pool.run("return 1", Desk(), timeout_ms=TIME_MS)

    assert result.value == 1
