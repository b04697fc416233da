"""Shadow rules and calls that come through the agents' door: none is refused for them, each is counted."""

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.policies.selectors import agent_get, draft_snapshot
from apps.policies.services import record_update
from apps.policies.shadows.counting import shadow_count
from apps.policies.shadows.starting import shadow_start
from tests.gateway.conftest import call, publish_first
from tests.gateway.server import Server
from tests.gateway.test_decisions import Token
from tests.gateway.test_replays import CALLS, CONTEXTS, DOCUMENT, replayed


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.slow
def test_each_call_runs_as_before_and_is_counted(environment: Any, token: Token, tmp_path: Path, settings: Any) -> None:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    bot = agent_get(environment, "bot")
    assert bot is not None
    record_update(bot, {"deny": ["write"]}, by=None, expected_version=bot.version)
    running = Server().start()
    try:
        with running.client(token("calls_make")[1]) as client:
            before = call(client, "ls", {"path": "."})
            shadow = shadow_start(environment, "agent", bot.pk, by=None, at=timezone.now())
            after = call(client, "ls", {"path": "."})
            for context in CONTEXTS:
                for tool, params in CALLS:
                    call(client, tool, params, wait_ms=0, **context)
    finally:
        running.stop()
    assert before.status_code == after.status_code == 404  # refused as if there were no such tool

    assert shadow_count(shadow.pk, at=timezone.now()) is False

    shadow.refresh_from_db()
    assert shadow.calls_seen == 1 + len(CONTEXTS) * len(CALLS)
    replay = replayed(environment, draft_snapshot(environment))
    counts = dict(replay.tally["counts"])
    counts["allowed"] -= 1  # the one from before
    assert shadow.counts == counts
    assert counts["blocked"] and counts["allowed"]
