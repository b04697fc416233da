"""Filters of the ledger, as programs say them: each narrows as it says, or is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.audit.drafts import EntryDecision, EntryDraft
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = ["audit/calls", "audit/entries"]


@pytest.fixture
def reader(program: Callable[..., Any]) -> Any:
    return program("audit_read", "audit_export")


@pytest.fixture
def made(environment: Any) -> Callable[..., Any]:
    """Record a call; its agent's name is used by no other test."""

    def record(**facts: Any) -> Any:
        facts = {"environment": environment.slug, "tool": "read", "call_id": new_id(), "actor": "token:test"} | facts
        facts.setdefault("agent", f"agent-{new_id().hex}")
        entry_record(EntryDraft(kind="call_intent", decision=EntryDecision(verdict="allow"), **facts))
        entry_record(EntryDraft(kind="call_outcome", status="completed", duration_ms=12, **facts))
        return facts

    return record


def mistakes(answer: Any) -> dict[str, str]:
    assert answer.status_code == 422, answer.content
    return {each["path"]: each["message"] for each in answer.json()["details"]}


@pytest.mark.parametrize("path", [*LISTS, "audit/export"])
@pytest.mark.parametrize(
    ("query", "place", "says"),
    [
        ("status=nonsense", "status", "completed"),
        ("status=complted", "status", "did you mean `completed`?"),
        ("kind=nonsense", "kind", "call_intent"),
        ("decision=alow", "decision", "did you mean `allow`?"),
        ("since=2026-11-29&until=2026-11-01", "until", "before `since`"),
        ("duration_min=1000&duration_max=1", "duration_max", "before `duration_min`"),
        ("since=2026-11-28T00:00:00 00:00", "since", "ISO 8601"),
        ("since=2026-02-30", "since", "ISO 8601"),
        ("q=kind:nonsense", "kind", "call_intent"),
    ],
)
def test_what_finds_nothing_by_mistake_is_refused(reader: Any, path: str, query: str, place: str, says: str) -> None:
    assert says in mistakes(reader.get(f"{path}?{query}"))[place]


@pytest.mark.parametrize(
    "filters", [{"status": "nonsense"}, {"kind": ["nonsense"]}, {"since": "2026-11-29", "until": "2026-11-01"}]
)
def test_an_export_refuses_the_same(reader: Any, environment: Any, filters: Any) -> None:
    assert mistakes(reader.post("audit/exports", {"format": "jsonl", "filters": filters}))


@pytest.mark.parametrize(
    "path", [*LISTS, "sessions", "tool-search/runs", "registry/tools", "agents", "unmatched-rules"]
)
@pytest.mark.parametrize("limit", ["abc", "-1", "0", "1.5", "１０", "100000"])
def test_a_limit_that_is_no_number_is_refused(program: Callable[..., Any], path: str, limit: str) -> None:
    everything = program("audit_read", "policy_read")

    assert "whole number" in mistakes(everything.get(f"{path}?limit={limit}"))["limit"]


@pytest.mark.parametrize(
    ("path", "query", "place"),
    [
        ("audit/report", "days=0", "days"),
        ("audit/report", "days=many", "days"),
        ("audit/report", "since=yesterday", "since"),
        ("audit/report", "since=2026-11-29T00:00:00Z&until=2026-11-01T00:00:00Z", "until"),
        ("approvals/fatigue", "days=0", "days"),
        ("approvals/fatigue", "days=many", "days"),
    ],
)
def test_reports_refuse_what_they_cannot_read_as_lists_do(reader: Any, path: str, query: str, place: str) -> None:
    assert place in mistakes(reader.get(f"{path}?{query}"))


def test_a_call_has_one_id_on_the_page_in_the_api_in_files_and_in_the_search(
    reader: Any, made: Callable[..., Any], client_of: Callable[..., Any], auditor: Any
) -> None:
    import csv
    import io
    import json

    call = made()
    shown, agent = show_id("call", call["call_id"]), call["agent"]

    def file(name: str) -> str:
        answer = reader.get(f"audit/export?agent={agent}&as={name}")
        return b"".join(answer.streaming_content).decode("utf-8-sig")

    rows = [
        *(json.loads(line) for line in file("jsonl").splitlines()),
        *csv.DictReader(io.StringIO(file("csv"))),
        *reader.get(f"audit/entries?agent={agent}").json()["rows"],
    ]
    assert [row["call_id"] for row in rows] == [shown] * 6
    assert [each["id"] for each in reader.get(f"audit/calls?q={shown}").json()["rows"]] == [shown]
    assert f'id="row-{shown}"' in client_of(auditor).get(f"/audit/?agent={agent}").content.decode()


def test_the_ids_of_files_are_those_of_pages_for_every_value(made: Callable[..., Any], reader: Any) -> None:
    import json
    from uuid import UUID

    agent = f"agent-{new_id().hex}"
    ids = [UUID(int=0), UUID(int=2**128 - 1), *(UUID(int=31 << 5 * n & 2**128 - 1) for n in range(26))]
    ids += [UUID(bytes=bytes(range(n, n + 16))) for n in range(0, 240, 13)]
    for each in ids:
        made(agent=agent, call_id=each, approval_id=each)
    answer = reader.get(f"audit/export?agent={agent}&as=jsonl&kind=call_intent")
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]

    assert sorted(line["call_id"] for line in lines) == sorted(show_id("call", each) for each in ids)
    assert sorted(line["approval_id"] for line in lines) == sorted(show_id("ap", each) for each in ids)


def test_dates_mean_whole_days_and_the_last_one_is_included(reader: Any, made: Callable[..., Any]) -> None:
    call = made()
    (row,) = reader.get(f"audit/calls?agent={call['agent']}").json()["rows"]
    day = row["at"][:10]

    def found(query: str) -> int:
        return len(reader.get(f"audit/calls?agent={call['agent']}&{query}").json()["rows"])

    assert found(f"since={day}&until={day}") == found(f"since={day}") == found(f"until={day}") == 1
    assert found(f"until={day}T00:00:00Z") == 0


def test_an_actor_is_found_by_the_name_that_people_see(
    reader: Any, made: Callable[..., Any], token: Callable[..., Any], operator: Any
) -> None:
    row, _ = token("calls_make", name="agentcaller")
    by_token, by_person = made(actor=row.actor), made(actor=operator.actor)

    def agents(actor: str) -> set[str]:
        rows = reader.get(f"audit/calls?actor={actor}").json()["rows"]
        return {each["agent"] for each in rows}

    assert by_token["agent"] in agents("agentcaller") & agents("token:agentcaller") & agents(row.actor)
    assert by_person["agent"] in agents(operator.username) & agents(operator.actor)
    assert by_person["agent"] not in agents("agentcaller")


def test_the_filter_and_the_search_box_narrow_together(reader: Any, made: Callable[..., Any]) -> None:
    one, other = made(), made()

    def found(query: str) -> set[str]:
        return {each["agent"] for each in reader.get(f"audit/calls?{query}").json()["rows"]}

    assert found(f"agent={one['agent']}&q=agent:{other['agent']}") == set()
    assert found(f"agent={one['agent']}&agent={other['agent']}&q=agent:{other['agent']}") == {other["agent"]}
    assert found(f"agent={one['agent']}&q=tool:read") == {one["agent"]}
    assert found(f"agent={one['agent']}&channel=slack&q=channel:irc") == set()


def test_a_call_is_found_by_its_id_in_either_spelling(reader: Any, made: Callable[..., Any]) -> None:
    call = made()
    shown = show_id("call", call["call_id"])

    for spelling in (shown, str(call["call_id"]), str(call["call_id"]).upper()):
        rows = reader.get(f"audit/calls?q={spelling}").json()["rows"]
        assert [each["id"] for each in rows] == [shown]
        assert len(reader.get(f"audit/entries?call_id={spelling.lower()}").json()["rows"]) == 2


def test_text_with_colons_is_text(reader: Any, made: Callable[..., Any]) -> None:
    call = made(params={"command": "curl http://build-host:8443/tool:exec mytool:exec at 12:30:45"})

    def found(search: str) -> list[str]:
        from urllib.parse import quote

        rows = reader.get(f"audit/calls?agent={call['agent']}&q={quote(search)}").json()["rows"]
        return [each["agent"] for each in rows]

    for search in ("http://build-host:8443/tool:exec", "12:30:45", '"tool:exec"', "mytool:exec"):
        assert found(search) == [call["agent"]], search
    assert found("tool:exec") == []


def test_pages_read_on_while_calls_come_in_give_each_entry_once(reader: Any, made: Callable[..., Any]) -> None:
    agent = made()["agent"]
    for _ in range(6):
        made(agent=agent)
    seen: list[str] = []
    after, pages = "", 0
    before = [each["id"] for each in reader.get(f"audit/entries?agent={agent}&limit=500").json()["rows"]]
    while after is not None and pages < 6:
        page = reader.get(f"audit/entries?agent={agent}&limit=4&after={after}").json()
        made(agent=agent)
        seen += [each["id"] for each in page["rows"]]
        after, pages = page["older"], pages + 1

    assert seen == before


def test_no_cell_of_a_table_begins_a_formula(reader: Any, made: Callable[..., Any]) -> None:
    import csv
    import io

    call = made(tool="=1+1", sender="@SUM(1)", channel='a\n"b",c')
    answer = reader.get(f"audit/export?agent={call['agent']}&as=csv")
    rows = list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))

    assert {len(row) for row in rows} == {34}
    assert all("'=1+1" in row and "'@SUM(1)" in row for row in rows[1:])


def test_who_was_switched_off_is_still_found_by_name(
    reader: Any, made: Callable[..., Any], operator: Any, admin: Any
) -> None:
    from apps.accounts.services import user_deactivate

    call = made(actor=operator.actor)
    user_deactivate(operator, by=admin)

    rows = reader.get(f"audit/calls?actor={operator.username}&agent={call['agent']}").json()["rows"]
    assert [each["actor"] for each in rows] == [operator.actor]
