"""A call that is cancelled wherever it waits, stage by stage: it has one end on record, and an answer."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
import uvloop

from apps.firewall.runtime.abort import Abort, CallAbortedError
from apps.firewall.runtime.call import Call, CallResult, Deferral
from apps.firewall.runtime.halts.matching import Halt
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.ports import Ports
from apps.firewall.runtime.testing import FakeHalts, FakeWorld, LedgerDownError, call_of
from tests.firewall.runtime.test_invoke import world
from tests.stepping import Stepped

WAITS_LIMIT = 200
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
IN_CONTEXT = {"session_key": "agent:bot:main"}


class Waiting:
    """A port whose every step waits before it does its work, and after."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def step(*args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0)
            result = await asyncio.ensure_future(found(*args, **kwargs))
            await asyncio.sleep(0)
            return result

        return step


def waiting(ports: Ports) -> Ports:
    kept = {"clock", "snapshots", "halts", "tool_states"}
    slow: dict[str, Any] = {
        each.name: Waiting(getattr(ports, each.name)) for each in fields(ports) if each.name not in kept
    }
    return replace(ports, **slow)


@dataclass(frozen=True)
class Way:
    """A call and the ends that are right for it when nobody disturbs it."""

    world: Callable[[], FakeWorld]
    call: Callable[[], Call]
    ends: frozenset[str]


def halted() -> FakeWorld:
    here = world()
    here.halts = FakeHalts(halts=(Halt(scope="environment", name="", reason="now"),))
    return here


def failing() -> FakeWorld:
    here = world()
    here.executor.answer = RuntimeError("a defect")
    return here


WAYS = {
    "it runs": Way(world, lambda: call_of("read", path="a"), frozenset({"completed"})),
    "its tool fails": Way(failing, lambda: call_of("read", path="a"), frozenset({"failed"})),
    "a command runs": Way(world, lambda: call_of("exec", command="ls"), frozenset({"completed"})),
    "the policy denies it": Way(
        lambda: world(deny=("read",)), lambda: call_of("read", path="a"), frozenset({"denied"})
    ),
    "it is stopped": Way(halted, lambda: call_of("read", path="a"), frozenset({"denied"})),
    "its params are wrong": Way(world, lambda: call_of("read"), frozenset({"denied"})),
    "a person is asked": Way(
        lambda: world(approvals={}), lambda: call_of("exec", command="ls"), frozenset({"awaiting_approval"})
    ),
    "it is queued": Way(
        world, lambda: replace(call_of("exec", command="ls"), deferral=Deferral()), frozenset({"queued"})
    ),
    "a person is asked before it is queued": Way(
        lambda: world(approvals={}),
        lambda: replace(call_of("exec", command="ls"), deferral=Deferral()),
        frozenset({"awaiting_approval"}),
    ),
}


async def disturbed(
    work: Callable[[Abort], Coroutine[Any, Any, CallResult]], *, at: int, is_asked: bool
) -> tuple[CallResult, bool]:
    """Run a call, cancel it when it waits for the nth time, and say how it ended and whether it came so far."""
    abort = Abort()

    def cancel() -> None:
        if is_asked:
            abort.ask(by="user:olga", reason="stopped")
        asyncio.get_running_loop().call_soon(task.cancel)

    stepped = Stepped(work(abort), at=at, disturb=cancel)

    async def run() -> CallResult:
        try:
            result: CallResult = await stepped
            return result
        except CallAbortedError as exc:
            return exc.result

    task = asyncio.ensure_future(run())
    async with asyncio.timeout(20):
        return await task, stepped.was_disturbed


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("is_asked", [True, False], ids=["somebody ends it", "its process ends"])
@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_is_cancelled_wherever_it_waits_has_one_end_and_an_answer(
    way: str, is_asked: bool, loop: str
) -> None:
    cancels = {"cancelled"} if is_asked else {"failed", "denied"}

    async def all_waits() -> int:
        for at in range(1, WAITS_LIMIT):
            here = WAYS[way].world()
            ports, call = waiting(here.ports), WAYS[way].call()
            result, was_disturbed = await disturbed(
                lambda abort, ports=ports, call=call: invoke(call, ports, abort=abort),  # type: ignore[misc]
                at=at,
                is_asked=is_asked,
            )
            ends = [status for kind, status in here.ledger.kinds if kind != "call_intent"]
            handed_over = [*here.approvals.asked, *here.queue.waiting]
            assert result.status in WAYS[way].ends | cancels, (at, result)
            assert ends == ([] if handed_over else [result.status]), (at, here.ledger.kinds)
            assert bool(handed_over) == (result.status in {"awaiting_approval", "queued"}), (at, result)
            if not was_disturbed:
                assert result.status in WAYS[way].ends
                return at
        raise AssertionError("it never came to its end")

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        assert runner.run(all_waits()) > 1, "it was cancelled nowhere"


@pytest.mark.parametrize("is_asked", [True, False], ids=["somebody ends it", "its process ends"])
async def test_an_allowed_call_that_is_cancelled_wherever_it_waits_has_one_end(is_asked: bool) -> None:
    asking = world(approvals={})
    await invoke(call_of("exec", command="ls"), asking.ports)
    (request,) = asking.approvals.asked

    for at in range(1, WAITS_LIMIT):
        here = world(approvals={})
        ports = waiting(here.ports)
        result, was_disturbed = await disturbed(
            lambda abort, ports=ports: resume(  # type: ignore[misc]
                request.action, approval_id=request.call.id, ports=ports, abort=abort
            ),
            at=at,
            is_asked=is_asked,
        )
        ends = [status for kind, status in here.ledger.kinds if kind != "call_intent"]
        assert ends == [result.status], at
        if not was_disturbed:
            assert result.status == "completed"
            return
    raise AssertionError("it never came to its end")


async def test_a_call_that_is_cancelled_while_the_ledger_refuses_it_is_answered() -> None:
    for at in range(1, WAITS_LIMIT):
        here = world(deny=("read",))
        here.ledger.refuses = {"denial"}
        ports = waiting(here.ports)
        result, was_disturbed = await disturbed(
            lambda abort, ports=ports: invoke(call_of("read", path="a"), ports, abort=abort),  # type: ignore[misc]
            at=at,
            is_asked=True,
        )
        assert result.error is not None
        assert result.error["code"] in {LedgerDownError.code, "stopped"}
        if not was_disturbed:
            return
    raise AssertionError("it never came to its end")
