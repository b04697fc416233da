"""The kill switch in the path of a call: what it meets, when it is asked, and the first step back."""

from dataclasses import replace

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.runtime.halts.matching import Aim, Halt, aim_of, halt_for
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.testing import FakeHalts, FakeWorld, call_of
from tests.firewall.runtime.test_invoke import code, snapshot


def world(*halts: Halt, after: int = 0) -> FakeWorld:
    return FakeWorld(snapshot(), halts=FakeHalts(halts, after))


@pytest.mark.parametrize(
    "halt",
    [
        Halt(scope="environment"),
        Halt(scope="agent", name="bot"),
        Halt(scope="channel", name="telegram"),
        Halt(scope="tool", name="read"),
    ],
)
async def test_a_stopped_call_is_a_denial_that_says_so(halt: Halt) -> None:
    here = world(replace(halt, reason="it deletes things"))

    result = await invoke(call_of("read", path="a"), here.ports)

    assert code(result) == "stopped"
    assert result.error is not None and result.error["message"].endswith("are stopped: it deletes things")
    assert (here.executor.actions, here.ledger.kinds) == ([], [("denial", "denied")])
    judgement = here.ledger.notes[0].judgement
    assert (judgement.layer, judgement.rule) == ("kill_switch", halt.rule)


async def test_others_go_on() -> None:
    here = world(
        Halt(scope="agent", name="ops-runner"), Halt(scope="tool", name="exec"), Halt(scope="channel", name="slack")
    )
    call = replace(call_of("read", path="a"), context=CallContext(channel="telegram"))

    assert (await invoke(call, here.ports)).status == "completed"


async def test_a_tool_that_the_agent_must_not_know_is_not_found_stopped_or_not() -> None:
    here = world(Halt(scope="environment"))

    assert code(await invoke(call_of("launch_rocket"), here.ports)) == "tool_not_found"


async def test_a_stop_that_comes_while_a_call_is_on_its_way_meets_it_right_before_it_runs() -> None:
    here = world(Halt(scope="environment"), after=2)

    assert code(await invoke(call_of("read", path="a"), here.ports)) == "stopped"
    assert (here.executor.actions, here.ledger.kinds) == ([], [("denial", "denied")])


async def test_a_call_that_was_allowed_before_the_stop_does_not_run() -> None:
    here = world(Halt(scope="environment", state="asking"))
    asked = await invoke(call_of("read", path="a"), here.ports)
    (request,) = here.approvals.asked

    here.halts.halts = (Halt(scope="environment"),)
    assert asked.asked is not None
    result = await resume(request.action, approval_id=asked.asked.id, ports=here.ports)

    assert code(result) == "stopped"
    assert here.executor.actions == []


async def test_on_the_way_back_every_call_asks_once_and_a_yes_lets_it_run() -> None:
    here = world(Halt(scope="agent", name="bot", state="asking", reason="look at each"))

    asked = await invoke(call_of("read", path="a"), here.ports)

    assert asked.status == "awaiting_approval"
    (request,) = here.approvals.asked
    assert request.wish is not None and request.wish.decisions == ("allow-once", "deny")
    assert (request.judgement.layer, "look at each" in request.wish.description) == ("kill_switch", True)
    assert asked.asked is not None

    result = await resume(request.action, approval_id=asked.asked.id, ports=here.ports)
    assert result.status == "completed"


async def test_what_was_queued_before_does_not_run_unasked_on_the_way_back() -> None:
    here = world()
    await invoke(call_of("read", path="a"), here.ports)
    (action,) = here.executor.actions
    here.halts.halts = (Halt(scope="environment", state="asking"),)

    result = await resume(action, approval_id=None, ports=here.ports)

    assert code(result) == "stopped"
    assert len(here.executor.actions) == 1


def test_the_strictest_and_of_these_the_widest_stop_is_named() -> None:
    aim = Aim(agent="main", tool="exec", channels=frozenset({"telegram"}))
    halts = [
        Halt(scope="environment", state="asking"),
        Halt(scope="tool", name="exec"),
        Halt(scope="agent", name="main"),
    ]

    found = halt_for(halts, aim)

    assert found is not None and found.rule == "agent:main"
    assert halt_for([], aim) is None


@pytest.mark.parametrize(
    ("context", "is_met"),
    [
        (CallContext(channel="Telegram "), True),
        (CallContext(channel="slack"), False),
        (CallContext(session_key="agent:main:telegram:group:-100"), True),
        (CallContext(channel="slack", session_key="agent:main:telegram:group:-100"), True),
        (CallContext(session_key="agent:main:slack:channel:c1"), False),
        (CallContext(session_key="agent:main:main"), True),
        (CallContext(), True),
    ],
)
def test_a_channel_counts_however_it_is_told_and_an_unknown_one_may_be_any(context: CallContext, is_met: bool) -> None:
    aim = aim_of(context, agent="main", tool="exec", release="2026.9")

    assert (halt_for([Halt(scope="channel", name="telegram")], aim) is not None) == is_met


def test_an_alias_is_no_way_around_the_stop_of_a_tool() -> None:
    aim = aim_of(CallContext(), agent="main", tool="bash", release="2026.9")

    assert halt_for([Halt(scope="tool", name="exec")], aim) is not None
