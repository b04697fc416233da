"""Replays as rows: asked for once, counted part by part by whoever is there, and needed before a publication."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.models import Entry
from apps.firewall.engine.replay import Answer, Outcome
from apps.firewall.identifiers import new_id
from apps.policies.errors import PublicationRefusedError, ReplayInvalidError, ReplayStateError
from apps.policies.models import Replay
from apps.policies.replays.asking import (
    KEPT,
    replay_cancel,
    replay_newest,
    replay_request,
    replays_of,
    replays_unfinished,
)
from apps.policies.replays.proofs import replay_proof, replay_require
from apps.policies.replays.running import replay_run
from apps.policies.replays.tallying import GROUPS_MOST, Tally
from apps.policies.selectors import agent_get, draft_snapshot, live_snapshot
from apps.policies.services import publish, record_update
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def live(environment: Any) -> Any:
    publish_first(environment)
    return live_snapshot(environment)


def deny(environment: Any, *names: str) -> Any:
    """Change the draft, and give it."""
    bot = agent_get(environment, "bot")
    assert bot is not None
    record_update(bot, {"deny": list(names)}, by=None, expected_version=bot.version)
    return draft_snapshot(environment)


def ask(environment: Any, snapshot: Any, **more: Any) -> Replay:
    return replay_request(environment, snapshot, **{"days": 7, "by": None, "at": timezone.now(), **more})


def run(replay: Replay, **more: Any) -> Replay:
    while replay_run(replay.pk, at=timezone.now(), **more):
        pass
    replay.refresh_from_db()
    return replay


def test_it_counts_by_agent_tool_and_rule_and_leads_to_the_newest_calls(environment: Any, live: Any) -> None:
    for _ in range(7):
        call_record_write(live, "read")
    call_record_write(live, "ls")
    call_record_write(live, "read", agent_id="ops")
    replay = run(ask(environment, deny(environment, "read")))
    assert replay.tally["counts"] == {"blocked": 7, "allowed": 1, "same": 1}
    allowed, blocked = replay.tally["groups"]  # what would run now comes first
    newest = Entry.objects.filter(tool="read", agent="bot").order_by("-at").values_list("call_id", flat=True)[:1]
    assert (blocked["count"], blocked["draft"]["rule"]) == (7, "agents.bot.tools.deny read")
    assert blocked["calls"] == [str(newest[0])]
    assert (allowed["tool"], allowed["now"]["rule"], allowed["draft"]["verdict"]) == (
        "ls",
        "agents.bot.tools.deny ls",
        "allowed",
    )
    assert replay.snapshot is None and replay.finished_at is not None


def test_calls_before_the_days_and_of_other_environments_are_left_out(environment: Any, live: Any) -> None:
    call_record_write(live, "read")
    replay = ask(environment, deny(environment, "read"), at=timezone.now() + timedelta(days=8))
    assert (run(replay).calls_total, replay.tally["counts"]) == (0, {})


def test_a_record_without_context_is_unknown_only_where_the_policy_needs_it(environment: Any, live: Any) -> None:
    call_record_write(live, "read", with_context=False, session_key="agent:bot:main")
    assert run(ask(environment, live)).tally["counts"] == {"same": 1}
    replay = run(ask(environment, deny(environment, "read")))
    assert replay.tally["counts"] == {"blocked": 1}


def test_another_worker_goes_on_where_a_killed_one_stopped(environment: Any, live: Any) -> None:
    for _ in range(5):
        call_record_write(live, "read")
    replay = ask(environment, deny(environment, "read"))
    assert replay_run(replay.pk, at=timezone.now(), limit_s=0, part_calls=2) is True
    replay.refresh_from_db()
    assert (replay.state, replay.calls_done, replay.calls_total) == ("running", 2, 5)
    Replay.objects.filter(pk=replay.pk).update(worker=new_id())  # it took the next part, and was killed
    assert replay_run(replay.pk, at=timezone.now()) is False
    assert replays_unfinished(timezone.now()) == []

    later = timezone.now() + timedelta(minutes=2)
    assert replays_unfinished(later) == [replay.pk]
    assert replay_run(replay.pk, at=later, part_calls=2) is False
    replay.refresh_from_db()
    assert (replay.state, replay.tally["counts"]) == ("done", {"blocked": 5})
    assert replay_run(replay.pk, at=later) is False


def test_the_draft_may_move_on_while_it_is_replayed(environment: Any, live: Any) -> None:
    call_record_write(live, "read")
    replay = ask(environment, deny(environment, "read"))
    newer = deny(environment)
    assert run(replay).tally["counts"] == {"blocked": 1}
    found = replay_newest(environment, newer.digest)
    assert found == replay and found.draft_digest != newer.digest


def test_the_same_replay_is_asked_for_once_while_it_goes_on(environment: Any, live: Any, admin: Any) -> None:
    first = ask(environment, live, by=admin)
    assert ask(environment, live) == first
    assert ask(environment, live, days=1) != first
    entry = Entry.objects.filter(kind="replay").order_by("at").first()
    assert entry is not None and entry.changes is not None
    assert (entry.actor, entry.snapshot_digest, entry.changes["days"]) == (admin.actor, live.digest, 7)


def test_one_that_was_cancelled_counts_no_more(environment: Any, live: Any) -> None:
    call_record_write(live, "read")
    replay = replay_cancel(ask(environment, live), by=None, at=timezone.now())
    assert replay_run(replay.pk, at=timezone.now()) is False
    with pytest.raises(ReplayStateError):
        replay_cancel(replay, by=None, at=timezone.now())
    assert (replay.state, replay.snapshot, replay.calls_done) == ("cancelled", None, 0)


def test_one_that_fails_says_so_and_stays_failed(environment: Any, live: Any) -> None:
    replay = ask(environment, live)
    Replay.objects.filter(pk=replay.pk).update(snapshot=b"damaged")
    with pytest.raises(Exception, match="decompress"):
        replay_run(replay.pk, at=timezone.now())
    replay.refresh_from_db()
    assert (replay.state, replay.error) == ("failed", "error")


@pytest.mark.parametrize("days", [0, 367])
def test_so_many_days_are_not_replayed(environment: Any, live: Any, days: int) -> None:
    with pytest.raises(ReplayInvalidError):
        ask(environment, live, days=days)


def test_who_may_not_read_the_ledger_may_not_replay_it(environment: Any, live: Any, viewer: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        ask(environment, live, by=viewer)


def test_old_replays_go_and_the_newest_stay(environment: Any, live: Any) -> None:
    for _ in range(KEPT + 2):
        run(ask(environment, live))
    assert replays_of(environment).count() == KEPT


def test_groups_are_bounded_and_what_is_left_out_is_counted() -> None:
    tally = Tally()
    for number in range(GROUPS_MOST + 3):
        denied = Answer("denied", "agent", "", f"rule {number}")
        tally.add("bot", "read", Outcome("blocked", Answer("allowed"), denied), 2, str(new_id()))
    written = json.loads(json.dumps(tally.to_json()))
    assert len(written["groups"]) == GROUPS_MOST
    assert (written["counts"], written["left"]) == ({"blocked": 2 * (GROUPS_MOST + 3)}, {"blocked": 6})
    assert Tally.read(written).to_json() == written


def test_a_part_takes_a_handful_of_questions(environment: Any, live: Any) -> None:
    for _ in range(30):
        call_record_write(live, "read")
    replay = ask(environment, live)
    with CaptureQueriesContext(connection) as asked:
        replay_run(replay.pk, at=timezone.now())
    assert len(asked) < 20


# --- before a publication ---


def proof(environment: Any, draft: Any, live: Any) -> str:
    return replay_proof(
        environment, draft_digest=draft.digest, live_digest=live.digest if live else "", at=timezone.now()
    ).standing


def test_a_draft_needs_a_replay_unless_there_is_nothing_to_replay(environment: Any, live: Any) -> None:
    draft = deny(environment, "read")
    assert proof(environment, draft, None) == "first"
    assert proof(environment, live, live) == "same"
    assert proof(environment, draft, live) == "nothing"
    call_record_write(live, "read")
    assert proof(environment, draft, live) == "missing"
    run(ask(environment, draft))
    assert proof(environment, draft, live) == "replayed"
    assert proof(environment, deny(environment, "write"), live) == "missing"


def test_a_review_publishes_only_what_was_replayed(environment: Any, live: Any) -> None:
    call_record_write(live, "read")
    draft = deny(environment, "read")
    wanted: dict[str, Any] = {"by": None, "message": "no reading", "expected_live": live.digest}
    with pytest.raises(PublicationRefusedError) as refused:
        publish(environment, **wanted, is_reviewed=True)
    assert [detail["code"] for detail in refused.value.details] == ["replay_missing"]
    run(ask(environment, draft))
    assert publish(environment, **wanted, is_reviewed=True).number == 2


def test_every_door_obeys_where_the_environment_insists(environment: Any, live: Any) -> None:
    call_record_write(live, "read")
    deny(environment, "read")
    replay_require(environment, is_required=True, by=None)
    with pytest.raises(CommandError, match="cannot be published"):
        call_command("policy", "publish", "-m", "no reading", stderr=io.StringIO())
    told = Entry.objects.filter(kind="policy_change", changes__kind="replay_rule").count()
    assert told == 1
    replay_require(environment, is_required=False, by=None)
    call_command("policy", "publish", "-m", "no reading", stdout=io.StringIO())
    assert live_snapshot(environment) != live


# --- the command ---


def command(*words: str) -> str:
    out = io.StringIO()
    call_command("policy", "replay", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_command_tells_what_would_change_and_fails_where_that_is_asked(environment: Any, live: Any) -> None:
    call_record_write(live, "read")
    deny(environment, "read")
    told = command("--days", "1").splitlines()
    assert told[0].endswith("1 blocked, 0 allowed, 0 asked, 0 unasked, 0 same, 0 unknown")
    assert told[1] == "blocked: 1 x bot read: agents.bot.tools.deny read"
    assert json.loads(command("--json"))["counts"] == {"blocked": 1}
    with pytest.raises(CommandError, match="1 of 1 calls would be decided otherwise"):
        command("--fail-on-flips")
    assert "1 same" in command("--live", "--fail-on-flips")


def test_the_command_refuses_what_it_cannot_replay(environment: Any) -> None:
    with pytest.raises(CommandError, match="nothing has been published yet"):
        command("--live")
    with pytest.raises(CommandError, match="a replay is of 1 to 366 days"):
        command("--days", "0")
