"""The store of the ledger fails in four ways while agents call: nothing runs unrecorded, and all goes on by itself."""

import hashlib
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
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


@pytest.mark.slow
def test_a_store_that_refuses_entries(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        store.sql("REVOKE INSERT ON audit_entry, audit_content FROM openclaw_app")
        try:
            calls.wait_for_more("refused", 6)
            until(lambda: store.health() == (503, "the ledger takes no entry: InsufficientPrivilege"), what="health")
        finally:
            store.sql("GRANT INSERT ON audit_entry, audit_content TO openclaw_app")
        calls.wait_for_more("completed", 10)
        until(lambda: store.health()[0] == 200, what="health that is well again")
    assert "503 audit_unavailable" in calls.answers.values()
    check(store, calls.answers)


@contextmanager
def refusing(store: FaultyStore) -> Iterator[None]:
    """Have the ledger refuse every entry while the block runs."""
    store.sql("REVOKE INSERT ON audit_entry, audit_content FROM openclaw_app")
    try:
        yield
    finally:
        store.sql("GRANT INSERT ON audit_entry, audit_content TO openclaw_app")


def call(store: FaultyStore, number: int, key: str, command: str = "true") -> httpx.Response:
    order = {"agent": "bot", "tool": "exec", "params": {"command": f"sh -c 'echo n{number} >> ran; {command}'"}}
    headers = {"Authorization": f"Bearer {store.secret}", "Idempotency-Key": key}
    return httpx.post(f"{store.url}/api/v1/calls", json=order, headers=headers, timeout=120)


@pytest.mark.slow
def test_the_key_of_a_call_that_could_not_be_recorded_is_free_again(store: FaultyStore) -> None:
    number = next(store.numbers)
    with refusing(store):
        refused = call(store, number, "once")
    assert (refused.status_code, refused.json()["code"]) == (503, "audit_unavailable")
    again = call(store, number, "once")
    assert (again.status_code, again.json()["status"]) == (200, "completed")
    assert store.ran()[number] == 1


@pytest.mark.slow
def test_the_end_of_a_call_that_could_not_be_recorded_is_when_the_ledger_answers_again(store: FaultyStore) -> None:
    number = next(store.numbers)
    answers: list[httpx.Response] = []
    calling = threading.Thread(
        target=lambda: answers.append(call(store, number, "", command="until test -e go; do sleep 0.1; done"))
    )
    calling.start()
    until(lambda: number in store.ran(), what="the run")
    with refusing(store):
        store.workspace.joinpath("go").touch()
        calling.join(120)
        assert (answers[0].status_code, answers[0].json()["status"]) == (200, "unknown")
    until(lambda: sorted(store.recorded()[number]) == ["call_intent", "call_outcome"], what="its end")
    call_id = answers[0].json()["id"]
    told = httpx.get(f"{store.url}/api/v1/calls/{call_id}", headers={"Authorization": f"Bearer {store.secret}"})
    assert told.json()["status"] == "completed"


@pytest.mark.slow
def test_nobody_is_asked_what_cannot_be_on_record(store: FaultyStore) -> None:
    """The call asks for a person by its own word; neither the call nor a request is there afterwards.

    Once the store is back an answer may still be lost on a line that broke, after the request was stored: the caller
    asks again, and each request that stands is on record.
    """
    order = {"agent": "bot", "tool": "exec", "params": {"command": "true", "ask": "always"}, "wait_ms": 0}

    def ask() -> httpx.Response:
        headers = {"Authorization": f"Bearer {store.secret}"}
        return httpx.post(f"{store.url}/api/v1/calls", json=order, headers=headers, timeout=120)

    def requests() -> object:
        return store.sql("SELECT count(*) FROM approvals_approval")[0][0]

    with refusing(store):
        refused = ask()
    assert (refused.status_code, refused.json()["code"]) == (503, "audit_unavailable")
    store.proxy.cut()
    try:
        assert ask().status_code == 503
    finally:
        store.proxy.mend()
    assert requests() == 0
    until(lambda: ask().json().get("status") == "awaiting_approval", what="a question, now that the store is back")
    assert requests() == store.sql("SELECT count(*) FROM audit_entry WHERE kind = 'approval_asked'")[0][0] != 0


@pytest.mark.slow
def test_a_page_without_a_store_says_that_it_is_not_available(store: FaultyStore) -> None:
    password = re.search(r"admin +(\S+)", store.manage("manage.py", "create_people"))
    assert password
    with httpx.Client(base_url=store.url, timeout=60) as browser:
        until(lambda: browser.get("/sign-in/").status_code == 200, what="pages, now that the store is back")
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', browser.get("/sign-in/").text)
        assert token
        fields = {"login": "admin", "password": password[1], "csrfmiddlewaretoken": token[1]}
        with refusing(store):
            assert browser.post("/sign-in/", data=fields).status_code == 503
            assert "openclaw_person" not in browser.cookies
            assert browser.get("/settings/").headers["Location"].startswith("/sign-in/")  # nobody is in unrecorded
        assert browser.post("/sign-in/", data=fields).status_code == 302
        store.proxy.cut()
        try:
            answers = [browser.get(path) for path in ("/", "/audit/", "/api/v1/agents", "/api/v1/halts")]
            fragment = browser.get("/approvals/queue/", headers={"HX-Request": "true"})
        finally:
            store.proxy.mend()
    assert [each.status_code for each in (*answers, fragment)] == [503] * 5
    assert "The database does not answer" in answers[0].text and "Retry-After" in answers[0].headers
    assert answers[2].json()["code"] == "database_unavailable"
    assert fragment.headers["HX-Retarget"] == "#flash"


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_database_that_is_killed_and_starts_again(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        before = store.postgres.pid
        assert before is not None
        os.kill(before, signal.SIGKILL)
        until(lambda: store.postgres.pid not in {None, before}, what="another server")
        calls.wait_for_more("completed", 10)
    check(store, calls.answers)


@pytest.mark.slow
def test_a_disk_that_is_full(store: FaultyStore) -> None:
    with store.calling(padding=LONG) as calls:
        calls.wait_for_more("completed", 5)
        with store.full_disk():
            calls.wait_for_more("refused", 6)
        calls.wait_for_more("completed", 5)
    check(store, calls.answers)


@pytest.mark.slow
def test_a_store_that_is_slow(store: FaultyStore) -> None:
    with store.calling() as calls:
        calls.wait_for_more("completed", 10)
        with store.slow_store():
            until(lambda: re.match("[1-9][0-9]* wait", store.health()[1]), what="health that tells who waits")
            assert store.health()[0] == 503
        calls.wait_for_more("completed", 10)
    assert store.health()[1].startswith("writes: 0 wait")
    check(store, calls.answers)


@pytest.mark.slow
def test_what_was_cut_off_in_the_middle_ends_as_unknown(store: FaultyStore) -> None:
    """The last of the module: what has no outcome gets one when the lease of its process is over."""
    store.kill_server()
    store.sql("UPDATE audit_boot SET lease_until = now() - interval '1 second' WHERE ended_at IS NULL")
    store.manage("-c", SWEEP)
    kinds = store.recorded()
    assert [number for number, found in kinds.items() if found == ["call_intent"]] == []
    assert set(store.ran()) <= {number for number, found in kinds.items() if "call_outcome" in found}
    assert store.problems() == []
