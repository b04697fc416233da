"""Replay: the same as deciding again, and unknown only where the record leaves it open."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.completions import COMPLETIONS_MOST, DIMENSIONS, completions
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import classes_of
from apps.firewall.engine.decide import decide
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.recorded import MEMBERS, RecordedContext, bare_context
from apps.firewall.engine.replay import (
    NOT_ASKED,
    OPEN,
    UNEXPLAINED,
    Change,
    RecordedCall,
    Replayer,
    change_of,
    policy_answer,
)
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from tests.firewall.engine.environments import CORE, contexts, sources

TELLABLE = ("model", "owner", "sandbox", "depth")


def record(snapshot: Snapshot, context: CallContext, tool: str, *, lacks: frozenset[str] = frozenset()) -> RecordedCall:
    """Decide a call and keep what a ledger keeps of it."""
    decision = decide(snapshot, context, tool)
    forgotten: dict[str, Any] = {field.name: field.default for field in fields(CallContext) if field.name in lacks}
    kept = RecordedContext(replace(context, **forgotten), lacks)
    return RecordedCall(kept, tool, "" if decision.allowed else decision.layer or "", snapshot.digest)


def replayed(now: Snapshot, draft: Snapshot, call: RecordedCall) -> tuple[Change, str]:
    outcome = Replayer(now, draft, decider=lambda _digest: None).replay(call)
    return outcome.change, outcome.reason


def truth(now: Snapshot, draft: Snapshot, context: CallContext, call: RecordedCall) -> Change:
    verdicts = (policy_answer(snapshot, context, call).verdict for snapshot in (now, draft))
    return change_of(*verdicts)


@settings(max_examples=80)
@given(sources(), sources(), contexts(), st.sampled_from(CORE))
def test_a_whole_record_is_decided_again(
    source: SnapshotSource, other: SnapshotSource, context: CallContext, tool: str
) -> None:
    now, draft = build_snapshot(source), build_snapshot(other)
    call = record(now, context, tool)
    assert replayed(now, draft, call) == (truth(now, draft, context, call), "")
    assert replayed(now, now, call) == ("same", "")


@settings(max_examples=80)
@given(sources(), sources(), contexts(), st.sampled_from(CORE), st.sets(st.sampled_from(TELLABLE)))
def test_what_a_record_lacks_makes_no_answer_wrong_and_flips_nothing_of_what_is_live(
    source: SnapshotSource, other: SnapshotSource, context: CallContext, tool: str, dropped: set[str]
) -> None:
    now, draft = build_snapshot(source), build_snapshot(other)
    lacks = frozenset(name for each in DIMENSIONS if each.name in dropped for name in each.members)
    context = _in_class(context)
    call = record(now, context, tool, lacks=lacks)
    change, reason = replayed(now, draft, call)
    if change == "unknown":
        assert reason in {*dropped, OPEN}
    else:
        assert change == truth(now, draft, context, call)
    assert replayed(now, now, call)[0] in ("same", "unknown")
    if len(completions(call.context, classes_of(now))):
        assert replayed(now, now, call) == ("same", "")


def _in_class(context: CallContext) -> CallContext:
    """Keep a depth that some policy may tell apart: deeper ones are like the deepest."""
    return replace(context, subagent_depth=min(context.subagent_depth, 1))


def environment(*, allow_openai: bool = True, deny: tuple[str, ...] = ()) -> Snapshot:
    provider = Policy(deny=None if allow_openai else ("exec",))
    return build_snapshot(
        SnapshotSource(
            tools=[ToolEntry("read"), ToolEntry("exec")],
            by_provider=[("openai", provider)],
            agents=[AgentSource("bot", policy=Policy(deny=deny))],
        )
    )


def test_a_record_without_context_is_unknown_where_the_policy_needs_what_it_lacks() -> None:
    now, draft = environment(), environment(allow_openai=False)
    context = bare_context(agent="bot", session_key="agent:bot:main", channel="", sender="")
    call = RecordedCall(replace(context, lacks=frozenset({"provider", "model_id"})), "exec", "", now.digest)
    assert replayed(now, draft, call) == ("unknown", "model")
    assert replayed(now, draft, replace(call, tool="read")) == ("same", "")
    known = replace(call, context=RecordedContext(CallContext(agent_id="bot", provider="openai")))
    assert replayed(now, draft, known) == ("blocked", "")


def test_it_says_by_what_a_call_would_be_refused() -> None:
    now, draft = environment(), environment(deny=("exec",))
    call = record(now, CallContext(agent_id="bot"), "exec")
    outcome = Replayer(now, draft, decider=lambda _digest: None).replay(call)
    assert outcome.draft is not None
    assert (outcome.change, outcome.draft.layer, outcome.draft.rule) == (
        "blocked",
        "agent",
        "agents.bot.tools.deny exec",
    )
    back = Replayer(draft, now, decider=lambda _digest: None).replay(record(draft, CallContext(agent_id="bot"), "exec"))
    assert (back.change, back.now) == ("allowed", outcome.draft)


def test_a_record_that_its_own_snapshot_does_not_explain_is_unknown() -> None:
    now = environment()
    call = replace(record(now, CallContext(agent_id="bot"), "exec"), denied_by="agent")
    assert replayed(now, now, call) == ("unknown", UNEXPLAINED)


def test_a_call_that_no_policy_was_asked_about_is_unknown() -> None:
    now = environment()
    call = replace(record(now, CallContext(agent_id="bot"), "exec"), digest="")
    assert replayed(now, now, call) == ("unknown", NOT_ASKED)


def test_what_an_earlier_snapshot_decided_is_compared_with_what_is_live() -> None:
    earlier, now = environment(deny=("exec",)), environment()
    call = record(earlier, CallContext(agent_id="bot"), "exec")
    outcome = Replayer(now, now, decider={earlier.digest: earlier}.get).replay(call)
    assert outcome.change == "same"
    assert outcome.now is not None and outcome.now.verdict == "allowed"


def test_before_the_first_publication_the_record_alone_says_what_was() -> None:
    draft = environment(deny=("exec",))
    call = RecordedCall(RecordedContext(CallContext(agent_id="bot")), "exec", "", "0" * 64)
    assert Replayer(None, draft, decider=lambda _digest: None).replay(call).change == "blocked"


@pytest.mark.parametrize("lacks", [MEMBERS, frozenset({"session_key"})])
def test_a_record_that_leaves_too_much_open_has_no_completions(lacks: frozenset[str]) -> None:
    assert completions(RecordedContext(CallContext(), lacks), classes_of(environment())) == ()


def test_completions_are_bounded_and_begin_with_what_is_known() -> None:
    lacks = frozenset({"provider", "model_id", "sender_is_owner", "sandboxed"})
    context = CallContext(agent_id="bot", session_key="agent:bot:main")
    found = completions(RecordedContext(context, lacks), classes_of(environment()))
    assert found[0] == context
    assert 1 < len(found) <= COMPLETIONS_MOST
    assert len(set(map(repr, found))) == len(found)
