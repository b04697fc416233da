"""The store of the ledger fails in four ways while agents call: nothing runs unrecorded, and all goes on by itself."""

import hashlib
import os
import re
import signal
from collections.abc import Iterator

import pytest

from tests.ops.faulty_store import FaultyStore, faulty_store, until

pytestmark = pytest.mark.unhurried
SWEEP = """
import django
django.setup()
from django.utils import timezone
from apps.audit.services import sweep_orphans
sweep_orphans(timezone.now())
"""
LONG = hashlib.shake_256(b"what cannot be made smaller").hexdigest(3_000)


@pytest.fixture(scope="module")
def store() -> Iterator[FaultyStore]:
    with faulty_store() as made, made.server():
        yield made


def check(store: FaultyStore, answers: dict[int, str]) -> None:
    """Hold the tools' account against the ledger's."""
    ran, recorded = store.ran(), store.recorded()
    completed = {number for number, said in answers.items() if said == "completed"}
    assert {number for number in answers if number in ran and "call_intent" not in recorded.get(number, [])} == set()
    assert {number for number in completed if sorted(recorded[number]) != ["call_intent", "call_outcome"]} == set()
    assert completed <= set(ran)
    assert max(ran.values()) == 1
    assert store.problems() == []


def test_a_store_that_refuses_entries(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        store.sql("REVOKE INSERT ON audit_entry, audit_content FROM openclaw_app")
        try:
            calls.wait_for_more("refused", 6)
        finally:
            store.sql("GRANT INSERT ON audit_entry, audit_content TO openclaw_app")
        calls.wait_for_more("completed", 10)
    assert "503 audit_unavailable" in calls.answers.values()
    check(store, calls.answers)


def test_a_connection_that_is_cut(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        store.proxy.cut()
        try:
            calls.wait_for_more("refused", 6)
        finally:
            store.proxy.mend()
        calls.wait_for_more("completed", 10)
    check(store, calls.answers)


def test_a_database_that_is_killed_and_starts_again(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        before = store.postgres.pid
        assert before is not None
        os.kill(before, signal.SIGKILL)
        until(lambda: store.postgres.pid not in {None, before}, what="another server")
        calls.wait_for_more("completed", 10)
    check(store, calls.answers)


def test_a_disk_that_is_full(store: FaultyStore) -> None:
    with store.calling(padding=LONG) as calls:
        calls.wait_for_more("completed", 5)
        with store.full_disk():
            calls.wait_for_more("refused", 6)
        calls.wait_for_more("completed", 5)
    check(store, calls.answers)


def test_a_store_that_is_slow(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        with store.slow_store():
            until(lambda: re.match("[1-9][0-9]* wait", store.health()[1]), what="health that tells who waits")
            assert store.health()[0] == 503
        calls.wait_for_more("completed", 10)
    assert store.health()[1].startswith("writes: 0 wait")
    check(store, calls.answers)


def test_what_was_cut_off_in_the_middle_ends_as_unknown(store: FaultyStore) -> None:
    """The last of the module: what has no outcome gets one when the lease of its process is over."""
    store.kill_server()
    store.sql("UPDATE audit_boot SET lease_until = now() - interval '1 second' WHERE ended_at IS NULL")
    store.manage("-c", SWEEP)
    kinds = store.recorded()
    assert [number for number, found in kinds.items() if found == ["call_intent"]] == []
    assert set(store.ran()) <= {number for number, found in kinds.items() if "call_outcome" in found}
    assert store.problems() == []
