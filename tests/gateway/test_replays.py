"""Replay of calls that came through the agents' door: what is live flips nothing, and a draft what it changes."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.policies.models import Replay
from apps.policies.replays.asking import replay_request
from apps.policies.replays.running import replay_run
from apps.policies.selectors import agent_get, draft_snapshot, live_publication, live_snapshot
from apps.policies.services import exec_settings_create, publish, record_update
from tests.gateway.conftest import call, publish_first
from tests.gateway.server import Server
from tests.gateway.test_decisions import Token

DOCUMENT = json.dumps(
    {
        "tools": {
            "byProvider": {"openai": {"deny": ["cron"]}},
            "exec": {"security": "allowlist", "ask": "on-miss"},
            "sandbox": {"tools": {"deny": ["write"]}},
        },
        "agents": {
            "ownership": "explicit",
            "entries": {"bot": {"tools": {"deny": ["ls"]}}, "clerk": {}},
        },
        "channels": {
            "telegram": {
                "groups": {"-100": {"tools": {"deny": ["read"]}, "toolsBySender": {"id:42": {"allow": ["read"]}}}}
            }
        },
    }
)
GROUP = "agent:bot:telegram:group:-100"
CONTEXTS: tuple[dict[str, Any], ...] = (
    {},
    {"context": {"provider": "openai", "model_id": "gpt-5"}},
    {"session": GROUP, "context": {"channel": "telegram", "sender_id": "42"}},
    {"session": GROUP, "context": {"channel": "telegram", "sender_id": "7", "sender_name": "token=abcdefgh12345678"}},
    {"context": {"sandboxed": True}},
    {"context": {"subagent_depth": 2, "sender_is_owner": False}},
    {"context": {"runtime_tools": ["read"], "inherit_runtime_tools": True}},
    {"session": "agent:bot:main"},
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read", {"path": "a.md"}),
    ("write", {"path": "a.md", "content": "b"}),
    ("ls", {"path": "."}),
    ("cron", {}),
    ("nothing", {}),
    ("exec", {"command": "uname -a"}),
    ("write", {}),
)


@pytest.fixture
def called(
    transactional_db: None, environment: Any, token: Token, tmp_path: Path, settings: Any
) -> Iterator[httpx.Client]:
    """A door with what is published, through which everything was called in every context."""
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    running = Server().start()
    with running.client(token("calls_make")[1]) as client:
        for context in CONTEXTS:
            for tool, params in CALLS:
                call(client, tool, params, wait_ms=0, **context)
        yield client
    running.stop()


def replayed(environment: Any, snapshot: Any) -> Replay:
    replay = replay_request(environment, snapshot, days=1, by=None, at=timezone.now())
    assert replay_run(replay.pk, at=timezone.now()) is False
    replay.refresh_from_db()
    assert replay.state == Replay.State.DONE
    return replay


def groups(replay: Replay, change: str) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for each in replay.tally["groups"]:
        if each["change"] == change:
            found[(each["agent"], each["tool"], each["draft"]["layer"])] += each["count"]
    return found


@pytest.mark.usefixtures("called")
def test_replaying_what_is_live_flips_nothing(environment: Any) -> None:
    replay = replayed(environment, live_snapshot(environment))
    total = len(CONTEXTS) * len(CALLS)
    assert replay.calls_total == replay.calls_done == total
    assert replay.tally["counts"] == {"same": total}


@pytest.mark.usefixtures("called")
def test_a_draft_flips_what_it_changes_and_says_by_what(environment: Any) -> None:
    bot = agent_get(environment, "bot")
    assert bot is not None
    record_update(bot, {"deny": ["write"]}, by=None, expected_version=bot.version)

    replay = replayed(environment, draft_snapshot(environment))

    blocked, allowed = groups(replay, "blocked"), groups(replay, "allowed")
    assert set(blocked) == {("bot", "write", "agent")}
    assert set(allowed) == {("bot", "ls", "")}
    counts = replay.tally["counts"]
    assert counts["blocked"] == blocked.total() and counts["allowed"] == allowed.total()
    named = next(each for each in replay.tally["groups"] if each["change"] == "blocked")
    assert named["draft"]["rule"] == "agents.bot.tools.deny write"
    assert 1 <= len(named["calls"]) <= 5


@pytest.mark.usefixtures("called")
def test_commands_are_judged_again_where_their_rules_changed(environment: Any) -> None:
    live = live_publication(environment)
    assert live is not None
    bot = agent_get(environment, "bot")
    assert bot is not None
    exec_settings_create(environment, agent=bot, by=None, security="deny")
    replay = replayed(environment, draft_snapshot(environment))
    assert set(groups(replay, "blocked")) == {("bot", "exec", "exec_policy")}
    publish(environment, by=None, message="no commands", expected_live=live.snapshot_id)
    after = replayed(environment, live_snapshot(environment))
    assert after.tally["counts"] == {"same": replay.calls_total}
