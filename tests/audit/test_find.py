"""Finding entries and calls: filters, pages in both directions, histogram, facets."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

import pytest
from django.http import QueryDict

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.errors import FilterError
from apps.audit.filters import EntryFilters
from apps.audit.pictures import Counted, calls_count, entry_facets, entry_histogram
from apps.audit.selectors import (
    CallPage,
    call_entries,
    call_record,
    calls,
    calls_like,
    cursor_text,
    entries,
    entry,
    ledger_state,
)
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id
from tests.audit.drafts import PLAIN, denial, intent, outcome

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
OF_YEAR_ONE = cursor_text((datetime(1, 1, 1, tzinfo=UTC), UUID(int=1), None))


def ran(at: datetime, *, status: str = "completed", **fields: Any) -> UUID:
    call_id = new_id()
    ended = at + timedelta(seconds=1)
    entry_record(intent(call_id, at=at, **fields))
    fields.pop("params", None)
    result = {"result": {"text": "done"}, "phases": {"run": 8}}
    entry_record(outcome(call_id, at=ended, status=status, **fields | result))
    return call_id


def asked(at: datetime, answer: str | None = None, **fields: Any) -> UUID:
    call_id, approval_id = new_id(), new_id()
    shared: dict[str, Any] = {"call_id": call_id, "approval_id": approval_id} | fields
    ask = EntryDecision(verdict="ask", layer="exec_policy", reason="1 of 3 segments is not on the allowlist")
    entry_record(draft(EntryKind.APPROVAL_ASKED, at=at, status="requested", decision=ask, **shared))
    shared.pop("params", None)
    if answer is not None:
        verdict = EntryDecision(verdict="allow" if answer.startswith("allowed") else "deny", reason="use the job")
        kind = EntryKind.APPROVAL_EXPIRED if answer == "expired" else EntryKind.APPROVAL_ANSWERED
        said = {"status": answer, "decision": verdict, "actor": "user:priya", "duration_ms": 9000}
        entry_record(draft(kind, at=at + timedelta(seconds=9), **shared | said))
    if answer is not None and answer.startswith("allowed"):
        entry_record(draft(EntryKind.CALL_INTENT, at=at + timedelta(seconds=10), **shared))
        end = {"status": "completed", "duration_ms": 14_900}
        entry_record(draft(EntryKind.CALL_OUTCOME, at=at + timedelta(seconds=15), **shared | end))
    return call_id


def draft(kind: EntryKind, **fields: Any) -> EntryDraft:
    return replace(PLAIN, kind=kind, **fields)


def ids(page: CallPage) -> list[UUID]:
    return [record.id for record in page.rows]


def test_a_plain_call_is_one_record_of_two_entries() -> None:
    call_id = ran(NOON, params={"path": "notes.txt"})
    [record] = calls(EntryFilters()).rows
    assert (record.id, record.status, record.duration_ms, record.decision) == (call_id, "completed", 12, "allow")
    assert (record.params, record.result, record.phases) == ({"path": "notes.txt"}, {"text": "done"}, {"run": 8})
    assert [part.kind for part in record.entries] == ["call_intent", "call_outcome"]
    assert (record.at, record.ended_at) == (NOON, NOON + timedelta(seconds=1))


def test_a_call_that_asked_and_ran_is_one_record_that_names_who_allowed_it() -> None:
    asked(NOON, "allowed_once", params={"command": "ls"})
    [record] = calls(EntryFilters()).rows
    assert (record.status, record.approval_state, record.approval_by) == ("completed", "allowed_once", "user:priya")
    assert (record.approval_wait_ms, record.duration_ms, record.decision) == (9000, 14_900, "ask")
    assert len(record.entries) == 4


@pytest.mark.parametrize(
    ("answer", "status"),
    [(None, "awaiting_approval"), ("denied", "denied"), ("expired", "expired"), ("allowed_once", "completed")],
)
def test_an_asked_call_says_how_it_stands(answer: str | None, status: str) -> None:
    call_id = asked(NOON, answer)
    record = call_record(call_id)
    assert record is not None and record.status == status
    assert ids(calls(EntryFilters(status=(status,)))) == [call_id]


def test_a_call_without_outcome_is_running() -> None:
    call = intent(at=NOON)
    entry_record(call)
    ran(NOON)
    assert ids(calls(EntryFilters(status=("running",)))) == [call.call_id]


def test_a_denied_call_names_its_layer_and_rule() -> None:
    entry_record(denial(at=NOON))
    [record] = calls(EntryFilters(status=("denied",))).rows
    assert (record.layer, record.label, record.rule) == ("agent", "agents.bot.tools.deny", "agents.bot.tools.deny exec")
    assert record.ended_at == NOON


def test_a_known_outcome_beats_an_unknown_one() -> None:
    call = intent(at=NOON)
    assert call.call_id is not None
    entry_record(call)
    entry_record(outcome(call.call_id, status="unknown"))
    entry_record(outcome(call.call_id, status="failed"))
    record = call_record(call.call_id)
    assert record is not None and record.status == "failed"


@pytest.mark.parametrize(
    "filters",
    [
        {"agent": ("ops",)},
        {"tool": ("exec", "process")},
        {"environment": "staging"},
        {"sender": "99"},
        {"channel": "slack"},
        {"session_key": "agent:ops:slack"},
        {"actor": "user:maya"},
        {"text": "rollout STATUS"},
        {"text": "kubec"},
        {"status": ("failed",)},
        {"layer": ("channel_group",)},
        {"since": NOON + timedelta(hours=1)},
    ],
)
def test_each_filter_finds_the_one_call_it_is_about(filters: dict[str, Any]) -> None:
    ran(NOON, params={"path": "a"})
    odd = ran(
        NOON + timedelta(hours=2),
        status="failed",
        agent="ops",
        tool="exec",
        environment="staging",
        sender="99",
        channel="slack",
        session_key="agent:ops:slack",
        actor="user:maya",
        params={"command": "kubectl rollout\nstatus deploy/api"},
        decision=EntryDecision(verdict="allow", layer="channel_group"),
    )
    assert ids(calls(EntryFilters(**filters))) == [odd]
    assert calls_count(EntryFilters(**filters)).count == 1


def test_words_that_do_not_occur_and_punctuation_alone_find_nothing() -> None:
    ran(NOON, params={"path": "a"})
    assert not calls(EntryFilters(text="zebra")).rows
    assert not calls(EntryFilters(text="'&|!:*")).rows
    assert not calls(EntryFilters(text="\\' OR 1=1 --")).rows


def test_a_call_is_found_by_its_shown_id() -> None:
    call_id = ran(NOON)
    ran(NOON)
    assert ids(calls(EntryFilters().with_search(show_id("call", call_id)))) == [call_id]


def test_the_search_box_takes_field_terms_and_words() -> None:
    filters = EntryFilters().with_search('tool:exec tool:read agent:"ops runner" rollout status')
    assert filters == EntryFilters(tool=("exec", "read"), agent=("ops-runner", "ops runner"), text="rollout status")


def test_pages_walk_to_the_end_and_back_without_losing_or_repeating() -> None:
    made = [ran(NOON + timedelta(seconds=number // 2)) for number in range(23)]
    pages = [calls(EntryFilters(), limit=5)]
    while pages[-1].older:
        pages.append(calls(EntryFilters(), after=pages[-1].older, limit=5))
    forward = [ids(page) for page in pages]
    assert sorted(chain.from_iterable(forward)) == sorted(made) and len(forward) == 5
    assert pages[0].newer is None
    back = [pages[-1]]
    while back[-1].newer:
        back.append(calls(EntryFilters(), before=back[-1].newer, limit=5))
    assert list(chain.from_iterable(map(ids, reversed(back)))) == list(chain.from_iterable(forward))


@pytest.mark.parametrize(
    "filters", [{}, {"status": ("completed",)}, {"text": "done"}], ids=["plain", "status", "words"]
)
def test_calls_of_one_instant_are_walked_without_losing_or_repeating_one(filters: dict[str, Any]) -> None:
    made = [ran(NOON) for _ in range(7)]
    page = calls(EntryFilters(**filters), limit=2)
    found = list(ids(page))
    while page.older:
        page = calls(EntryFilters(**filters), after=page.older, limit=2)
        found += ids(page)
    assert len(found) == 7 and set(found) == set(made)


@pytest.mark.parametrize("filters", [{"text": "done"}, {"text": "done", "status": ("completed", "failed")}])
def test_words_are_found_in_order_across_months(filters: dict[str, Any]) -> None:
    months = (0, 1, 40, 41, 100, 200, 201, 400)
    made = [ran(NOON - timedelta(days=days), status=("completed", "failed")[days % 2]) for days in months]
    pages = [calls(EntryFilters(**filters), limit=3)]
    while pages[-1].older:
        pages.append(calls(EntryFilters(**filters), after=pages[-1].older, limit=3))
    assert [call_id for page in pages for call_id in ids(page)] == made
    assert pages[-1].newer is not None
    assert ids(calls(EntryFilters(**filters), before=pages[-1].newer, limit=3)) == made[3:6]
    within: dict[str, Any] = {"since": NOON - timedelta(days=150), "until": NOON - timedelta(days=40)}
    assert ids(calls(EntryFilters(**filters, **within))) == made[3:5]


def test_words_of_a_call_that_ended_in_a_later_month_are_found_by_its_beginning() -> None:
    begun = intent(at=NOON.replace(day=1, hour=0) - timedelta(seconds=1), params={"command": "overnight"})
    assert begun.call_id is not None
    entry_record(begun)
    entry_record(outcome(begun.call_id, at=NOON))
    assert ids(calls(EntryFilters(text="overnight"))) == [begun.call_id]


def test_several_statuses_of_a_tool_are_one_list_in_order() -> None:
    made = [
        ran(NOON, status="failed"),
        asked(NOON + timedelta(minutes=1), "denied", tool="read"),
        asked(NOON + timedelta(minutes=2), "expired", tool="read"),
        ran(NOON + timedelta(minutes=3)),
    ]
    entry_record(denied := denial(at=NOON + timedelta(minutes=4), tool="read"))
    wanted = EntryFilters(tool=("read",), status=("denied", "expired", "failed"))
    page = calls(wanted, limit=2)
    assert ids(page) == [denied.call_id, made[2]]
    assert page.older is not None
    assert ids(calls(wanted, after=page.older)) == [made[1], made[0]]
    assert ids(calls(replace(wanted, tool=()), limit=3)) == [denied.call_id, made[2], made[1]]


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 5),
        ({"environment": "production"}, 4),
        ({"agent": ("ops",)}, 2),
        ({"status": ("denied",)}, 1),
        ({"since": NOON - timedelta(days=3, minutes=30)}, 3),
        ({"since": NOON - timedelta(days=90), "until": NOON - timedelta(minutes=30)}, 3),
        ({"since": NOON - timedelta(days=70, minutes=1), "until": NOON + timedelta(minutes=30)}, 3),
        ({"agent": ("ops",), "tool": ("read",)}, 2),
    ],
)
def test_calls_are_counted_by_whole_hours_and_what_lies_beside_them(filters: dict[str, Any], count: int) -> None:
    ran(NOON - timedelta(days=90), agent="ops")
    ran(NOON - timedelta(days=70, seconds=59))
    ran(NOON - timedelta(days=3), agent="ops", environment="staging")
    entry_record(denial(at=NOON - timedelta(minutes=20)))
    ran(NOON + timedelta(minutes=40))
    assert calls_count(EntryFilters(**filters)) == Counted(count, is_exact=True)
    assert calls_count(EntryFilters(**filters), limit=count - 1) == Counted(count - 1, is_exact=False)


def test_a_count_waits_for_no_follower_that_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    ran(NOON)
    monkeypatch.setattr("apps.audit.pictures.follow_near", lambda: 5000)
    assert calls_count(EntryFilters()) == Counted(1, is_exact=True)


def test_what_arrives_meanwhile_moves_no_page() -> None:
    made = [ran(NOON + timedelta(seconds=number)) for number in range(6)]
    first = calls(EntryFilters(), limit=3)
    newer = [ran(NOON + timedelta(seconds=60 + number)) for number in range(4)]
    assert first.older is not None
    second = calls(EntryFilters(), after=first.older, limit=3)
    assert [*ids(first), *ids(second)] == made[::-1] and second.older is None
    assert second.newer is not None
    assert list(ids(calls(EntryFilters(), before=second.newer, limit=3))) == list(ids(first))
    assert list(ids(calls(EntryFilters(), limit=4))) == newer[::-1]


def test_a_page_reads_the_database_twice(django_assert_num_queries: Any) -> None:
    for number in range(10):
        ran(NOON + timedelta(seconds=number))
    with django_assert_num_queries(2):
        assert len(calls(EntryFilters()).rows) == 10


def test_single_entries_can_be_listed_by_kind() -> None:
    ran(NOON)
    entry_record(EntryDraft(kind=EntryKind.SIGN_IN, actor="user:anna", at=NOON))
    [row] = entries(EntryFilters(kind=("sign_in",))).rows
    assert row.actor == "user:anna" and row.call_id is None
    assert len(entries(EntryFilters()).rows) == 3


def test_a_cursor_that_is_not_ours_is_refused() -> None:
    for cursor in ("x", "MjAyNi0xMS0yMHx6", "💥", OF_YEAR_ONE):
        with pytest.raises(FilterError, match="cursor"):
            entries(EntryFilters(), after=cursor)


def test_an_entry_is_found_by_its_id_alone() -> None:
    receipt = entry_record(intent(at=NOON + timedelta(microseconds=1999)))
    found = entry(receipt.id)
    assert found is not None and found.hash == receipt.hash
    assert entry(new_id()) is None


def test_a_call_nobody_made_is_unknown() -> None:
    assert call_record(new_id()) is None and call_entries(new_id()) == ()


def test_the_histogram_counts_what_ran_what_was_denied_and_what_failed() -> None:
    ran(NOON)
    ran(NOON + timedelta(minutes=1), status="failed")
    entry_record(denial(at=NOON + timedelta(minutes=31)))
    asked(NOON + timedelta(minutes=31), "denied")
    filters = EntryFilters(since=NOON, until=NOON + timedelta(hours=1))
    picture = entry_histogram(filters, at=NOON, bars=2)
    assert picture.step_s == 1800
    assert [(bar.ran, bar.denied, bar.failed) for bar in picture.buckets] == [(1, 0, 1), (0, 2, 0)]
    assert (picture.total, picture.error_share, picture.denied_share) == (4, 0.25, 0.5)


def test_the_histogram_takes_the_same_filters_as_the_list() -> None:
    ran(NOON, agent="ops")
    ran(NOON)
    span = {"since": NOON, "until": NOON + timedelta(hours=1)}
    assert entry_histogram(EntryFilters(agent=("ops",), **span), at=NOON).total == 1  # type: ignore[arg-type]
    assert entry_histogram(EntryFilters(status=("denied",), **span), at=NOON).total == 0  # type: ignore[arg-type]


def test_facets_say_what_occurs_and_how_often() -> None:
    ran(NOON)
    ran(NOON, agent="ops", tool="exec")
    entry_record(denial(at=NOON, agent="ops"))
    facets = entry_facets(EntryFilters(), at=NOON + timedelta(hours=1))
    assert [(facet.value, facet.count) for facet in facets["agent"]] == [("ops", 2), ("bot", 1)]
    assert [(facet.value, facet.count) for facet in facets["tool"]] == [("read", 2), ("exec", 1)]
    assert {facet.value: facet.count for facet in facets["status"]} == {"completed": 2, "denied": 1}


def test_calls_with_exactly_these_params_are_counted_with_those_that_were_denied() -> None:
    shared: dict[str, Any] = {"tool": "exec", "params": {"command": "df -h", "env": {"TOKEN": "s3cr3t-value"}}}
    ran(NOON, **shared)
    asked(NOON, "denied", **shared)
    ran(NOON, **shared | {"agent": "other"})
    params = calls(EntryFilters(agent=("bot",))).rows[0].params
    like = calls_like(environment="production", agent="bot", tool="exec", params=params, until=NOON + timedelta(days=1))
    assert (like.calls, like.denied) == (2, 1)


def test_filters_are_read_from_a_url_and_written_back() -> None:
    given = QueryDict("tool=exec&tool=read&agent=bot&text=a+b&since=2026-11-14T07:00:00Z&page=3&sender=")
    filters = EntryFilters.read(given)
    assert (filters.tool, filters.agent, filters.text) == (("exec", "read"), ("bot",), "a b")
    assert filters.since == datetime(2026, 11, 14, 7, tzinfo=UTC)
    assert EntryFilters.read(filters.to_json()) == filters


def test_each_filter_that_cannot_be_read_is_named() -> None:
    with pytest.raises(FilterError) as refused:
        EntryFilters.read({"since": "yesterday", "call_id": "call_1", "text": "x" * 501, "tool": "exec"})
    assert [mistake["path"] for mistake in refused.value.details] == ["call_id", "text", "since"]


@pytest.mark.parametrize(
    "text", ["\x00", "a\x00b", "\ud800", "tool:\x00x", "'", "\\", "%s %(x)s", "💥" * 600, "agent:" * 200]
)
def test_hostile_words_find_nothing_and_break_nothing(text: str) -> None:
    ran(NOON, params={"path": "a"})
    assert not calls(EntryFilters().with_search(text)).rows
    assert not calls(EntryFilters.read({"agent": text})).rows


@pytest.mark.parametrize("instant", ["0001-01-01", "9999-12-31T23:59:59Z", "2026-13-01", "now"])
def test_an_instant_out_of_reach_is_refused(instant: str) -> None:
    with pytest.raises(FilterError, match="until"):
        EntryFilters.read({"until": instant})


def test_the_ledger_says_how_long_it_is() -> None:
    assert ledger_state().entries == 0
    ran(NOON)
    state = ledger_state()
    assert (state.entries, state.chains) == (2, 1) and state.head is not None
