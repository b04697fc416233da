"""A call that names a group to which its session key does not lead: what it is answered, and what its record says."""

from typing import Any

import httpx

from apps.audit.models import Entry
from apps.firewall.engine.source import UNPROVEN_GROUPS_REFUSED
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import ask, reload

CLAIMED: dict[str, Any] = {"context": {"channel": "telegram", "group_id": "-100"}}
KEY = "agent:bot:telegram:group:-100"


def test_it_is_refused_and_recorded_where_the_environment_says_so(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = snapshot_with(groups=UNPROVEN_GROUPS_REFUSED)
    reload(server)

    decision, refused = ask(agent, "read", **CLAIMED).json(), call(agent, "read", {"path": "."}, **CLAIMED).json()

    assert (decision["allowed"], decision["reason"]) == (False, "group_unproven")
    assert (refused["status"], refused["error"]["code"]) == ("denied", "group_unproven")
    assert decision["message"] == refused["error"]["message"]
    assert "its session key does not lead to it" in decision["message"]
    assert Entry.objects.get(kind="denial").decision_layer == "group_unproven"
    assert call(agent, "read", {"path": "missing"}, session=KEY, **CLAIMED).json()["status"] == "failed"  # it ran


def test_elsewhere_it_is_decided_and_decision_and_record_say_that_the_group_did_not_count(
    agent: httpx.Client,
) -> None:
    decision = ask(agent, "read", **CLAIMED).json()
    called = call(agent, "read", {"path": "missing"}, **CLAIMED).json()
    call(agent, "read", {"path": "missing"}, session=KEY, **CLAIMED)

    assert decision["allowed"] and decision["warnings"] == called["warnings"]
    (warning,) = called["warnings"]
    assert warning["code"] == "group_unproven" and "`-100` did not count" in warning["message"]
    claimed, proven = Entry.objects.filter(kind="call_intent").order_by("seq").values_list("decision_reason", flat=True)
    assert "`-100` did not count" in claimed and "did not count" not in proven


def test_the_refusal_does_not_tell_which_tools_there_are(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = snapshot_with(groups=UNPROVEN_GROUPS_REFUSED)
    reload(server)

    there, not_there = (call(agent, tool, {"path": "."}, **CLAIMED).json() for tool in ("read", "wrjte"))

    assert there["error"] == not_there["error"]
    assert ask(agent, "read", **CLAIMED).json() == ask(agent, "wrjte", **CLAIMED).json() | {"tool": "read"}
