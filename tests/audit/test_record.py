"""Storing entries: on disk before the answer, in a chain without gaps, refused together with the cause."""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from apps.audit import writer as writer_module
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import AuditUnavailableError
from apps.audit.models import Boot, Content, Entry
from apps.audit.sealing import SealedEntry, seal_entry
from apps.audit.services import boot_id, entries_record, entry_record, entry_record_async
from apps.audit.verification import verify_chains
from apps.audit.writer import Writer, close_writer, writer
from tests.audit.drafts import denial, intent, outcome

pytestmark = pytest.mark.django_db


def seqs(chain_id: UUID) -> list[int]:
    return list(Entry.objects.filter(chain_id=chain_id).order_by("seq").values_list("seq", flat=True))


def test_an_entry_and_its_content_are_stored_when_recording_returns() -> None:
    at = datetime(2026, 11, 20, 11, 30, tzinfo=UTC)
    receipt = entry_record(intent(params={"path": "notes.txt"}, phases={"policy": 4}, at=at))
    stored = Entry.objects.get(id=receipt.id)
    assert (stored.at, stored.kind, stored.agent, stored.tool) == (at, "call_intent", "bot", "read")
    assert (stored.chain_id, stored.seq, stored.phases) == (receipt.chain_id, receipt.seq, {"policy": 4})
    assert Content.objects.get(entry_id=receipt.id).params == {"path": "notes.txt"}


def test_an_entry_without_content_has_no_commitment() -> None:
    receipt = entry_record(EntryDraft(kind=EntryKind.SIGN_IN, actor="user:anna"))
    assert Entry.objects.get(id=receipt.id).content_commitment is None
    assert not Content.objects.filter(entry_id=receipt.id).exists()


def test_an_entry_of_a_call_needs_the_id_of_the_call() -> None:
    with pytest.raises(ValueError, match="needs the id of its call"):
        EntryDraft(kind=EntryKind.CALL_INTENT)


def test_an_entry_needs_an_aware_instant() -> None:
    with pytest.raises(ValueError, match="aware"):
        EntryDraft(kind=EntryKind.SIGN_IN, at=datetime(2026, 11, 20))  # noqa: DTZ001


@pytest.mark.usefixtures("fresh_writer")
def test_many_threads_fill_one_chain_without_a_gap() -> None:
    with ThreadPoolExecutor(16) as threads:
        receipts = list(threads.map(lambda _: entry_record(intent(params={"n": 1})), range(200)))
    chain_id = receipts[0].chain_id
    assert {receipt.chain_id for receipt in receipts} == {chain_id}
    assert seqs(chain_id) == list(range(1, 201))
    assert verify_chains(chain_ids=[chain_id]).is_intact


@pytest.mark.usefixtures("fresh_writer")
def test_waiting_entries_are_committed_together() -> None:
    drafts = [intent() for _ in range(50)]
    futures = [writer().submit(seal_entry(draft)) for draft in drafts]
    assert sorted(future.result(timeout=60)[0].seq for future in futures) == list(range(1, 51))


async def test_a_coroutine_records_without_blocking_the_loop() -> None:
    receipts = await asyncio.gather(*(entry_record_async(intent()) for _ in range(20)))
    assert len({receipt.seq for receipt in receipts}) == 20


@pytest.mark.usefixtures("fresh_writer", "two_roles")
def test_a_store_that_refuses_is_named_and_leaves_no_gap(owner_sql: Callable[[str], None]) -> None:
    first = entry_record(intent())
    owner_sql("REVOKE INSERT ON audit_entry FROM openclaw_app")
    try:
        with pytest.raises(AuditUnavailableError, match="permission denied for table audit_entry"):
            entry_record(intent())
    finally:
        owner_sql("GRANT INSERT ON audit_entry TO openclaw_app")
    second = entry_record(intent())
    assert (second.chain_id, second.seq) == (first.chain_id, first.seq + 1)
    assert verify_chains(chain_ids=[first.chain_id]).is_intact


@pytest.mark.usefixtures("fresh_writer", "two_roles")
def test_content_that_cannot_be_stored_takes_its_entry_with_it(owner_sql: Callable[[str], None]) -> None:
    first = entry_record(intent())
    owner_sql("REVOKE INSERT ON audit_content FROM openclaw_app")
    try:
        with pytest.raises(AuditUnavailableError):
            entry_record(intent(params={"path": "a"}))
    finally:
        owner_sql("GRANT INSERT ON audit_content TO openclaw_app")
    assert seqs(first.chain_id) == [1]


@pytest.mark.usefixtures("fresh_writer")
def test_a_lost_connection_is_made_again_and_nothing_is_stored_twice() -> None:
    first = entry_record(intent())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'openclaw_admin audit' AND datname = current_database()"
        )
    second = entry_record(intent())
    assert (second.chain_id, second.seq) == (first.chain_id, 2)
    assert seqs(first.chain_id) == [1, 2]


@pytest.mark.usefixtures("fresh_writer")
def test_a_commit_whose_answer_was_lost_is_found_and_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    first = entry_record(intent())
    transaction, lost = psycopg.Connection.transaction, iter([True])

    @contextmanager
    def without_answer(connection: psycopg.Connection[Any]) -> Iterator[None]:
        with transaction(connection):
            yield
        if next(lost, False):
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "transaction", without_answer)
    call = intent()
    assert entry_record(call).seq == 2
    assert Entry.objects.filter(call_id=call.call_id).count() == 1
    assert entry_record(intent()).seq == 3 and seqs(first.chain_id) == [1, 2, 3]


@pytest.mark.usefixtures("fresh_writer")
def test_a_database_that_is_away_refuses_and_one_that_is_back_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = entry_record(intent())
    reachable = writer_module.connection_parameters
    away = {"host": "127.0.0.1", "port": 1, "dbname": "away", "connect_timeout": 2}
    monkeypatch.setattr(writer_module, "connection_parameters", lambda _alias: away)
    writer()._disconnect()  # as a server does that stops
    with pytest.raises(AuditUnavailableError, match="connection"):
        entry_record(intent())
    monkeypatch.setattr(writer_module, "connection_parameters", reachable)
    assert entry_record(intent()).seq == 2 and seqs(first.chain_id) == [1, 2]


@pytest.mark.usefixtures("fresh_writer")
def test_one_entry_that_cannot_be_stored_does_not_take_its_neighbours_along() -> None:
    chain_id = boot_id()
    futures = [writer().submit(item) for item in (seal_entry(intent()), unstorable(), seal_entry(intent()))]
    assert [future.result(timeout=60)[0].seq for future in (futures[0], futures[2])] == [1, 2]
    with pytest.raises(AuditUnavailableError, match="bigint"):
        futures[1].result(timeout=60)
    assert seqs(chain_id) == [1, 2]


@pytest.mark.usefixtures("fresh_writer")
def test_entries_that_belong_together_are_stored_together_or_not_at_all() -> None:
    chain_id = boot_id()
    assert [receipt.seq for receipt in entries_record([intent(), intent()])] == [1, 2]
    with pytest.raises(AuditUnavailableError):
        writer().submit(seal_entry(intent()), unstorable()).result(timeout=60)
    assert seqs(chain_id) == [1, 2]


def unstorable() -> SealedEntry:
    bad = seal_entry(intent())
    return replace(bad, row=(*bad.row[:14], "many milliseconds", *bad.row[15:]))


def test_text_that_a_database_cannot_hold_is_made_visible() -> None:
    receipt = entry_record(intent(tool="re\x00ad", params={"te\x00xt": "a\x00b\ud800", "n": 1e3, "nan": float("nan")}))
    assert Entry.objects.get(id=receipt.id).tool == "re␀ad"
    assert Content.objects.get(entry_id=receipt.id).params == {"te␀xt": "a␀b\ufffd", "n": 1000, "nan": "nan"}
    assert verify_chains(chain_ids=[receipt.chain_id]).is_intact


def test_a_hostile_name_is_cut_so_that_its_denial_can_be_told() -> None:
    receipt = entry_record(intent(tool="😀" * 100_000))
    assert len(Entry.objects.get(id=receipt.id).tool) == 512


def test_secrets_are_masked_before_they_are_stored_and_the_record_says_so() -> None:
    call = intent(params={"env": {"API_TOKEN": "canary-4711-secret"}, "pin": "2468"}, sensitive_fields=("pin",))
    receipt = entry_record(call)
    stored = Content.objects.get(entry_id=receipt.id)
    assert "canary" not in str(stored.params) and "2468" not in str(stored.params)
    assert {note["path"] for note in stored.masked or ()} == {"params.env.API_TOKEN", "params.pin"}
    assert {note["length"] for note in stored.masked or ()} == {18, 4}


def test_secrets_in_results_errors_changes_and_reasons_are_masked_too() -> None:
    call = intent()
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    fields: dict[str, Any] = {"result": {"text": f"token {secret}"}, "error": secret, "changes": {"after": secret}}
    assert call.call_id is not None
    receipt = entry_record(outcome(call.call_id, **fields))
    stored = Entry.objects.get(id=receipt.id)
    content = Content.objects.get(entry_id=receipt.id)
    assert secret not in f"{stored.changes} {content.result} {content.error}"


def test_a_closed_writer_ends_its_boot_and_the_next_entry_opens_another() -> None:
    first = entry_record(intent())
    close_writer()
    assert Boot.objects.get(id=first.chain_id).ended_at is not None
    assert entry_record(intent()).chain_id != first.chain_id


def test_a_forked_child_writes_a_chain_of_its_own_and_leaves_its_parent_be() -> None:
    before = entry_record(intent())
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, entry_record(intent()).chain_id.bytes)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        chain_of_child = UUID(bytes=pipe.read())
    os.waitpid(child, 0)
    after = entry_record(intent())
    assert chain_of_child != before.chain_id
    assert (after.chain_id, after.seq) == (before.chain_id, before.seq + 1)


def test_a_coroutine_that_gave_up_before_its_batch_is_not_recorded() -> None:
    call = intent()

    async def give_up() -> None:
        task = asyncio.ensure_future(entry_record_async(call))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await entry_record_async(intent())

    asyncio.run(give_up())
    assert not Entry.objects.filter(call_id=call.call_id).exists()


def test_a_closed_writer_takes_no_more_entries() -> None:
    own = Writer()
    own.close()
    own.close()
    with pytest.raises(AuditUnavailableError, match="closed"):
        own.submit(seal_entry(intent()))


def test_the_boot_of_a_process_is_the_chain_it_writes() -> None:
    assert entry_record(intent()).chain_id == boot_id()


def test_the_large_params_of_a_denial_become_their_size_and_hash() -> None:
    params = {"content": "x " * 40_000, "password": "correct horse battery", "list": ["secret=abcdefgh12345678"]}

    first, second = (Content.objects.get(entry_id=entry_record(denial(params=params)).id) for _ in range(2))

    kept: dict[str, Any] = first.params or {}
    assert set(kept) == {"note", "size_bytes", "sha256"}
    assert kept["size_bytes"] > 64 * 1024
    assert len(kept["sha256"]) == 64
    assert first.masked is None
    assert second.params == kept


@pytest.mark.parametrize("draft", [denial(params={"content": "x" * 60_000}), intent(params={"content": "x " * 40_000})])
def test_smaller_params_and_those_of_what_runs_are_kept_whole(draft: EntryDraft) -> None:
    receipt = entry_record(draft)

    assert Content.objects.get(entry_id=receipt.id).params == draft.params
