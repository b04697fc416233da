"""Which part of an action has changed is named, and a policy binds by what it says of the action."""

from dataclasses import fields, replace
from typing import Any

import pytest

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import Action, Call
from apps.firewall.runtime.stages.binding import NAMES, changed_parts, no_longer_as_asked, policy_digest

PARAMS = {"command": "bash run.sh"}
ACTION = Action(
    call_id=str(Call(environment="e", agent="bot", tool="exec", params={}).id),
    environment="e",
    agent="bot",
    actor="token:tok_1",
    requester="user:ann",
    trace_id="t",
    tool="exec",
    params=PARAMS,
    context={"agent_id": "bot", "session_key": "agent:bot:main"},
    snapshot="d1",
    argv=["bash", "run.sh"],
    executable="/usr/bin/bash",
    cwd="/desk",
    files={"/desk/run.sh": "sha256:1"},
    env={"PATH": "/bin"},
    policy="p1",
)
CHANGES: dict[str, tuple[Any, str]] = {
    "environment": ("f", "environment"),
    "agent": ("other", "agent"),
    "tool": ("read", "tool"),
    "params": ({"command": "bash other.sh"}, "parameter command"),
    "context": ({"session_key": "agent:bot:other"}, "session"),
    "argv": (["bash", "other.sh"], "arguments"),
    "executable": ("/tmp/bash", "program"),
    "cwd": ("/elsewhere", "directory"),
    "files": ({"/desk/run.sh": "sha256:2"}, "file /desk/run.sh"),
    "policy": ("p2", "policy of the tool"),
    "env": ({"PATH": "/tmp"}, "variable PATH"),
}


def test_an_action_that_is_as_it_was_has_no_changes() -> None:
    named: dict[str, Any] = {"call_id": "c", "trace_id": "u", "snapshot": "d2", "run": "r"}
    assert changed_parts(ACTION, replace(ACTION, **named)) == []


@pytest.mark.parametrize("member", sorted(CHANGES))
def test_every_part_that_changed_is_named(member: str) -> None:
    value, words = CHANGES[member]
    assert changed_parts(ACTION, replace(ACTION, **{member: value})) == [words]


def test_no_member_of_an_action_is_left_unbound() -> None:
    for each in fields(Action):
        if each.name not in NAMES:
            changed = replace(ACTION, **{each.name: CHANGES.get(each.name, ({"new": "thing"}, ""))[0]})
            assert len(changed_parts(ACTION, changed)) == 1, each.name


def test_what_came_and_what_went_is_named() -> None:
    changed = replace(ACTION, files={"/desk/new.sh": "sha256:3"}, env={})
    assert changed_parts(ACTION, changed) == ["file /desk/new.sh", "file /desk/run.sh", "variable PATH"]


def snapshot(*, deny: tuple[str, ...] = (), approvals: Any = None, **settings: Any) -> Snapshot:
    return build_snapshot(
        SnapshotSource(
            environment="e",
            tools=[ToolEntry("exec"), ToolEntry("read", description=settings.pop("description", ""))],
            agents=[AgentSource("bot", policy=Policy(allow=None, deny=deny))],
            settings={"exec": settings},
            exec_approvals=approvals or {},
        )
    )


def digest(one: Snapshot, tool: str = "exec") -> str:
    entry = one.tool(tool)
    assert entry is not None
    return policy_digest(one, entry, "bot", is_command=tool == "exec")


def test_a_policy_binds_by_what_it_says_of_the_action() -> None:
    before = snapshot(security="allowlist", ask="on-miss")
    assert digest(snapshot(security="full", ask="off")) != digest(before)
    assert digest(snapshot(description="another"), "read") != digest(before, "read")
    assert digest(snapshot(security="allowlist", ask="on-miss", description="of another tool")) == digest(before)
    listed = {"agents": {"bot": {"allowlist": [{"pattern": "/bin/ls"}]}}}
    assert digest(snapshot(security="allowlist", ask="on-miss", approvals=listed)) == digest(before)
    strict = {"agents": {"bot": {"ask": "always"}}}
    assert digest(snapshot(security="allowlist", ask="on-miss", approvals=strict)) != digest(before)


def test_a_request_stands_under_a_newer_policy_unless_that_says_otherwise() -> None:
    before = snapshot(security="allowlist", ask="on-miss")
    action = replace(ACTION, policy=digest(before), context={"agent_id": "bot"})
    assert no_longer_as_asked(action, before, is_command=True) == ""
    assert (
        no_longer_as_asked(action, snapshot(security="allowlist", ask="on-miss", deny=("read",)), is_command=True) == ""
    )
    assert "does not give" in no_longer_as_asked(action, snapshot(deny=("exec",)), is_command=True)
    assert "has changed" in no_longer_as_asked(action, snapshot(security="full", ask="off"), is_command=True)
