"""Callbacks: what is told, how it is signed, that it is tried again, and where it may not go."""

import hmac
import json
import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from django.db import connection
from django.utils import timezone

from apps.firewall.tools.signing import Signed, Signing, signed_text
from apps.gateway.lifecycle import gateway
from apps.gateway.models import AsyncCall, CallbackAttempt
from apps.gateway.queue.callbacks import BACK_OFF_S, callbacks_due
from apps.keys.callbacks import callback_key_id, callback_public_key
from tests.gateway.server import Server
from tests.gateway.test_async_calls import later, row, take
from tests.gateway.test_decisions import eventually
from tests.receiver import Receiver

SECRET = "a shared key of a test"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def told(server: Server, agent: httpx.Client, receiver: Receiver, **callback: str) -> str:
    """Make a call with a callback, have it run, and give its id."""
    answer = later(agent, "exec", {"command": "echo hi"}, callback={"url": receiver.url, **callback})
    assert answer.status_code == 202, answer.text
    take(server)
    shown_id = str(answer.json()["id"])
    assert eventually(lambda: row(shown_id).state == "done")
    return shown_id


def due_now(server: Server) -> None:
    """Let the time of the next attempt come, and do what the sweeper does."""
    AsyncCall.objects.update(callback_due_at=timezone.now())
    for call_id in callbacks_due(timezone.now()):
        server.run(gateway().callbacks.deliver(call_id))


def attempts(shown_id: str) -> list[tuple[int, int | None, str]]:
    found = CallbackAttempt.objects.filter(call=row(shown_id))
    return list(found.values_list("number", "status", "error_code"))


def signature(headers: dict[str, str], receiver: Receiver, body: bytes) -> tuple[bytes, bytes]:
    """Give the bytes that were signed, as a receiver makes them, and the signature."""
    algorithm, _, value = headers["openclaw-signature"].partition("=")
    signing = Signing(algorithm=algorithm, key="", key_id=headers["openclaw-key-id"])  # type: ignore[arg-type]
    signed = Signed(
        method="POST",
        host=f"127.0.0.1:{receiver.port}",
        path="/ended?key=hidden",
        timestamp=int(headers["openclaw-timestamp"]),
        call_id=headers["openclaw-call-id"],
        body=body,
    )
    return signed_text(signing, signed), bytes.fromhex(value)


def test_the_end_is_told_and_signed_with_the_installations_key(
    server: Server, agent: httpx.Client, receiver: Receiver
) -> None:
    shown_id = told(server, agent, receiver)

    assert eventually(lambda: row(shown_id).callback == "delivered")
    ((path, headers, body),) = receiver.heard
    said = json.loads(body)
    assert (path, said["event"], said["call"]["id"], said["call"]["status"]) == (
        "/ended?key=hidden",
        "call.ended",
        shown_id,
        "completed",
    )
    assert said["call"]["result"]["stdout"] == "hi\n"
    assert (headers["openclaw-call-id"], headers["openclaw-key-id"]) == (shown_id, callback_key_id())
    key = load_pem_public_key(callback_public_key())
    assert isinstance(key, Ed25519PublicKey)
    text, value = signature(headers, receiver, body)
    key.verify(value, text)


def test_the_trace_of_the_call_goes_on_with_each_attempt(
    server: Server, agent: httpx.Client, receiver: Receiver
) -> None:
    agent.headers["traceparent"] = f"00-{TRACE}-{'1' * 16}-01"
    receiver.statuses = [500]
    shown_id = told(server, agent, receiver)
    assert eventually(lambda: len(attempts(shown_id)) == 1)
    due_now(server)
    assert eventually(lambda: row(shown_id).callback == "delivered")
    parents = [headers["traceparent"] for _, headers, _ in receiver.heard]
    assert len(set(parents)) == 2
    assert all(re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", each) for each in parents)


def test_a_shared_key_signs_instead(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    shown_id = told(server, agent, receiver, secret=SECRET)

    assert eventually(lambda: row(shown_id).callback == "delivered")
    ((_, headers, body),) = receiver.heard
    text, value = signature(headers, receiver, body)
    assert hmac.compare_digest(value, hmac.digest(SECRET.encode(), text, "sha256"))


def test_neither_key_nor_query_are_kept_in_clear(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    later(agent, "exec", {"command": "echo"}, callback={"url": receiver.url, "secret": SECRET})

    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(gateway_asynccall)::text, sealed_callback FROM gateway_asynccall")
        shown, sealed = cursor.fetchone()

    assert SECRET not in shown and "hidden" not in shown
    assert SECRET.encode() not in bytes(sealed)
    assert AsyncCall.objects.get().callback_shown == f"http://127.0.0.1:{receiver.port}/ended?…"


def test_what_was_not_heard_is_told_again_later_and_later(
    server: Server, agent: httpx.Client, receiver: Receiver
) -> None:
    receiver.statuses = [500, 302]
    shown_id = told(server, agent, receiver)
    assert eventually(lambda: len(attempts(shown_id)) == 1)
    first_due = row(shown_id).callback_due_at
    assert first_due is not None and first_due > timezone.now()
    assert callbacks_due(timezone.now()) == []

    due_now(server)
    second_due = row(shown_id).callback_due_at
    due_now(server)

    assert attempts(shown_id) == [(1, 500, ""), (2, 302, ""), (3, 201, "")]
    assert second_due is not None and second_due - timezone.now() > timedelta(seconds=BACK_OFF_S[0])
    assert [headers["openclaw-attempt"] for _, headers, _ in receiver.heard] == ["1", "2", "3"]
    assert (row(shown_id).callback, row(shown_id).sealed_callback) == ("delivered", None)


def test_it_is_given_up_after_the_last_attempt(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    receiver.statuses = [503] * 10
    shown_id = told(server, agent, receiver)
    assert eventually(lambda: len(attempts(shown_id)) == 1)

    for _ in range(10):
        due_now(server)

    assert (row(shown_id).callback, row(shown_id).sealed_callback) == ("failed", None)
    assert len(receiver.heard) == len(BACK_OFF_S) + 1


def test_gone_is_not_asked_again(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    receiver.statuses = [410]
    shown_id = told(server, agent, receiver)

    assert eventually(lambda: row(shown_id).callback == "failed")


def test_an_address_that_nobody_answers_is_on_record(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    receiver.close()
    shown_id = told(server, agent, receiver)

    assert eventually(lambda: attempts(shown_id) == [(1, None, "connection_failed")])


def test_a_network_that_was_closed_since_is_not_reached(
    server: Server, agent: httpx.Client, receiver: Receiver, settings: Any
) -> None:
    later(agent, "exec", {"command": "echo"}, callback={"url": receiver.url})
    settings.CALLBACK_NETWORKS = []
    take(server)

    assert eventually(lambda: CallbackAttempt.objects.exists())
    assert CallbackAttempt.objects.get().error_code == "url_refused"
    assert receiver.heard == []


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/", "https://169.254.169.254/latest", "https://[::1]/", "https://10.0.0.1/"],
)
def test_private_addresses_are_never_reached(server: Server, agent: httpx.Client, url: str) -> None:
    later(agent, "exec", {"command": "echo"}, callback={"url": url})
    take(server)

    assert eventually(lambda: CallbackAttempt.objects.exists())
    assert CallbackAttempt.objects.get().error_code == "address_refused"


def test_two_processes_never_make_the_same_attempt(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    receiver.statuses = [500]
    shown_id = told(server, agent, receiver)
    assert eventually(lambda: len(attempts(shown_id)) == 1)
    AsyncCall.objects.update(callback_due_at=timezone.now())

    async def both(call_id: UUID) -> None:
        import asyncio

        await asyncio.gather(*(gateway().callbacks.deliver(call_id) for _ in range(3)))

    server.run(both(row(shown_id).pk))

    assert len(receiver.heard) == 2


def test_a_call_that_is_ended_in_the_queue_is_told_too(server: Server, agent: httpx.Client, receiver: Receiver) -> None:
    shown_id = later(agent, "exec", {"command": "echo"}, callback={"url": receiver.url}).json()["id"]
    agent.delete(f"/api/v1/calls/{shown_id}")

    due_now(server)

    ((_, _, body),) = receiver.heard
    said = json.loads(body)["call"]
    assert (said["status"], said["error"]["code"]) == ("cancelled", "cancelled")
