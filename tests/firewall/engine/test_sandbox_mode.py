"""A call that does not say whether its session is sandboxed: the configured mode says it."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide, explain
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import ToolEntry

MAIN, GROUP = "agent:main:main", "agent:main:telegram:group:-1"
LISTS = {"sandbox": {"tools": {"deny": ["exec"]}}}


def snapshot_of(
    everybody: str | None, own: str | None = None, *, release: str = "2026.9", session: dict[str, Any] | None = None
) -> Snapshot:
    entry: dict[str, Any] = {} if own is None else {"sandbox": {"mode": own}}
    roster: dict[str, Any] = (
        {"entries": {"main": entry}} if release == "2026.9" else {"list": [{"id": "main", **entry}]}
    )
    if everybody is not None:
        roster |= {"defaults": {"sandbox": {"mode": everybody}}}
    document = {"agents": roster, "tools": LISTS} | ({} if session is None else {"session": session})
    return build_snapshot(parse_document(document, dialect=release, tools=[ToolEntry("read"), ToolEntry("exec")]))


def is_open(snapshot: Snapshot, **said: Any) -> bool:
    context = CallContext(agent_id="main", **said)
    decision = decide(snapshot, context, "exec")
    assert decision.allowed or decision.layer == "sandbox"
    shown = explain(snapshot, context).resolution
    assert shown is not None and shown.sandboxed is not decision.allowed
    return decision.allowed


@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
@pytest.mark.parametrize(
    ("everybody", "own", "key", "expected"),
    [
        (None, None, MAIN, True),
        ("off", None, GROUP, True),
        ("all", None, MAIN, False),
        ("all", None, None, False),
        ("all", "off", MAIN, True),
        ("off", "all", MAIN, False),
        ("non-main", None, MAIN, True),
        ("non-main", None, "main", True),
        ("non-main", None, GROUP, False),
        ("non-main", None, "agent:main:subagent:x", False),
        ("non-main", None, None, True),
        ("off", "non-main", GROUP, False),
    ],
)
def test_the_mode_says_it(
    release: str, everybody: str | None, own: str | None, key: str | None, expected: bool
) -> None:
    snapshot = snapshot_of(everybody, own, release=release)

    assert is_open(snapshot, session_key=key) is expected
    assert is_open(load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest), session_key=key) is expected


@pytest.mark.parametrize("mode", ["off", "all", "non-main"])
def test_a_caller_that_knows_better_is_believed(mode: str) -> None:
    snapshot = snapshot_of(mode)

    assert is_open(snapshot, session_key=GROUP, sandboxed=False)
    assert not is_open(snapshot, session_key=MAIN, sandboxed=True)


@pytest.mark.parametrize(
    ("session", "key", "expected"),
    [
        ({"mainKey": "work"}, "agent:main:work", True),
        ({"mainKey": "work"}, MAIN, True),
        ({"mainKey": "work"}, "agent:main:home", False),
        ({"scope": "global"}, "global", True),
        ({}, "global", False),
    ],
)
def test_the_main_session_is_the_one_that_is_configured(session: dict[str, Any], key: str, expected: bool) -> None:
    assert is_open(snapshot_of("non-main", session=session), session_key=key) is expected


def test_a_snapshot_holds_the_main_session_only_where_it_decides() -> None:
    assert "session" not in snapshot_of("all", session={"mainKey": "work"}).document["settings"]
    assert snapshot_of("non-main", session={"mainKey": "work", "store": "x"}).document["settings"]["session"] == {
        "mainKey": "work"
    }
