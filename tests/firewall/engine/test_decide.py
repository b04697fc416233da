"""One walk: decide, the list and the explanation never disagree, and nothing is denied without a rule."""

import pytest
from hypothesis import given, settings

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide, explain, explain_tool
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from tests.firewall.engine import straight_pipeline
from tests.firewall.engine.environments import contexts, sources


@pytest.mark.unhurried
@settings(max_examples=120, deadline=None)
@given(sources(), contexts())
def test_every_way_of_asking_gives_the_answer_of_the_straight_pipeline(
    source: SnapshotSource, context: CallContext
) -> None:
    snapshot = build_snapshot(source)
    expected = straight_pipeline.allowed(source, context)
    explanation = explain(snapshot, context)
    assert explanation.error is None
    assert list(allowed_tools(snapshot, context)) == expected
    assert list(explanation.allowed) == expected
    assert [tool for tool in snapshot.tool_names if decide(snapshot, context, tool).allowed] == expected
    assert list(explanation.layers[-1].remaining) == expected
    assert allowed_tools(load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest), context) == tuple(
        expected
    )


@pytest.mark.unhurried
@settings(max_examples=60, deadline=None)
@given(sources(), contexts())
def test_every_denied_tool_names_its_layer_and_rule(source: SnapshotSource, context: CallContext) -> None:
    snapshot = build_snapshot(source)
    explanation = explain(snapshot, context)
    for tool in snapshot.tool_names:
        decision = decide(snapshot, context, tool)
        removal = explanation.removal_of(tool)
        steps = [step for step in explain_tool(snapshot, context, tool) if step.removed_here]
        assert decision.reason
        if decision.allowed:
            assert removal is None
            assert not steps
            continue
        assert removal is not None
        layer, removed = removal
        assert (decision.layer, decision.label, decision.rule) == (layer.key, layer.label, removed.rule)
        assert [(step.key, step.rule) for step in steps] == [(layer.key, removed.rule)]
        if removed.entry is not None:
            assert layer.policy is not None
            assert removed.entry in (layer.policy.deny or ())


def _snapshot(source: SnapshotSource) -> Snapshot:
    source.tools = [ToolEntry(name) for name in ("read", "exec", "gateway")]
    return build_snapshot(source)


def test_an_unknown_tool_is_denied_and_said_to_be_unknown() -> None:
    decision = decide(_snapshot(SnapshotSource()), CallContext(), "nosuchtool")
    assert (decision.allowed, decision.layer) == (False, "unknown_tool")


def test_a_tool_may_be_called_by_an_old_name() -> None:
    assert decide(_snapshot(SnapshotSource()), CallContext(), " Bash").tool == "exec"


def test_several_agents_and_none_named_is_a_denial_that_says_so() -> None:
    snapshot = _snapshot(SnapshotSource(agents=[AgentSource("a"), AgentSource("b")]))
    decision = decide(snapshot, CallContext(), "read")
    assert (decision.allowed, decision.layer) == (False, "agent_required")
    assert allowed_tools(snapshot, CallContext()) == ()
    assert "several agents" in (explain(snapshot, CallContext()).error or "")


def test_the_older_release_needs_no_agent() -> None:
    snapshot = _snapshot(SnapshotSource(dialect="2026.2", agents=[AgentSource("a"), AgentSource("b")]))
    assert decide(snapshot, CallContext(), "read").allowed


def test_an_agent_that_contradicts_the_session_key_is_a_denial() -> None:
    snapshot = _snapshot(SnapshotSource(agents=[AgentSource("a"), AgentSource("b")]))
    decision = decide(snapshot, CallContext(agent_id="a", session_key="agent:b:main"), "read")
    assert (decision.allowed, decision.layer) == (False, "context_contradiction")


def test_a_malformed_session_key_is_a_denial() -> None:
    decision = decide(_snapshot(SnapshotSource()), CallContext(session_key="agent::main"), "read")
    assert not decision.allowed
    assert "malformed" in decision.reason


def test_an_error_on_the_way_is_a_denial_that_says_so() -> None:
    broken = CallContext(agent_id="a", stored_session={"spawnDepth": 1}, subagent_depth="deep")  # type: ignore[arg-type]
    decision = decide(_snapshot(SnapshotSource(agents=[AgentSource("a")])), broken, "read")
    assert (decision.allowed, decision.layer) == (False, "error")
    assert explain(_snapshot(SnapshotSource(agents=[AgentSource("a")])), broken).allowed == ()
