"""After-hooks hear of calls that end without running: once, whoever ended them and wherever."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.running import approvals_abandon
from apps.approvals.services import approval_resolve, approval_supersede, approvals_expire
from apps.firewall.identifiers import read_id
from apps.gateway.lifecycle import gateway
from apps.gateway.models import UntoldCall
from apps.gateway.untold import Untold, untold_take, untold_tell
from apps.registry.models import Environment, Hook, HookFailure
from apps.registry.services import plugin_save
from tests.gateway.conftest import call
from tests.gateway.hooking import Hooking, echo
from tests.gateway.server import Server
from tests.gateway.test_decisions import eventually


@pytest.fixture
def add(environment: Environment, server: Server, tmp_path: Path) -> Hooking:
    return Hooking(plugin_save(environment, key="acme"), tmp_path)


ENDS = """
def after_tool_call(event):
    error = event.get("error", {})
    raise KeyError(f"{error.get('code', 'ran')} {event['durationMs'] if error else ''} {event['params']['command']}")
"""


def heard(hook: Hook) -> list[str]:
    """Give what a hook of `ENDS` heard, in order."""
    return [
        said.strip("'\"")
        for said in HookFailure.objects.filter(hook=hook).order_by("at").values_list("said", flat=True)
    ]


def hears(hook: Hook, count: int) -> bool:
    """Say whether a hook heard of so many ends."""
    return len(heard(hook)) >= count


def waiting(agent: httpx.Client, word: str, **more: Any) -> tuple[str, Approval]:
    """Make a call that waits for a person."""
    shown_id = call(agent, "exec", {"command": f"ls {word}"}, wait_ms=0, **more).json()["id"]
    asked = Approval.objects.filter(call_id=read_id("call", shown_id))
    assert eventually(asked.exists)
    return shown_id, asked.get()


def end_by_person(agent: httpx.Client, call_id: str, approval: Approval, operator: Any) -> None:
    approval_resolve(approval, decision="deny", by=operator, at=timezone.now())


def end_by_time(agent: httpx.Client, call_id: str, approval: Approval, operator: Any) -> None:
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now())
    approvals_expire(timezone.now())


def end_by_caller(agent: httpx.Client, call_id: str, approval: Approval, operator: Any) -> None:
    assert agent.delete(f"/api/v1/calls/{call_id}").status_code == 200


def end_by_policy(agent: httpx.Client, call_id: str, approval: Approval, operator: Any) -> None:
    approval_supersede(approval, reason="the policy moved on", at=timezone.now())


ENDINGS: dict[str, Any] = {
    "approval_denied": end_by_person,
    "approval_expired": end_by_time,
    "approval_cancelled": end_by_caller,
    "approval_superseded": end_by_policy,
}


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.slow
def test_after_hooks_hear_once_of_calls_that_ended_while_they_waited(
    add: Hooking, agent: httpx.Client, server: Server, operator: Any, mode: str
) -> None:
    hook = add(ENDS, event="after_tool_call")

    for count, (code, end) in enumerate(ENDINGS.items(), 1):
        call_id, approval = waiting(agent, code, **({"mode": "async"} if mode == "async" else {}))
        end(agent, call_id, approval, operator)
        assert eventually(partial(hears, hook, count))
        server.run(gateway().desk.sweep())
        server.run(untold_tell(gateway().hooks))
    echo(agent, "last")

    told = [f"{code} 0 ls {code}" for code in ENDINGS]
    assert eventually(partial(hears, hook, len(told) + 1))
    assert heard(hook) == [*told, "ran  echo last"]
    assert not UntoldCall.objects.exists()


def test_after_hooks_hear_once_of_a_call_that_a_person_allowed(
    add: Hooking, agent: httpx.Client, server: Server, operator: Any
) -> None:
    hook = add(ENDS, event="after_tool_call")
    _, approval = waiting(agent, ".")

    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())

    assert eventually(partial(hears, hook, 1))
    server.run(untold_tell(gateway().hooks))
    echo(agent, "last")
    assert eventually(partial(hears, hook, 2))
    assert heard(hook) == ["ran  ls .", "ran  echo last"]
    assert not UntoldCall.objects.exists()


def test_after_hooks_hear_of_a_queued_call_that_nobody_ran(add: Hooking, agent: httpx.Client, server: Server) -> None:
    hook = add(ENDS, event="after_tool_call")
    queued = echo(agent, "queued", mode="async")
    assert queued["status"] == "queued"

    assert agent.delete(f"/api/v1/calls/{queued['id']}").json()["status"] == "cancelled"

    assert eventually(lambda: heard(hook) == ["cancelled 0 echo queued"])
    assert not UntoldCall.objects.exists()


def test_after_hooks_hear_of_what_was_allowed_and_taken_by_nobody(
    add: Hooking, agent: httpx.Client, server: Server
) -> None:
    hook = add(ENDS, event="after_tool_call")
    _, approval = waiting(agent, "one")
    long_ago = timezone.now() - timedelta(hours=1)
    Approval.objects.filter(pk=approval.pk).update(state="allowed_once", decided_at=long_ago)

    approvals_abandon(timezone.now())
    server.run(untold_tell(gateway().hooks))

    assert eventually(lambda: heard(hook) == ["approval_not_run 0 ls one"])


def test_of_what_waits_to_be_told_only_one_process_tells(agent: httpx.Client, server: Server, operator: Any) -> None:
    for word in ("one", "two", "three"):
        _, approval = waiting(agent, f"{word} --token=ghp_{'a1B2' * 9}")
        Approval.objects.filter(pk=approval.pk).update(state="denied", decided_at=timezone.now(), sealed_action=None)

    def take() -> list[Untold]:
        try:
            return untold_take()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        told = [each for found in [pool.submit(take) for _ in range(4)] for each in found.result()]

    assert len(told) == len({each.call.id for each in told}) == 3
    assert "ghp_" not in str(told)
