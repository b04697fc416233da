"""Shadow rules: what each call would have become, counted once, over what is live at its time."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.audit.models import Entry
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.errors import RecordGoneError, ShadowInvalidError, ShadowStateError
from apps.policies.models import ShadowRule
from apps.policies.replays.asking import replay_request
from apps.policies.replays.running import replay_run
from apps.policies.selectors import agent_get, draft_snapshot, live_publication, live_snapshot, sender_rules
from apps.policies.services import (
    draft_discard,
    exec_settings_create,
    profile_create,
    publish,
    record_delete,
    record_update,
    sender_rule_create,
)
from apps.policies.services.records import agent_create
from apps.policies.shadows import counting
from apps.policies.shadows.counting import shadow_count, shadows_count
from apps.policies.shadows.drafting import shadow_draft
from apps.policies.shadows.starting import shadow_delete, shadow_start, shadow_stop
from apps.policies.tasks import shadows_count_task
from apps.registry.models import Environment
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = json.dumps(
    {
        "tools": {"toolsBySender": {"id:42": {"deny": ["write"]}}},
        "agents": {"ownership": "explicit", "entries": {"bot": {"tools": {"deny": ["ls"]}}, "ops": {}}},
        "channels": {"telegram": {"groups": {"-100": {"tools": {"deny": ["cron"]}}}}},
    }
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read", {}),
    ("read", {"agent_id": "ops"}),
    ("ls", {}),
    ("write", {"sender_id": "42", "channel": "telegram"}),
    ("cron", {"session_key": "agent:bot:telegram:group:-100", "channel": "telegram", "sender_id": "7"}),
    ("write", {"agent_id": "ops"}),
)


@pytest.fixture
def published(environment: Any) -> Any:
    publish_first(environment, DOCUMENT)
    return environment


def live(environment: Any) -> Snapshot:
    found = live_snapshot(environment)
    assert found is not None
    return found


def call_all(environment: Any) -> None:
    for tool, context in CALLS:
        call_record_write(live(environment), tool, **context)


def deny(environment: Any, *names: str) -> Any:
    bot = agent_get(environment, "bot")
    assert bot is not None
    return record_update(bot, {"deny": list(names)}, by=None, expected_version=bot.version)


def watch(environment: Any, record: Any, kind: str = "agent") -> ShadowRule:
    return shadow_start(environment, kind, record.pk, by=None, at=timezone.now())


def counted(shadow: ShadowRule) -> dict[str, int]:
    assert shadow_count(shadow.pk, at=timezone.now()) is False
    shadow.refresh_from_db()
    return {change: number for change, number in shadow.counts.items() if number}


def publish_again(environment: Any) -> None:
    before = live_publication(environment)
    assert before is not None
    publish(environment, by=None, message="again", expected_live=before.snapshot_id)


def test_it_counts_each_call_since_it_began_and_none_from_before(published: Any) -> None:
    call_all(published)
    shadow = watch(published, deny(published, "read"))
    call_all(published)

    assert counted(shadow) == {"blocked": 1, "allowed": 1, "same": 4}

    assert (shadow.state, shadow.calls_seen) == ("watching", 6)
    (allowed, blocked) = shadow.tally["groups"]
    assert (blocked["agent"], blocked["tool"], blocked["draft"]["rule"]) == (
        "bot",
        "read",
        "agents.bot.tools.deny read",
    )
    assert (allowed["change"], allowed["tool"]) == ("allowed", "ls")
    assert Entry.objects.filter(call_id=blocked["calls"][0]).exists()


def test_a_call_is_counted_once_whoever_counts_and_whenever_he_is_killed(
    published: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow = watch(published, deny(published, "read"))
    call_all(published)
    assert shadow_count(shadow.pk, at=timezone.now(), entries=2) is True
    with monkeypatch.context() as patched:
        patched.setattr(counting, "_keep", _killed)
        with pytest.raises(KeyboardInterrupt):
            shadow_count(shadow.pk, at=timezone.now())
    assert counted(shadow) == counted(shadow) == {"blocked": 1, "allowed": 1, "same": 4}


def _killed(*_args: object) -> bool:
    raise KeyboardInterrupt


def test_of_two_workers_only_one_keeps_what_it_counted(published: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shadow = watch(published, deny(published, "read"))
    call_all(published)
    keep: Callable[..., bool] = counting._keep

    def late(row: ShadowRule, changed: dict[str, object]) -> bool:
        monkeypatch.setattr(counting, "_keep", keep)
        shadow_count(shadow.pk, at=timezone.now())
        return keep(row, changed)

    monkeypatch.setattr(counting, "_keep", late)
    shadow_count(shadow.pk, at=timezone.now())
    assert counted(shadow) == {"blocked": 1, "allowed": 1, "same": 4}


@pytest.mark.parametrize("number", range(5))
def test_it_counts_what_a_replay_of_the_same_calls_against_that_draft_counts(published: Any, number: int) -> None:
    kind, record = _only(published, number)
    shadow = watch(published, record, kind)
    call_all(published)

    found = counted(shadow)

    replay = replay_request(published, draft_snapshot(published), days=1, by=None, at=timezone.now())
    assert replay_run(replay.pk, at=timezone.now()) is False
    replay.refresh_from_db()
    assert found == {change: count for change, count in replay.tally["counts"].items() if count}
    assert shadow.tally["groups"] == replay.tally["groups"]


def _only(environment: Any, number: int) -> tuple[str, Any]:
    bot, ops = agent_get(environment, "bot"), agent_get(environment, "ops")
    assert bot is not None and ops is not None
    rule = sender_rules(environment).get()
    making: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("agent", lambda: record_update(bot, {"deny": ["read"]}, by=None, expected_version=bot.version)),
        ("agent", lambda: record_update(ops, {"allow": ["write"]}, by=None, expected_version=ops.version)),
        ("sender", lambda: record_update(rule, {"deny": None}, by=None, expected_version=rule.version)),
        ("sender", lambda: sender_rule_create(environment, "id:7", by=None, agent=bot, deny=["*"])),
        ("exec", lambda: exec_settings_create(environment, by=None, agent=bot, security="deny")),
    )
    kind, make = making[number]
    return kind, make()


def test_it_follows_what_goes_live_and_ends_when_it_is_live_itself(published: Any) -> None:
    shadow = watch(published, deny(published, "ls", "read"))
    draft_discard(published, by=None)
    deny(published, "ls", "write")
    call_all(published)
    publish_again(published)
    call_all(published)

    assert counted(shadow) == {"blocked": 2, "same": 10}
    assert shadow.live_digest == live(published).digest

    deny(published, "ls", "write", "read")
    publish_again(published)
    call_all(published)
    assert counted(shadow) == {"blocked": 2, "same": 10}
    assert shadow.state == "live" and shadow.ended_at is not None


def test_it_ends_when_what_it_belongs_to_is_gone_or_says_something_else(published: Any) -> None:
    shadow = watch(published, deny(published, "read"))
    draft_discard(published, by=None)
    bot, ops = agent_get(published, "bot"), agent_get(published, "ops")
    assert bot is not None and ops is not None
    record_delete(bot, by=None, expected_version=bot.version)
    ops = record_update(ops, {"profile": "coding"}, by=None, expected_version=ops.version)
    other = watch(published, ops)
    record_update(ops, {"profile": "minimal"}, by=None, expected_version=ops.version)
    publish_again(published)

    counted(shadow), counted(other)
    assert (shadow.state, other.state) == ("gone", "changed")
    assert "bot" in shadow.error and "agents.ops.policy" in other.error


def test_only_calls_of_its_environment_count(published: Any) -> None:
    shadow = watch(published, deny(published, "read"))
    other = Environment.objects.create(slug="other", name="Other")
    publish_first(other, DOCUMENT)
    call_all(other)
    assert counted(shadow) == {}
    with pytest.raises(ShadowInvalidError):
        shadow_start(other, "agent", shadow.origin["record"], by=None, at=timezone.now())


def test_what_decides_nothing_is_not_watched(published: Any) -> None:
    bot = agent_get(published, "bot")
    assert bot is not None

    def refused(record: Any, kind: str = "agent") -> str:
        with pytest.raises(ShadowInvalidError) as caught:
            watch(published, record, kind)
        return caught.value.details[0]["code"]

    assert refused(bot) == "not_changed"
    assert refused(record_update(bot, {"name": "Robot"}, by=None, expected_version=bot.version)) == "decides_nothing"
    empty = Environment.objects.create(slug="empty", name="Empty")
    with pytest.raises(ShadowInvalidError, match="nothing is live"):
        shadow_start(empty, "agent", bot.pk, by=None, at=timezone.now())


def test_so_many_are_watched_at_once_and_the_same_change_once(published: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.policies.shadows.starting.WATCHED_MOST", 1)
    bot = deny(published, "read")
    first = watch(published, bot)
    assert watch(published, bot) == first
    with pytest.raises(ShadowInvalidError, match="stop one of them first"):
        watch(published, deny(published, "write"))
    shadow_stop(first, by=None, at=timezone.now())
    assert watch(published, bot).state == "watching"


def test_a_change_gets_into_the_draft_again(published: Any) -> None:
    profile = profile_create(published, "narrow", by=None, allow=["read"])
    made = agent_create(published, "new", by=None, deny=["read"])
    shadows = [
        watch(published, deny(published, "read")),
        watch(published, made),
        watch(published, profile, "profile"),
    ]
    wanted = draft_snapshot(published)
    draft_discard(published, by=None)
    record_delete(profile, by=None, expected_version=profile.version)
    for shadow in shadows:
        shadow_draft(shadow, by=None)
        shadow_draft(shadow, by=None)
    assert draft_snapshot(published) == wanted


def test_a_deletion_is_watched_and_gets_into_the_draft_again(published: Any) -> None:
    (rule,) = sender_rules(published)
    record_delete(rule, by=None, expected_version=rule.version)
    shadow = shadow_start(published, "sender", rule.pk, by=None, at=timezone.now())
    call_all(published)
    assert counted(shadow) == {"allowed": 1, "same": 5}
    shadow_draft(shadow, by=None)
    assert not sender_rules(published)


def test_what_has_no_place_in_the_draft_says_so(published: Any) -> None:
    shadow = watch(published, deny(published, "read"))
    bot = agent_get(published, "bot")
    assert bot is not None
    record_delete(bot, by=None, expected_version=bot.version)
    with pytest.raises(RecordGoneError):
        shadow_draft(shadow, by=None)


def test_each_start_stop_and_end_is_on_record(published: Any) -> None:
    shadow = watch(published, deny(published, "read"))
    shadow_stop(shadow, by=None, at=timezone.now())
    with pytest.raises(ShadowStateError):
        shadow_stop(shadow, by=None, at=timezone.now())
    shadow_delete(shadow, by=None)
    told = Entry.objects.filter(kind="policy_change", changes__kind="shadow_rule").order_by("at", "id")
    assert [entry.changes["action"] for entry in told if entry.changes] == ["create", "stop", "delete"]


def command(*words: str) -> str:
    out = io.StringIO()
    call_command("policy", "shadow", *words, stdout=out)
    return out.getvalue()


def test_the_command_line_starts_lists_and_stops(published: Any) -> None:
    deny(published, "read")
    shown = command("start", "agents.entries.bot").split()[0]
    call_all(published)
    assert shadows_count_task() == 1
    assert command("list") == (
        f"{shown} watching agents.entries.bot: 6 calls seen, 0 unasked, 1 allowed, 1 blocked, 0 asked, 0 unknown\n"
    )
    assert json.loads(command("stop", shown, "--json"))[0]["state"] == "stopped"
    for words, said in (
        (("stop", shown), "has ended"),
        (("stop", "nothing"), "no shadow rule"),
        (("start", "agents.entries.ops"), "it changes agents.entries.bot"),
    ):
        with pytest.raises(CommandError, match=said):
            command(*words)


def test_whoever_waited_longest_is_counted_first_within_the_time(published: Any) -> None:
    watch(published, deny(published, "read"))
    watch(published, deny(published, "write"))
    assert shadows_count(at=timezone.now(), limit_s=0) == 1
    assert shadows_count(at=timezone.now(), limit_s=60) == 2
