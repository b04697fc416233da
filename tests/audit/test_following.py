"""What follows the ledger: words of every entry, tallies of calls, each exactly once whatever comes between."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.filters import EntryFilters
from apps.audit.following import follow, follow_forget, follow_lag, tally_recount
from apps.audit.pictures import entry_facets, entry_histogram
from apps.audit.selectors import calls, entries
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from tests.audit.drafts import PLAIN, denial, intent, outcome

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
WEEK = {"environment": "production", "since": NOON - timedelta(days=3), "until": NOON + timedelta(days=3)}


def call(at: datetime = NOON, *, status: str = "completed", **fields: Any) -> UUID:
    call_id = new_id()
    ends = {name: fields.pop(name) for name in ("result", "error", "duration_ms") if name in fields}
    entry_record(intent(call_id, at=at, **fields))
    fields.pop("params", None)
    entry_record(outcome(call_id, at=at + timedelta(seconds=1), status=status, **fields | ends))
    return call_id


def found(**filters: Any) -> list[UUID]:
    return [record.id for record in calls(EntryFilters(**filters)).rows]


def counted(statement: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])


def test_a_call_is_found_by_words_of_its_params_its_result_and_its_error() -> None:
    call(params={"path": "other"}, result={"text": "nothing"})
    ok = call(params={"command": "kubectl rollout"}, result={"text": "deployment\nsuccessfully rolled out"})
    bad = call(status="failed", params={"command": "psql"}, error={"message": "connection refused by peer"})
    assert found(text="successfully rolled") == [ok]
    assert found(text="refused") == [bad]


def test_words_of_what_was_asked_and_of_what_came_back_are_found_together() -> None:
    wanted = call(params={"command": "kubectl rollout"}, result={"text": "quota exceeded"})
    call(params={"command": "kubectl rollout"}, result={"text": "done"})
    call(params={"command": "df"}, result={"text": "quota exceeded"})
    assert found(text="rollout quota") == [wanted]
    assert found(text="rollout quota", status=("completed",)) == [wanted]


def test_words_of_a_call_that_has_not_ended_are_found_and_once_only_when_it_has() -> None:
    begun = intent(at=NOON, params={"command": "longrunning"})
    entry_record(begun)
    assert found(text="longrunning") == [begun.call_id]
    assert begun.call_id is not None
    entry_record(outcome(begun.call_id, at=NOON + timedelta(hours=1)))
    assert found(text="longrunning") == [begun.call_id]


def test_paths_options_and_escapes_are_words_of_their_parts() -> None:
    wanted = call(params={"command": "cat /srv/app/releases-2026\tC:\\new \\ttail", "note": "a\nbeta"})
    for text in ("releases", "2026", "new", "ttail", "beta", "app/releases-2026"):
        assert found(text=text) == [wanted], text


@pytest.mark.parametrize(
    "filters",
    [
        {"actor": "user:maya"},
        {"rule": "agents.ops.tools.deny 'exec' \\x"},
        {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"},
        {"snapshot_digest": "abc123"},
        {"approval_id": UUID(int=7)},
        {"channel": "slack"},
        {"layer": ("sandbox",)},
        {"duration_min": 5000},
        {"duration_min": 5000, "duration_max": 9000},
        {"duration_min": 4000, "status": ("completed",)},
        {"kind": ("call_outcome",), "duration_min": 6000},
    ],
)
def test_each_filter_without_an_index_of_its_own_finds_its_call(filters: dict[str, Any]) -> None:
    call(duration_ms=12)
    rule = EntryDecision(verdict="allow", layer="sandbox", rule="agents.ops.tools.deny 'exec' \\x")
    told: dict[str, Any] = {
        "actor": "user:maya", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "snapshot_digest": "abc123",
        "channel": "slack", "decision": rule, "duration_ms": 7000,
    }  # fmt: skip
    if "approval_id" in filters:
        approval_id = UUID(int=7)
        odd = new_id()
        asked = replace(PLAIN, kind=EntryKind.APPROVAL_ASKED, call_id=odd, approval_id=approval_id, status="requested")
        entry_record(replace(asked, at=NOON))
    else:
        odd = call(**told)
    assert found(**filters) == [odd]


def test_entries_of_a_call_are_found_by_words_of_any_of_them() -> None:
    wanted = call(params={"command": "rollout"}, result={"text": "quota"})
    entry_record(EntryDraft(kind=EntryKind.POLICY_CHANGE, at=NOON, changes={"rule": "rollout quota"}))
    listed = entries(EntryFilters(text="quota rollout")).rows
    assert sorted(row.kind for row in listed) == ["call_intent", "call_outcome", "policy_change"]
    assert {row.call_id for row in listed} == {wanted, None}


def test_each_entry_is_followed_once_however_often_it_is_tried() -> None:
    for number in range(5):
        call(NOON + timedelta(minutes=number))
    assert follow(limit_s=5) == 0
    begun = counted("SELECT sum(begun) FROM audit_tally WHERE step_s = 60")
    assert (follow(limit_s=5), follow(limit_s=5)) == (0, 0)
    assert counted("SELECT sum(begun) FROM audit_tally WHERE step_s = 60") == begun == 5
    call()
    follow(limit_s=5)
    assert counted("SELECT sum(ran) FROM audit_tally WHERE step_s = 3600 AND dimension = ''") == 6


def test_it_says_how_far_it_is_behind_and_when_it_is_not() -> None:
    call(NOON)
    lag = follow_lag(NOON + timedelta(seconds=90))
    assert (lag.entries, lag.seconds, lag.is_late) == (2, 90.0, True)
    follow(limit_s=5)
    assert follow_lag(NOON).entries == 0


def test_words_of_what_is_erased_go_and_do_not_come_back() -> None:
    gone = call(params={"command": "secretword"}, result={"text": "done"})
    assert found(text="secretword") == [gone]
    row = entries(EntryFilters(kind=("call_intent",))).rows[0]
    with connection.cursor() as cursor:
        follow_forget(cursor, [(row.at, row.id)])
    follow(limit_s=5)
    assert found(text="secretword") == []


def test_tallies_agree_with_the_entries_bar_by_bar() -> None:
    for number in range(40):
        at = NOON + timedelta(minutes=37 * number, seconds=number)
        call(at, status="failed" if number % 7 == 0 else "completed", agent=f"bot-{number % 3}")
        if number % 5 == 0:
            entry_record(denial(at=at))
    span = {"since": NOON + timedelta(minutes=20, seconds=7), "until": NOON + timedelta(hours=21, minutes=3, seconds=5)}
    tallied = entry_histogram(EntryFilters(environment="production", **span), at=NOON)  # type: ignore[arg-type]
    direct = entry_histogram(EntryFilters(**span), at=NOON)  # type: ignore[arg-type]
    assert tallied.unread == 0
    assert (tallied.total, tallied.error_share) == (direct.total, direct.error_share)
    assert sum(bar.denied for bar in tallied.buckets) == sum(bar.denied for bar in direct.buckets) > 0


def test_one_agent_and_the_facets_of_a_week_come_from_tallies_and_are_exact() -> None:
    for number in range(6):
        call(NOON + timedelta(hours=number), agent="ops" if number % 3 else "bot", tool="exec")
    one = entry_histogram(EntryFilters(agent=("ops",), **WEEK), at=NOON)  # type: ignore[arg-type]
    assert one.total == 4
    facets = entry_facets(EntryFilters(**WEEK), at=NOON)  # type: ignore[arg-type]
    assert [(facet.value, facet.count) for facet in facets["agent"]] == [("ops", 4), ("bot", 2)]
    assert [(facet.value, facet.count) for facet in facets["status"]] == [("completed", 6)]
    assert facets.is_exact


def test_a_span_is_counted_anew_after_a_purge(owner_sql: Callable[[str], None]) -> None:
    call(NOON)
    call(NOON + timedelta(hours=2))
    follow(limit_s=5)
    owner_sql(
        "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on';"
        f" DELETE FROM audit_entry WHERE at < '{NOON + timedelta(hours=1)}'; COMMIT"
    )
    with connection.cursor() as cursor:
        tally_recount(cursor, since=NOON, until=NOON + timedelta(minutes=5))
    assert entry_histogram(EntryFilters(**WEEK), at=NOON).total == 1  # type: ignore[arg-type]
