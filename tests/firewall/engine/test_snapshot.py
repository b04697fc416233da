"""A snapshot has one canonical form, is known by its digest, and is refused when it is not what it should be."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.decide import decide
from apps.firewall.engine.digest import CanonicalError, canonical_json, digest_of
from apps.firewall.engine.document import FORMAT
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import UPGRADES, SnapshotError, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, GroupSource, SnapshotSource, ToolEntry
from apps.firewall.engine.source import ChannelSource as Channel
from tests.firewall.engine.environments import sources

ROOT = Path(__file__).resolve().parents[3]
BUILD = """
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import SnapshotSource, ToolEntry
settings = {name: {"a": 1, "b": [name]} for name in {"exec", "fs", "elevated"}}
tools = [ToolEntry("read", params={"b": 1, "a": 2})]
source = SnapshotSource(tools=tools, policy=Policy(deny=("x",)), settings=settings)
print(build_snapshot(source).digest)
"""


def _source() -> SnapshotSource:
    shared = Policy(deny=("exec",))
    return SnapshotSource(
        environment="production",
        tools=[ToolEntry("exec", label="Run", params={"type": "object"}, sensitive=("env",)), ToolEntry("read")],
        policy=shared,
        agents=[AgentSource("bot", policy=Policy(deny=("exec",)), settings={"exec": {"mode": "deny"}})],
        channels=[Channel("telegram", {"groups": [GroupSource("-1", by_sender=[("id:1", shared), ("*", None)])]})],
    )


@pytest.mark.unhurried
@settings(max_examples=50)
@given(sources())
def test_its_bytes_bring_back_the_same_snapshot(source: SnapshotSource) -> None:
    snapshot = build_snapshot(source)
    again = load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest)
    assert again == snapshot
    assert again.document == snapshot.document


def test_every_distinct_policy_is_stored_once() -> None:
    assert build_snapshot(_source()).document["policies"] == [{"deny": ["exec"]}]


def test_the_digest_does_not_depend_on_the_order_of_members() -> None:
    one, other = _source(), _source()
    one.settings, other.settings = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    assert build_snapshot(one).digest == build_snapshot(other).digest


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_the_digest_does_not_depend_on_the_process(seed: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", BUILD],
        cwd=ROOT,
        env={"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    base = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=ROOT, env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True
    )
    assert run.stdout == base.stdout


def test_the_engine_is_imported_without_site_packages() -> None:
    code = "import sys; sys.path.insert(0, '.'); import apps.firewall.engine.diff, apps.firewall.engine.__main__"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_other_bytes_than_expected_are_refused() -> None:
    snapshot = build_snapshot(_source())
    with pytest.raises(SnapshotError, match="digest"):
        load_snapshot(snapshot.to_bytes().replace(b"production", b"promotions"), expected_digest=snapshot.digest)


def test_a_later_format_is_refused() -> None:
    document = {**build_snapshot(_source()).document, "format": FORMAT + 1}
    with pytest.raises(SnapshotError, match="unknown snapshot format"):
        load_snapshot(json.dumps(document).encode())


def test_every_older_format_has_a_step_to_the_next() -> None:
    assert len(UPGRADES) == FORMAT - 1


@pytest.mark.parametrize("member", ["dialect", "tools", "global", "agents", "policies", "channels", "environment"])
def test_a_snapshot_without_a_member_is_refused(member: str) -> None:
    document = build_snapshot(_source()).document
    del document[member]
    with pytest.raises(SnapshotError):
        load_snapshot(json.dumps(document).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"format":1.5}', b'{"format":true}', b"\xff", b'{"format":1}'])
def test_what_is_no_snapshot_is_refused(text: bytes) -> None:
    with pytest.raises(SnapshotError):
        load_snapshot(text)


def test_a_tool_named_twice_is_refused() -> None:
    with pytest.raises(SnapshotError, match="named twice: `read`"):
        build_snapshot(SnapshotSource(tools=[ToolEntry("read"), ToolEntry("read")]))


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(SnapshotError, match="no dialect named"):
        build_snapshot(SnapshotSource(dialect="2027.1"))


@pytest.mark.parametrize("value", [1.5, {1: 2}, {"a": object()}, "\ud800"])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(CanonicalError):
        canonical_json({"member": value})


def test_canonical_bytes_are_sorted_dense_and_utf8() -> None:
    assert canonical_json({"b": [1, True, None], "a": "é"}) == '{"a":"é","b":[1,true,null]}'.encode()
    assert len(digest_of(b"")) == 64


def test_it_gives_back_what_the_runtime_needs() -> None:
    snapshot = build_snapshot(_source())
    tool = snapshot.tool("bash")
    assert tool is not None
    assert (tool.name, tool.params, tool.sensitive) == ("exec", {"type": "object"}, ("env",))
    assert snapshot.tool("nosuchtool") is None
    assert (snapshot.exec_settings("Bot").security, snapshot.exec_settings("Bot").ask) == ("deny", "off")


def test_changing_the_document_changes_nothing() -> None:
    snapshot = build_snapshot(_source())
    snapshot.document["policies"].clear()
    assert decide(snapshot, CallContext(agent_id="bot"), "exec").allowed is False


def test_a_context_survives_json() -> None:
    context = CallContext(agent_id="bot", sender_is_owner=False, runtime_tools=("a",), subagent_depth=2, sandboxed=True)
    assert CallContext.from_json(context.to_json()) == context
    assert CallContext().to_json() == {}


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"agent": "bot"}, "agent"),
        ({"agent_id": 5}, "agent_id"),
        ({"sandboxed": "yes"}, "sandboxed"),
        ({"subagent_depth": -1}, "subagent_depth"),
        ({"subagent_depth": True}, "subagent_depth"),
        ({"runtime_tools": "read"}, "runtime_tools"),
        ({"stored_session": []}, "stored_session"),
        ([], ""),
    ],
)
def test_a_context_that_cannot_be_read_names_its_field(document: Any, field: str) -> None:
    with pytest.raises(ContextError) as caught:
        CallContext.from_json(document)
    assert caught.value.field == field


def test_numbers_with_a_point_in_a_schema_come_back_as_they_were() -> None:
    schema = {"type": "object", "properties": {"share": {"type": "number", "minimum": 0.5, "multipleOf": 0.1}}}
    entry = ToolEntry(
        "weigh", params=schema, traits={"examples": [{"parameters": {"share": 0.7}}]}, executor={"kind": "builtin"}
    )

    snapshot = load_snapshot(build_snapshot(SnapshotSource(tools=[entry])).to_bytes())

    assert snapshot.tool("weigh") == entry


def test_a_snapshot_of_the_first_format_still_loads() -> None:
    document = build_snapshot(SnapshotSource(tools=[ToolEntry("read", params={"type": "object"})])).document
    old = canonical_json({**document, "format": 1})

    snapshot = load_snapshot(old, expected_digest=digest_of(old))

    assert snapshot.tool("read") == ToolEntry("read", params={"type": "object"})
    assert snapshot.to_bytes() == old
