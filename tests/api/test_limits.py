"""Rate limits and breakers at the programs' door."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.limits.rates import Share
from apps.limits.counting import shares_take
from apps.limits.models import RateLimit
from tests.api.conftest import Program

RATE = {"name": "calm", "per_minute": 3, "per": "sender", "tools": ["web_*"]}


@pytest.fixture
def writer(program: Callable[..., Program]) -> Program:
    return program("policy_read", "policy_write", "audit_read")


def test_a_rate_is_added_read_changed_and_removed(writer: Program) -> None:
    name = f"calm {new_id()}"  # the ledger keeps what other tests did
    made = writer.post("limits/rates", RATE | {"name": name})
    assert made.status_code == 201
    rate = made.json()
    assert (rate["agents"], rate["is_enabled"], rate["version"]) == (["*"], True, 1)
    address = f"limits/rates/{rate['id']}"

    changed = writer.ask("PATCH", address, {"version": 1, "per_minute": 9})
    assert changed.json()["per_minute"] == writer.get(address).json()["per_minute"] == 9
    assert [each["name"] for each in writer.get("limits/rates").json()] == [name]

    late = writer.ask("PATCH", address, {"version": 1, "per_minute": 1})
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert writer.ask("DELETE", f"{address}?version=2").status_code == 204
    assert writer.get(address).status_code == 404
    entries = Entry.objects.filter(kind="limit_change", changes__rate=name).order_by("seq")
    assert [entry.status for entry in entries] == ["created", "changed", "deleted"]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"per_minute": 0}, "per_minute"),
        ({"per": "moon"}, "per"),
        ({"name": ""}, "name"),
        ({"tools": ["x" * 201]}, "tools"),
    ],
)
def test_a_mistake_names_its_field_and_adds_nothing(members: dict[str, Any], path: str, writer: Program) -> None:
    refused = writer.post("limits/rates", RATE | members)
    assert refused.status_code == 400
    assert refused.json()["details"][0]["path"].startswith(path)
    assert not RateLimit.objects.exists()


def test_use_tells_whose_calls_count_now(writer: Program, environment: Any) -> None:
    rate = RateLimit.objects.create(environment=environment, name="calm", per_minute=1)
    for _ in range(2):
        shares_take(environment, (Share(str(rate.pk), "calm", "telegram:7", 1),), at=timezone.now())
    (use,) = writer.get("limits/use").json()
    assert (use["rate"], use["subject"], use["refused"]) == (str(rate.pk), "telegram:7", 1)
    assert 0 < use["used"] <= 1


def test_the_breakers_rule_is_read_and_changed(writer: Program) -> None:
    held = {"version": 1, "failures": 5, "pause_s": 30, "is_enabled": True}
    assert writer.get("limits/breaker").json() == held
    body = {"version": 1, "failures": 2}
    assert writer.ask("PATCH", "limits/breaker", body).json()["failures"] == 2
    assert writer.ask("PATCH", "limits/breaker", body).status_code == 409
    assert writer.get("limits/breakers").json() == []
    assert writer.post("limits/breakers/close", {"tool": "x"}).json() == {"closed": False}


def test_who_may_only_read_changes_nothing(program: Callable[..., Program]) -> None:
    reader = program("policy_read")
    assert reader.get("limits/rates").status_code == 200
    assert reader.post("limits/rates", RATE).status_code == 403
    assert reader.get("limits/use").status_code == 403
    assert not RateLimit.objects.exists()
