"""How the ledger stands, as programs read it; what they may have signed and walked."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

import verify_audit
from apps.audit.models import VerificationRun
from apps.audit.services import entry_record
from apps.audit.signing import audit_key, key_id
from apps.audit.tasks import verification_task
from apps.audit.verification_runs import verification_run
from tests.audit.conftest import fresh_writer  # noqa: F401 - a fixture
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger", "fresh_writer", "environment")]

Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def handed(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""
    kept: list[str] = []
    monkeypatch.setattr(verification_task, "delay", kept.append)
    return kept


def test_a_program_reads_how_the_ledger_stands(program: Program) -> None:
    entry_record(intent())
    auditor = program("audit_read")
    before = auditor.get("audit/integrity").json()
    assert (before["entries"], before["open_entries"], before["checkpoint"], before["alarms"]) == (1, 1, None, [])
    assert before["fingerprint"] == key_id(audit_key().public)
    (made,) = auditor.post("audit/checkpoints", None).json()
    after = auditor.get("audit/integrity").json()
    assert (after["open_entries"], after["checkpoint"]) == (0, made)
    assert auditor.post("audit/checkpoints", None).json() == []


def test_statements_are_read_in_the_form_that_others_check(program: Program) -> None:
    auditor = program("audit_read")
    for _ in range(3):
        entry_record(intent())
        auditor.post("audit/checkpoints", None)
    page = auditor.get("audit/statements").json()
    assert [each["number"] for each in page["rows"]] == [1, 2, 3] and page["after"] == 3
    assert all(map(verify_audit.statement_is_sound, page["rows"]))
    assert auditor.get("audit/statements?after=2").json()["rows"] == page["rows"][2:]
    assert auditor.get("audit/statements?after=3&kind=purge").json() == {"rows": [], "after": 3}


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=99999999999999999999", "after=\u0663", "kind=none"])
def test_what_cannot_be_asked_for_is_refused(program: Program, query: str) -> None:
    refused = program("audit_read").get(f"audit/statements?{query}")
    assert refused.status_code == 422
    assert refused.json()["details"][0]["path"] == query.split("=")[0]


def test_chains_are_listed(program: Program) -> None:
    receipt = entry_record(intent())
    auditor = program("audit_read")
    (row,) = auditor.get("audit/chains").json()["rows"]
    assert (row["id"], row["seq"], row["head"], row["covered"]) == (str(receipt.chain_id), 1, receipt.hash.hex(), 0)
    assert auditor.get(f"audit/chains?before={row['id']}").json() == {"rows": [], "older": None}
    assert auditor.get("audit/chains?before=x").status_code == 422


def test_a_walk_is_asked_for_and_followed_to_its_end(
    program: Program, handed: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    entry_record(intent())
    auditor = program("audit_read")
    with django_capture_on_commit_callbacks(execute=True):
        asked = auditor.post("audit/verifications", None)
    assert asked.status_code == 202 and asked.json()["state"] == "waiting"
    assert auditor.post("audit/verifications", None).json()["id"] == asked.json()["id"]
    run = VerificationRun.objects.get()
    assert handed == [str(run.pk)]
    verification_run(run.pk, at=timezone.now())
    done = auditor.get(f"audit/verifications/{asked.json()['id']}").json()
    assert (done["state"], done["is_intact"], done["report"]["entries"]) == ("done", True, 1)
    assert auditor.get("audit/integrity").json()["last_verification"]["id"] == done["id"]
    assert auditor.get("audit/verifications/run_00000000000000000000000000").status_code == 404


def test_who_reads_one_environment_learns_nothing_of_the_whole(program: Program) -> None:
    one = program("audit_read", environment="elsewhere")
    for path in ("integrity", "chains", "statements"):
        assert one.get(f"audit/{path}").status_code == 404
    for path in ("checkpoints", "verifications"):
        assert one.post(f"audit/{path}", None).status_code == 404
