"""Files of the ledger, as programs ask for and take them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apps.audit.drafts import EntryDraft
from apps.audit.exporting import export_run
from apps.audit.services import entry_record
from apps.audit.tasks import export_run_task
from apps.firewall.identifiers import new_id, read_id

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def enqueued(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No worker runs beside a test: what it is handed is kept here."""
    settings.VAR_DIR = tmp_path
    handed: list[str] = []
    monkeypatch.setattr(export_run_task, "delay", handed.append)
    return handed


@pytest.fixture
def agent(environment: Any) -> str:
    name = f"agent-{new_id().hex}"
    for number in range(3):
        entry_record(
            EntryDraft(
                kind="call_intent", environment=environment.slug, agent=name, call_id=new_id(), params={"n": number}
            )
        )
    return name


def ask(program: Any, agent: str, name: str = "jsonl") -> Any:
    return program.post("audit/exports", {"format": name, "filters": {"agent": [agent]}})


def test_a_program_asks_sees_how_far_it_is_and_takes_file_and_manifest(
    program: Callable[..., Any], agent: str, enqueued: list[str]
) -> None:
    auditor = program("audit_export")
    asked = ask(auditor, agent)
    assert asked.status_code == 202 and asked.json()["state"] == "waiting"
    path = f"audit/exports/{asked.json()['id']}"
    assert auditor.get(f"{path}/file").status_code == 404
    assert enqueued == [str(read_id("exp", asked.json()["id"]))]

    export_run_task(enqueued[0])

    done = auditor.get(path).json()
    assert (done["state"], done["rows_done"], done["rows_total"], done["percent"]) == ("done", 3, 3, 100)
    body = b"".join(auditor.get(f"{path}/file").streaming_content)
    assert [json.loads(line)["params"]["n"] for line in body.splitlines()] == [0, 1, 2]
    manifest = json.loads(b"".join(auditor.get(f"{path}/manifest").streaming_content))
    assert manifest["file"]["sha256"] == done["sha256"]


def test_an_export_belongs_to_the_token_that_asked(program: Callable[..., Any], agent: str) -> None:
    mine, other = program("audit_export"), program("audit_export")
    export = ask(mine, agent).json()["id"]
    assert [row["id"] for row in mine.get("audit/exports").json()["rows"]] == [export]
    assert other.get("audit/exports").json()["rows"] == []
    assert other.get(f"audit/exports/{export}").status_code == 404
    assert other.post(f"audit/exports/{export}/cancel", {}).status_code == 404


def test_a_cancelled_export_is_not_written(program: Callable[..., Any], agent: str, enqueued: list[str]) -> None:
    auditor = program("audit_export")
    export = ask(auditor, agent).json()["id"]
    assert auditor.post(f"audit/exports/{export}/cancel", {}).json()["state"] == "cancelled"
    assert auditor.post(f"audit/exports/{export}/cancel", {}).status_code == 409
    assert not export_run(read_id("exp", export), at=datetime.now(UTC))


def test_the_list_is_read_page_by_page(
    program: Callable[..., Any], agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.api.views.audit_exports.PAGE", 2)
    auditor = program("audit_export")
    asked = [ask(auditor, agent).json()["id"] for _ in range(5)]
    seen: list[str] = []
    older: str | None = ""
    while older is not None:
        page = auditor.get(f"audit/exports?after={older}").json()
        ask(auditor, agent)  # what is asked meanwhile moves nothing that follows
        seen += [row["id"] for row in page["rows"]]
        older = page["older"]
    assert seen == asked[::-1]
    assert auditor.get("audit/exports?after=nonsense").status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"format": "exe"},
        {"format": "csv", "filters": []},
        {"format": "csv", "filters": {"since": "yesterday"}},
        {},
    ],
)
def test_what_cannot_be_exported_is_named(program: Callable[..., Any], environment: Any, body: Any) -> None:
    answer = program("audit_export").post("audit/exports", body)
    assert answer.status_code in {400, 422} and answer.json()["details"]
