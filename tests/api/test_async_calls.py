"""Asynchronous calls for programs: the list, one call, ending, and the key of callbacks."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.firewall.identifiers import new_id
from apps.gateway.models import AsyncCall, CallbackAttempt, CallCancel
from apps.keys.callbacks import callback_key_id
from tests.api.conftest import Program


@pytest.fixture
def running(environment: Any) -> Callable[..., AsyncCall]:
    def make(actor: str = "token:x") -> AsyncCall:
        at = timezone.now()
        return AsyncCall.objects.create(
            id=new_id(), environment=environment, actor=actor, agent="bot", tool="exec", state="running",
            asked_at=at, queued_at=at, claimed_at=at, claimed_by=new_id(),
        )  # fmt: skip

    return make


def test_it_lists_calls_and_reads_one_with_its_attempts(program: Callable[..., Program], running: Any) -> None:
    call = running()
    CallbackAttempt.objects.create(call=call, number=1, at=timezone.now(), duration_ms=5, status=500)
    reader = program("audit_read")

    listed = reader.get("async-calls?state=open").json()
    one = reader.get(f"async-calls/{call.shown_id}").json()

    assert [(each["id"], each["state"], listed["older"]) for each in listed["rows"]] == [
        (call.shown_id, "running", None)
    ]
    assert [each["status"] for each in one["attempts"]] == [500]


UNKNOWN = "call_01m83d034ceg2vx08pcmzqfm7j"


@pytest.mark.parametrize("path", ["async-calls?state=x", "async-calls?after=x", f"async-calls/{UNKNOWN}"])
def test_what_does_not_exist_is_not_found(program: Callable[..., Program], path: str) -> None:
    assert program("audit_read").get(path).status_code == 404


def test_a_token_ends_its_own_call_and_no_other(
    program: Callable[..., Program], token: Callable[..., Any], running: Any
) -> None:
    row, secret = token("calls_make", name="own")
    own, other = running(row.actor), running()
    caller = Program(secret)

    answers = [caller.post(f"audit/calls/{each.shown_id}/cancel", None).status_code for each in (own, other)]

    assert answers == [202, 404]
    assert list(CallCancel.objects.values_list("call_id", "by")) == [(own.pk, row.actor)]


def test_the_key_of_callbacks_is_told_to_callers(program: Callable[..., Program]) -> None:
    told = program("calls_make").get("callback-key").json()

    assert (told["algorithm"], told["key_id"]) == ("ed25519", callback_key_id())
    assert told["public_key"].startswith("-----BEGIN PUBLIC KEY-----")


@pytest.mark.parametrize("path", ["async-calls", "callback-key"])
def test_a_token_without_the_scope_is_refused(program: Callable[..., Program], path: str) -> None:
    assert program("decisions_ask").get(path).status_code == 403
