"""Records go by their class, never below a floor or under a hold, and every chain still verifies."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.errors import PermissionDeniedError
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import AuditUnavailableError, ErasureHeldError, RetentionInvalidError
from apps.audit.models import Content, Entry
from apps.audit.retention import batches, purging
from apps.audit.retention.classes import CLASSES, purge_preview, retention_class, retention_classes, retention_set
from apps.audit.retention.erasing import erasure_preview, erasure_request, erasure_run
from apps.audit.retention.holds import hold_lift, hold_place, holds_active
from apps.audit.retention.purging import (
    STALE,
    purge_go_on,
    purge_request,
    purge_run,
    purges,
    purges_run,
    purges_unfinished,
)
from apps.audit.retention.ranges import Place, ranges_of
from apps.audit.services import entry_record
from apps.audit.statements import statement_sign
from apps.audit.verification import verify_chains
from apps.firewall.identifiers import new_id
from tests.audit.drafts import denial, intent, outcome

CHAIN = new_id()


@given(st.sets(st.integers(1, 60)))
def test_ranges_name_each_number_once_and_nothing_else(numbers: set[int]) -> None:
    places = [Place(CHAIN, seq, bytes([seq - 1]), bytes([seq])) for seq in numbers]
    found = ranges_of(places, with_hashes=True)
    named = [seq for each in found for seq in range(each["first"], each["last"] + 1)]
    assert named == sorted(numbers)
    assert all(each["prev"] == f"{each['first'] - 1:02x}" and each["hash"] == f"{each['last']:02x}" for each in found)
    assert all(after["first"] > before["last"] + 1 for before, after in pairwise(found))


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def mixed(transactional_db: None, fresh_writer: None) -> None:
    """Old and new records of several classes, in one chain: intent, denial, publish and outcome by turns."""
    for days in (400, 400, 40, 0):
        at = now() - timedelta(days=days, minutes=5)
        call_id = new_id()
        entry_record(intent(call_id, params={"n": days}, at=at))
        entry_record(denial(params={"n": days}, at=at))
        entry_record(EntryDraft(kind=EntryKind.PUBLISH, environment="production", changes={"n": days}, at=at))
        entry_record(outcome(call_id, result={"n": days}, at=at))


def counted(kind: str) -> int:
    return Entry.objects.filter(kind=kind).count()


@pytest.mark.usefixtures("mixed")
def test_a_class_goes_after_its_days_and_the_chain_verifies(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_ENTRIES", 2)
    retention_set(admin, "calls", days=100, at=now())
    preview = purge_preview(None, "calls")
    assert (preview.records, preview.held) == (4, 0) and preview.size_bytes > 0
    done = purge_run("calls", at=now())
    assert (done.records, done.is_done) == (4, True)
    assert (counted("call_intent"), counted("call_outcome"), counted("denial"), counted("publish")) == (2, 2, 4, 4)
    report = verify_chains()
    assert report.is_intact and report.purged == 4
    assert purge_run("calls", at=now()).records == 0


def _shown() -> list[tuple[str, int, int]]:
    return [(run.state, run.records_done, run.records_total) for run in purges()]


@pytest.mark.usefixtures("mixed")
def test_a_purge_shows_how_far_it_is_and_is_gone_on_with(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_ENTRIES", 2)
    retention_set(admin, "calls", days=100, at=now())
    asked = purge_request(admin, "calls", at=now())
    assert purge_request(admin, "calls", at=now()) == asked and _shown() == [("waiting", 0, 4)]
    assert not purge_go_on(asked.pk, at=now(), limit_s=0).is_done
    assert _shown() == [("running", 2, 4)] and purges_unfinished(now()) == []
    assert purges_unfinished(now() + STALE * 2) == [asked.pk]
    assert [each.records for each in purges_run(at=now())] == [2]  # as if its worker had been killed
    assert _shown() == [("done", 4, 4)] and purges_unfinished(now() + STALE * 2) == []
    last = Entry.objects.filter(kind="purge").latest("at", "id")
    assert (last.status, last.actor, (call_changes(last.pk))["records"]) == ("purged", admin.actor, 4)
    assert verify_chains().is_intact


@pytest.mark.usefixtures("mixed")
def test_what_nothing_is_to_be_taken_of_shows_no_purge(admin: Any) -> None:
    retention_set(admin, "denials", days=4000, at=now())
    purges_run(at=now())
    assert _shown() == []
    run = purge_request(admin, "denials", at=now())
    assert purge_go_on(run.pk, at=now()).is_done and _shown() == [("done", 0, 0)]


@pytest.mark.usefixtures("mixed")
def test_a_purge_that_breaks_off_says_why(
    admin: Any, monkeypatch: pytest.MonkeyPatch, owner_sql: Callable[[str], None]
) -> None:
    monkeypatch.setattr(batches, "BATCH_ENTRIES", 2)
    retention_set(admin, "calls", days=100, at=now())
    run = purge_request(admin, "calls", at=now())
    purge_go_on(run.pk, at=now(), limit_s=0)
    with monkeypatch.context() as broken:
        broken.setattr(purging, "entries_purge", _refused)
        with pytest.raises(AuditUnavailableError):
            purge_go_on(run.pk, at=now())
    assert _shown() == [("failed", 2, 4)] and purges()[0].error == "the disk is full"
    assert purge_run("calls", at=now()).records == 2  # the next one takes the others
    assert _shown() == [("done", 2, 2), ("failed", 2, 4)] and verify_chains().is_intact


def _refused(*_: Any) -> int:
    raise AuditUnavailableError("the disk is full")


def call_changes(entry_id: Any) -> dict[str, Any]:
    return dict(Content.objects.get(entry_id=entry_id).changes or {})


@pytest.mark.usefixtures("mixed")
def test_contents_go_before_their_entries(admin: Any) -> None:
    retention_set(admin, "content", days=30, at=now())
    assert purge_preview(None, "content").records == 9
    assert purge_run("content", at=now()).records == 9
    assert counted("call_intent") == 4 and Content.objects.filter(params={"n": 400}).count() == 0
    assert Content.objects.filter(changes={"n": 400}).count() == 2  # what administration did is no content of calls
    report = verify_chains()
    assert report.is_intact and report.erased == 9


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name, days", [("calls", 29), ("content", 6), ("administration", 364), ("keeping", 5000)])
def test_nobody_goes_below_a_floor(admin: Any, name: str, days: int) -> None:
    with pytest.raises(RetentionInvalidError, match="days: "):
        retention_set(admin, name, days=days, at=now())
    assert retention_class(name).days is None


@pytest.mark.usefixtures("mixed")
def test_not_even_the_database_lets_a_floor_be_passed(admin: Any) -> None:
    retention_set(admin, "administration", days=365, at=now())
    young = Entry.objects.filter(kind="publish").order_by("-at")[0]
    place = Place(young.chain_id, young.seq, bytes(young.prev_hash), bytes(young.hash))
    body = {"reason": "x", "by": "x", "class": "administration", "ranges": ranges_of([place], with_hashes=True)}
    span = [now() - timedelta(days=900), now()]
    with pytest.raises(DatabaseError, match="kept for 365 days"), transaction.atomic():
        number = statement_sign("purge", body).number
        connection.cursor().execute("SELECT audit_purge(%s, %s, %s)", [number, *span])
    old = now() - timedelta(days=366)
    with pytest.raises(DatabaseError, match="of which 0 may go"), transaction.atomic():
        number = statement_sign("purge", body).number
        connection.cursor().execute("SELECT audit_purge(%s, %s, %s)", [number, span[0], old])
    assert counted("publish") == 4


@pytest.mark.usefixtures("mixed")
def test_without_a_statement_of_the_same_transaction_nothing_goes(admin: Any) -> None:
    retention_set(admin, "calls", days=30, at=now())
    first = Entry.objects.filter(kind="call_intent").order_by("at")[0]
    place = Place(first.chain_id, first.seq, bytes(first.prev_hash), bytes(first.hash))
    body = {"reason": "x", "by": "x", "class": "calls", "ranges": ranges_of([place], with_hashes=True)}
    number = statement_sign("purge", body).number
    until = now() - timedelta(days=31)
    for wanted in (number, number + 1):
        with pytest.raises(DatabaseError, match="is no purge of this transaction"), transaction.atomic():
            connection.cursor().execute("SELECT audit_purge(%s, %s, %s)", [wanted, now() - timedelta(900), until])


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize("named", [{"channel": "telegram"}, {"channel": " Telegram"}, {"agent": "BOT"}])
def test_a_hold_keeps_what_it_names_until_it_is_lifted(admin: Any, named: dict[str, Any]) -> None:
    retention_set(admin, "denials", days=30, at=now())
    hold = hold_place(admin, reason="case 7", sender="7", **named, at=now())
    assert (purge_preview(None, "denials").records, purge_preview(None, "denials").held) == (0, 3)
    assert purge_run("denials", at=now()).records == 0
    with pytest.raises(ErasureHeldError, match="case 7"):
        erasure_request(admin, channel="telegram", sender="7", reason="asked", at=now())
    hold_lift(admin, hold, reason="closed", at=now())
    assert holds_active() == [] and purge_run("denials", at=now()).records == 3
    assert [each.status for each in Entry.objects.filter(kind="hold_change").order_by("seq")] == ["placed", "lifted"]


@pytest.mark.django_db(transaction=True)
def test_a_hold_is_not_changed_behind_its_back(admin: Any, owner_sql: Callable[[str], None]) -> None:
    hold_place(admin, reason="case 7", at=now())
    for statement in ("DELETE FROM audit_hold", "UPDATE audit_hold SET agent = 'other'"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="can only be lifted"):
            owner_sql(statement)


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize("channel", ["telegram", " Telegram "])
def test_a_subject_is_erased_from_the_ledger_alone(admin: Any, channel: str) -> None:
    entry_record(intent(sender="8", params={"of": "another"}))
    preview = erasure_preview(admin, channel=channel, sender="7")
    assert preview.contents == 12 and preview.holds == () and preview.sessions == ()
    erasure = erasure_request(admin, channel=channel, sender="7", reason="asked to", at=now())
    assert erasure_run(erasure.pk, at=now())
    erasure.refresh_from_db()
    assert (erasure.state, erasure.contents_done, erasure.channel, erasure.sender) == ("done", 12, "", "")
    assert Content.objects.filter(params={"of": "another"}).count() == 1
    assert erasure_preview(admin, channel="telegram", sender="7").contents == 0
    report = verify_chains()
    assert report.is_intact and report.erased == 12
    told = Entry.objects.filter(kind="erasure").order_by("seq")
    assert [each.status for each in told] == ["requested", "done"] and told[0].actor == admin.actor


@pytest.mark.usefixtures("mixed")
def test_an_erasure_that_was_cut_off_goes_on(admin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_ENTRIES", 5)
    erasure = erasure_request(admin, channel="telegram", sender="7", reason="asked to", at=now())
    assert erasure_run(erasure.pk, at=now(), limit_s=0) is False
    entry_record(intent(sender="7", params={"written": "meanwhile"}))
    assert erasure_run(erasure.pk, at=now()) is True
    assert Content.objects.filter(params={"written": "meanwhile"}).count() == 1  # it is no part of what was asked
    assert verify_chains().is_intact


@pytest.mark.django_db
def test_every_kind_belongs_to_a_class_with_words_and_a_floor() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT audit_class(kind) FROM unnest(%s::text[]) AS kind", [list(map(str, EntryKind))])
        assert {name for (name,) in cursor.fetchall()} == set(CLASSES) - {"content"}
    assert all(each.label and each.why for each in retention_classes())
    assert {each.name for each in retention_classes() if each.floor_days is None} == {"keeping"}


@pytest.mark.django_db
def test_only_an_administrator_ends_records(auditor: Any, operator: Any) -> None:
    for person in (auditor, operator):
        with pytest.raises(PermissionDeniedError):
            retention_set(person, "calls", days=90, at=now())
        with pytest.raises(PermissionDeniedError):
            hold_place(person, reason="x", at=now())
        with pytest.raises(PermissionDeniedError):
            erasure_preview(person, channel="telegram", sender="7")
