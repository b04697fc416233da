"""A walk over the ledger is asked for, goes on in the background, is told in the ledger, and raises an alarm."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.audit.errors import VerificationNotFoundError
from apps.audit.filters import EntryFilters
from apps.audit.models import VerificationRun
from apps.audit.selectors import entries
from apps.audit.services import entry_record
from apps.audit.verification_runs import (
    alarms,
    verification_access,
    verification_due,
    verification_last,
    verification_request,
    verification_run,
    verifications_unfinished,
)
from apps.firewall.identifiers import new_id
from tests.audit.drafts import intent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger", "fresh_writer")]

MAINTENANCE = "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on'; {}; COMMIT"


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> None:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""


def test_a_walk_is_told_in_the_ledger(auditor: Any) -> None:
    entry_record(intent())
    run = verification_request(auditor, at=timezone.now())
    assert verification_run(run.pk, at=timezone.now())
    run.refresh_from_db()
    assert (run.state, run.is_intact, run.entries_done, run.entries_total) == ("done", True, 1, 1)
    (told,) = entries(EntryFilters(kind=("verification",))).rows
    assert (told.actor, told.status, told.changes["entries"]) == (auditor.actor, "completed", 1)
    assert alarms(timezone.now()) == []


def test_what_does_not_hold_raises_an_alarm(auditor: Any, owner_sql: Callable[[str], None]) -> None:
    entry_record(intent())
    owner_sql(MAINTENANCE.format("UPDATE audit_entry SET tool = 'x'"))
    run = verification_request(auditor, at=timezone.now())
    verification_run(run.pk, at=timezone.now())
    last = verification_last(is_done=True)
    assert last is not None and last.is_intact is False
    assert last.report["problems"][0]["code"] == "changed"
    assert [alarm.code for alarm in alarms(timezone.now())] == ["broken"]


def test_asking_twice_is_asking_once(auditor: Any, admin: Any) -> None:
    first = verification_request(auditor, at=timezone.now())
    assert verification_request(admin, at=timezone.now()).pk == first.pk
    assert verification_run(first.pk, at=timezone.now()) and not verification_run(first.pk, at=timezone.now())


def test_a_walk_whose_worker_was_killed_is_begun_anew() -> None:
    at = timezone.now()
    run = VerificationRun.objects.create(requested_by="system", requested_at=at, touched_at=at, state="running")
    assert verifications_unfinished(at) == [] and not verification_run(run.pk, at=at)
    later = at + timedelta(minutes=3)
    assert verifications_unfinished(later) == [run.pk] and verification_run(run.pk, at=later)


def test_the_ledger_is_walked_each_day(owner_sql: Callable[[str], None]) -> None:
    at = timezone.now()
    assert verification_due(at) is None  # nothing was written yet
    entry_record(intent())
    assert verification_due(at) is None
    owner_sql("UPDATE audit_boot SET started_at = started_at - interval '2 days'")
    due = verification_due(at)
    assert due is not None and due.requested_by == "system"
    verification_run(due.pk, at=at)
    assert verification_due(at + timedelta(hours=23)) is None
    assert [alarm.code for alarm in alarms(at + timedelta(days=3))] == ["overdue"]
    assert verification_due(at + timedelta(hours=25)) is not None


def test_a_walk_that_fails_says_so(monkeypatch: pytest.MonkeyPatch, auditor: Any) -> None:
    def broken(**_: Any) -> None:
        raise OSError

    monkeypatch.setattr("apps.audit.verification_runs.verify_chains", broken)
    run = verification_request(auditor, at=timezone.now())
    with pytest.raises(OSError):
        verification_run(run.pk, at=timezone.now())
    assert [(alarm.code, alarm.detail) for alarm in alarms(timezone.now())] == [("failed", "OSError")]


def test_it_is_for_those_who_may_read_the_ledger(viewer: Any, auditor: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        verification_request(viewer, at=timezone.now())
    run = verification_request(auditor, at=timezone.now())
    with pytest.raises(PermissionDeniedError):
        verification_access(viewer, run.pk)
    with pytest.raises(VerificationNotFoundError):
        verification_access(auditor, new_id())
