"""The ledger, as programs read it."""

import csv
import io
import json
from typing import Any

import pytest

from apps.audit.drafts import EntryDecision, EntryDraft
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def call(environment: Any) -> Any:
    """A call that read a file; its agent's name is used by no other test."""
    facts: dict[str, Any] = {
        "environment": environment.slug,
        "agent": f"agent-{new_id().hex}",
        "tool": "read",
        "call_id": new_id(),
        "actor": "token:test",
    }
    allowed = EntryDecision(verdict="allow")
    entry_record(EntryDraft(kind="call_intent", params={"path": "notes.txt"}, decision=allowed, **facts))
    entry_record(EntryDraft(kind="call_outcome", status="completed", result="hello", duration_ms=12, **facts))
    return facts


def test_a_call_is_found_with_params_result_and_duration(program: Any, call: Any) -> None:
    reader = program("audit_read")

    [row] = reader.get(f"audit/calls?agent={call['agent']}").json()["rows"]

    assert row["id"] == show_id("call", call["call_id"])
    assert (row["params"], row["result"], row["duration_ms"]) == ({"path": "notes.txt"}, "hello", 12)
    detail = reader.get(f"audit/calls/{row['id']}").json()
    assert [entry["kind"] for entry in detail["entries"]] == ["call_intent", "call_outcome"]
    assert detail["entries"][1]["seq"] == detail["entries"][0]["seq"] + 1


def test_a_filter_that_cannot_be_read_is_named(program: Any) -> None:
    answer = program("audit_read").get("audit/calls?since=yesterday")

    assert answer.status_code == 422
    assert [detail["path"] for detail in answer.json()["details"]] == ["since"]


def test_the_search_box_works_here_too(program: Any, call: Any) -> None:
    rows = program("audit_read").get(f"audit/entries?q=agent:{call['agent']}").json()["rows"]

    assert {row["kind"] for row in rows} == {"call_intent", "call_outcome"}


def test_reading_the_ledger_is_not_taking_it_away(program: Any, call: Any) -> None:
    assert program("audit_read").get("audit/export").status_code == 403
    assert program("policy_read").get("audit/calls").status_code == 403


def test_an_export_is_whole_and_itself_recorded(program: Any, call: Any) -> None:
    exporter = program("audit_read", "audit_export")

    answer = exporter.get(f"audit/export?agent={call['agent']}&as=jsonl")
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]

    assert [line["kind"] for line in lines] == ["call_intent", "call_outcome"]
    assert exporter.get("audit/entries?kind=export&limit=1").json()["rows"][0]["changes"]["format"] == "jsonl"


def test_a_table_can_be_read_by_a_spreadsheet(program: Any, call: Any) -> None:
    answer = program("audit_read", "audit_export").get(f"audit/export?agent={call['agent']}&as=csv")

    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
    assert [row["kind"] for row in rows] == ["call_intent", "call_outcome"]


def test_an_unknown_format_is_refused(program: Any) -> None:
    assert program("audit_read", "audit_export").get("audit/export?as=exe").status_code == 422


def test_an_environment_sees_its_own_calls_only(program: Any, call: Any, admin: Any) -> None:
    from apps.registry.services import environment_create

    environment_create(slug="staging", by=admin)
    stranger = program("audit_read", environment="staging")

    assert stranger.get(f"audit/calls?agent={call['agent']}").json()["rows"] == []
    assert stranger.get(f"audit/calls/{show_id('call', call['call_id'])}").status_code == 404


def test_a_limit_of_thousands_of_digits_is_refused_as_any_other(program: Any) -> None:
    answer = program("audit_read").get(f"audit/calls?limit={'9' * 5000}")
    assert (answer.status_code, answer.json()["details"][0]["path"]) == (422, "limit")
