"""OpenClaw Gateways for programs."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone

from apps.openclaw_gateways.alarms import Ungoverned, ungoverned_report
from apps.openclaw_gateways.services import Heartbeat, enrolment_redeem

Program = Callable[..., Any]


def test_a_gateway_is_enrolled_read_and_revoked(program: Program, environment: Any) -> None:
    answer = program("policy_read", "gateways_manage")
    made = answer.post("gateways/enrolments", {"name": "office"}).json()
    assert made["secret"].startswith("oce_")
    assert made["is_published"] is False
    gateway, _ = enrolment_redeem(made["secret"], Heartbeat(boot="boot-1", plugin="1.0.0"), at=timezone.now())

    (row,) = answer.get("gateways").json()
    assert (row["id"], row["standing"], row["alarms"]) == (gateway.shown_id, "never_seen", 0)
    ended = answer.ask("DELETE", f"gateways/{gateway.shown_id}").json()
    assert (ended["standing"], ended["calls"]) == ("revoked", [])


def test_an_alarm_is_listed_and_cleared(program: Program, environment: Any) -> None:
    answer = program("policy_read", "gateways_manage")
    made = answer.post("gateways/enrolments", {"name": "office"}).json()
    gateway, _ = enrolment_redeem(made["secret"], Heartbeat(boot="boot-1"), at=timezone.now())
    ungoverned_report(gateway, Ungoverned(tool="exec", agent="main"), at=timezone.now())

    (alarm,) = answer.get(f"gateways/{gateway.shown_id}").json()["standing_alarms"]
    assert (alarm["kind"], alarm["tool"], alarm["count"]) == ("ungoverned", "exec", 1)
    cleared = answer.post(f"gateways/alarms/{alarm['id']}/clear", {}).json()
    assert cleared["cleared_at"] is not None
    assert answer.get(f"gateways/{gateway.shown_id}").json()["standing_alarms"] == []


def test_a_gateway_needs_a_name(program: Program, environment: Any) -> None:
    refused = program("gateways_manage").post("gateways/enrolments", {"name": " "})
    assert refused.status_code == 400
    assert refused.json()["details"][0]["path"] == "name"
