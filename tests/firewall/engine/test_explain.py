"""An explanation shows every layer, how the context was read, and what in the lists names nothing."""

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import explain, explain_tool
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.layers import layers_of
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry


def _snapshot(**members: object) -> Snapshot:
    tools = [ToolEntry(name) for name in ("read", "exec", "gateway")]
    return build_snapshot(SnapshotSource(tools=tools, **members))  # type: ignore[arg-type]


def test_it_shows_every_layer_of_the_release_in_order() -> None:
    for release, dialect in DIALECTS.items():
        explanation = explain(_snapshot(dialect=release), CallContext(sender_is_owner=True))
        assert [layer.key for layer in explanation.layers] == [layer.key for layer in layers_of(dialect)]
        assert [layer.number for layer in explanation.layers] == list(range(1, len(explanation.layers) + 1))


def test_each_layer_begins_where_the_one_before_ended() -> None:
    explanation = explain(_snapshot(policy=Policy(deny=("exec",))), CallContext(sender_is_owner=False))
    before = 3
    for layer in explanation.layers:
        assert layer.before == before
        assert layer.before - len(layer.removed) == layer.after == len(layer.remaining)
        before = layer.after
    assert before == len(explanation.allowed) == 1


def test_it_tells_how_the_context_was_read() -> None:
    snapshot = _snapshot(
        agents=[AgentSource("bot", policy=Policy(profile="full"), by_provider=[("OpenAI", Policy(deny=("exec",)))])],
        channels=[ChannelSource("telegram", {"groups": [GroupSource("-1", Policy(deny=("read",)))]})],
        by_sender=[("id:5", Policy(deny=("gateway",)))],
    )
    context = CallContext(
        session_key="agent:bot:telegram:group:-1:topic:7",
        group_id="-99",
        provider="openai",
        sender_id="5",
        subagent_depth=2,
    )
    resolution = explain(snapshot, context).resolution
    assert resolution is not None
    assert (resolution.agent, resolution.agent_known, resolution.depth) == ("bot", True, 2)
    assert (resolution.channel, resolution.group_ids) == ("telegram", ("-1:topic:7", "-1"))
    assert resolution.group == "channels.telegram.groups.-1.tools"
    assert resolution.group_dropped is True
    assert resolution.sender == "tools.toolsBySender.id:5"
    assert (resolution.profile, resolution.agent_provider_key) == ("full", "OpenAI")


def test_names_that_nothing_has_are_warned_about() -> None:
    explanation = explain(_snapshot(policy=Policy(allow=("read", "nosuchtool", "tts"))), CallContext())
    (warning,) = explanation.warnings
    assert (warning.layer, warning.label) == ("global", "tools.allow")
    assert warning.entries == ("tts", "nosuchtool")
    assert warning.kinds == ("core_unavailable", "unknown")


def test_the_older_release_says_that_it_ignored_an_allow_list() -> None:
    snapshot = _snapshot(dialect="2026.2", policy=Policy(allow=("nosuchtool",)))
    explanation = explain(snapshot, CallContext(sender_is_owner=True))
    assert explanation.allowed == ("read", "exec", "gateway")
    assert [warning.allowlist_ignored for warning in explanation.warnings] == [True]


def test_each_layer_answers_for_itself_also_after_the_tool_is_gone() -> None:
    snapshot = _snapshot(policy=Policy(deny=("exec",)), agents=[AgentSource("bot", policy=Policy(deny=("exec",)))])
    steps = {step.key: step for step in explain_tool(snapshot, CallContext(agent_id="bot"), "exec")}
    assert (steps["global"].permits, steps["global"].removed_here) == (False, True)
    assert (steps["agent"].permits, steps["agent"].removed_here) == (False, False)
    assert (steps["group"].applied, steps["group"].permits) == (False, None)


def test_an_unknown_tool_has_no_steps() -> None:
    assert explain_tool(_snapshot(), CallContext(), "nosuchtool") == ()


def test_a_caller_cannot_lower_its_depth() -> None:
    context = CallContext(session_key="agent:bot:subagent:a:subagent:b", subagent_depth=1)
    resolution = explain(_snapshot(), context).resolution
    assert resolution is not None
    assert resolution.depth == 2
