"""The ladder of rules by sender: what it says decides is what decides, and nothing behind it was read."""

from hypothesis import given

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import explain
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.ladder import Outcome, Rung, group_ladder, sender_ladder
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import ToolEntry
from tests.firewall.engine.environments import contexts, sources

TOOLS = [ToolEntry(name) for name in ("read", "write", "exec", "message")]


def snapshot_of(document: dict[str, object], dialect: str = "2026.9") -> Snapshot:
    return build_snapshot(parse_document(document, dialect=dialect, tools=TOOLS, environment="test"))


def group_context(**members: object) -> CallContext:
    given: dict[str, object] = {"agent_id": "main", "session_key": "agent:main:telegram:group:-100"}
    return CallContext(**(given | members))  # type: ignore[arg-type]


def decisive(rungs: tuple[Rung, ...]) -> Rung | None:
    found = [rung for rung in rungs if rung.outcome is Outcome.DECIDES]
    assert len(found) <= 1
    return found[0] if found else None


def where_of(rung: Rung | None) -> str | None:
    if rung is None:
        return None
    return ".".join(("channels", *rung.place, *(("tools",) if rung.key is None else ("toolsBySender", rung.key))))


@given(sources().map(build_snapshot), contexts())
def test_what_decides_on_the_ladder_is_what_the_engine_applies(snapshot: Snapshot, context: CallContext) -> None:
    explanation = explain(snapshot, context)
    if explanation.resolution is None:
        return
    engine = snapshot.engine
    if not resolve(engine, context).delegated:
        assert where_of(decisive(group_ladder(engine, context))) == explanation.resolution.group


@given(sources(dialects=("2026.9",)).map(build_snapshot), contexts())
def test_the_rule_of_the_sender_layer_is_the_one_of_its_ladder(snapshot: Snapshot, context: CallContext) -> None:
    explanation = explain(snapshot, context)
    if explanation.resolution is None or resolve(snapshot.engine, context).delegated:
        return
    found = decisive(sender_ladder(snapshot.engine, context))
    said = None if found is None or found.policy is None or found.policy.merged() is None else found
    shown = explanation.resolution.sender
    assert (shown is None) == (said is None)
    if said is not None and shown is not None:
        assert shown.endswith(f"toolsBySender.{said.key}")
        assert shown.startswith("agents." if said.place else "tools.")


@given(sources().map(build_snapshot), contexts())
def test_nothing_is_read_behind_what_decides(snapshot: Snapshot, context: CallContext) -> None:
    if explain(snapshot, context).resolution is None:
        return
    rungs = group_ladder(snapshot.engine, context)
    at = next((at for at, rung in enumerate(rungs) if rung.outcome is Outcome.DECIDES), len(rungs))
    assert {rung.outcome for rung in rungs[at + 1 :]} <= {Outcome.NOT_READ, Outcome.NOT_ASKED}


def test_keys_are_tried_in_the_order_of_the_release() -> None:
    block = {"toolsBySender": {"*": {"deny": ["exec"]}}, "tools": {"deny": ["read"]}}
    document: dict[str, object] = {"channels": {"telegram": {"groups": {"-100": block, "*": {"tools": {}}}}}}
    by_release = {
        name: [(rung.place[-1], rung.kind, rung.outcome) for rung in group_ladder(known.engine, group_context())]
        for name in DIALECTS
        for known in [snapshot_of(document, name)]
    }
    old = [
        ("-100", "id", "no_match"),
        ("-100", "e164", "no_match"),
        ("-100", "username", "no_match"),
        ("-100", "name", "no_match"),
        ("-100", "*", "decides"),
        ("-100", "tools", "not_read"),
        ("*", "tools", "not_read"),
    ]
    assert by_release["2026.2"] == old
    assert by_release["2026.9"] == [("-100", "channel", "no_match"), *old]


def test_a_rule_without_lists_passes_on_and_hides_the_rest_of_its_chain() -> None:
    document: dict[str, object] = {
        "channels": {"telegram": {"groups": {"-100": {"toolsBySender": {"id:7": {}}, "tools": {"deny": ["exec"]}}}}}
    }
    rungs = group_ladder(snapshot_of(document).engine, group_context(sender_id="7"))
    assert [(rung.kind, rung.outcome) for rung in rungs if rung.key or rung.kind == "tools"] == [
        ("id", "passes_on"),
        ("tools", "not_read"),
    ]


def test_a_channel_that_knows_no_rules_by_sender_does_not_ask_them() -> None:
    room = {"toolsBySender": {"*": {"deny": ["exec"]}}, "tools": {"deny": ["read"]}}
    document: dict[str, object] = {"channels": {"matrix": {"groups": {"!room": room}}}}
    context = group_context(session_key="agent:main:matrix:group:!room")
    rungs = group_ladder(snapshot_of(document, "2026.2").engine, context)
    assert Outcome.NOT_ASKED in {rung.outcome for rung in rungs}


def test_outside_groups_nothing_is_asked() -> None:
    document: dict[str, object] = {"channels": {"telegram": {"groups": {"*": {"tools": {"deny": ["exec"]}}}}}}
    assert group_ladder(snapshot_of(document).engine, CallContext(agent_id="main")) == ()


def test_the_agent_s_rules_are_asked_before_those_of_everybody() -> None:
    document: dict[str, object] = {
        "tools": {"toolsBySender": {"id:7": {"deny": ["exec"]}}},
        "agents": {"entries": {"main": {"tools": {"toolsBySender": {"username:bob": {"deny": ["read"]}}}}}},
    }
    engine = snapshot_of(document).engine
    known = decisive(sender_ladder(engine, CallContext(agent_id="main", sender_id="7", sender_username="bob")))
    assert known is not None and (known.place, known.key) == (("agents", "main"), "username:bob")
    other = decisive(sender_ladder(engine, CallContext(agent_id="main", sender_id="7")))
    assert other is not None and (other.place, other.key) == ((), "id:7")
