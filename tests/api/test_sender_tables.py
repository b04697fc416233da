"""Tables of rules by sender for programs."""

from typing import Any

import pytest

pytestmark = pytest.mark.django_db
TABLE = "key,deny\nid:7,exec\n"


@pytest.fixture
def writer(program: Any, draft: Any) -> Any:
    return program("policy_read", "policy_write")


def test_a_dry_run_writes_nothing_and_an_import_does(writer: Any) -> None:
    tried = writer.ask("POST", "sender-rules/import?dry_run=true", {"csv": TABLE})
    assert (tried.status_code, tried.json()["is_applied"]) == (200, False)
    assert tried.json()["counts"] == {"added": 1, "changed": 0, "unchanged": 0, "refused": 0}
    before = len(writer.get("sender-rules").json()["results"])
    done = writer.ask("POST", "sender-rules/import", {"csv": TABLE})
    assert (done.status_code, done.json()["is_applied"]) == (200, True)
    assert done.json()["rows"] == [
        {"line": 2, "key": "id:7", "outcome": "added", "field": "", "code": "", "message": ""}
    ]
    assert len(writer.get("sender-rules").json()["results"]) == before + 1


def test_rules_of_an_agent_are_written_and_read(writer: Any) -> None:
    agent = writer.get("agents").json()["results"][0]["id"]
    assert writer.ask("POST", "sender-rules/import", {"csv": TABLE, "agent": agent}).status_code == 200
    answer = writer.get(f"sender-rules/export?agent={agent}")
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.content.startswith(b"\xef\xbb\xbf")  # by it a spreadsheet knows UTF-8
    assert not writer.get(f"sender-rules/export?agent={agent}&bom=false").content.startswith(b"\xef")
    assert answer.content.decode("utf-8-sig").splitlines() == ["key,allow,also_allow,deny", "id:7,,,exec"]
    assert len(writer.get("sender-rules/export").content.decode().splitlines()) == 1


def test_refused_rows_are_named_and_nothing_is_taken(writer: Any) -> None:
    table = TABLE + "id:,exec\n"
    tried = writer.ask("POST", "sender-rules/import?dry_run=1", {"csv": table})
    assert tried.json()["rows"][-1] | {"message": ""} == {
        "line": 3, "key": "id:", "outcome": "refused", "field": "key", "code": "never_reached", "message": "",
    }  # fmt: skip
    answer = writer.ask("POST", "sender-rules/import", {"csv": table})
    assert answer.status_code == 422
    assert answer.json()["details"][0]["path"] == "line 3.key"


def test_an_unknown_scope_is_not_found(writer: Any) -> None:
    answer = writer.ask("POST", "sender-rules/import", {"csv": TABLE, "group": "rec_00000000000000000000000001"})
    assert answer.status_code == 404


def test_reading_rights_import_nothing(program: Any, draft: Any) -> None:
    assert program("policy_read").ask("POST", "sender-rules/import", {"csv": TABLE}).status_code == 403
