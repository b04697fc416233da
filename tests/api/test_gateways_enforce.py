"""The review of a draft names what a gateway cannot be held to, before anything is published."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone, translation

from apps.firewall.engine.unknown_facts import NEEDS
from apps.openclaw_gateways.enforceable import CODE, FACTS, OLDER, PLACES
from apps.openclaw_gateways.models import OpenClawGateway
from apps.openclaw_gateways.services import (
    Heartbeat,
    enrolment_create,
    enrolment_redeem,
    gateway_heard,
    gateway_revoke,
)
from apps.policies.selectors import lint
from apps.policies.services import document_import

BY_MODEL = {"tools": {"byProvider": {"fake/large": {"deny": ["write"]}}}}
BY_NAME = {
    "tools": {"toolsBySender": {"username:mallory": {"deny": ["write"]}}},
    "channels": {"telegram": {"groups": {"-100": {"toolsBySender": {"name:Mal": {"deny": ["write"]}}}}}},
}


@pytest.fixture
def gateway(environment: Any) -> OpenClawGateway:
    """A gateway whose plugin does not say what it can tell."""
    _, secret = enrolment_create(environment, name="office", by=None, at=timezone.now())
    made, _ = enrolment_redeem(secret, Heartbeat(boot="boot-0001"), at=timezone.now())
    return gateway_heard(made, Heartbeat(boot="boot-0001", plugin="1.0.0"), at=timezone.now())


def remarks(environment: Any) -> list[tuple[str, str]]:
    found = [each for each in lint(environment) if each.code == CODE]
    assert all(each.severity == "warning" for each in found), "its calls are refused: publishing opens nothing"
    return [(each.path, each.message.split(". ")[0]) for each in found]


def test_rules_by_provider_need_a_plugin_that_tells_it(environment: Any, gateway: OpenClawGateway) -> None:
    assert remarks(environment) == []
    document_import(environment, json.dumps(BY_MODEL), by=None)
    assert remarks(environment) == [
        ("tools.byProvider", "Not enforceable at gateway office: needs the provider, the model")
    ]
    gateway_heard(gateway, Heartbeat(boot="boot-0001", facts=("provider",)), at=timezone.now())
    assert remarks(environment) == [("tools.byProvider", "Not enforceable at gateway office: needs the model")]
    gateway_heard(gateway, Heartbeat(boot="boot-0001", facts=("provider", "model_id")), at=timezone.now())
    assert remarks(environment) == []


def test_pages_and_programs_show_what_a_gateway_can_tell(
    gateway: OpenClawGateway, client_of: Callable[..., Any], admin: Any, program: Callable[..., Any]
) -> None:
    page = f"/gateways/{gateway.shown_id}/"
    assert "provider, model_id" not in client_of(admin).get(page).content.decode()
    gateway_heard(gateway, Heartbeat(boot="boot-0001", facts=("provider", "model_id")), at=timezone.now())
    assert "provider, model_id" in client_of(admin).get(page).content.decode()
    assert program("policy_read").get("gateways").json()[0]["facts"] == ["provider", "model_id"]


def test_each_layer_is_named_with_what_it_needs(environment: Any, gateway: OpenClawGateway) -> None:
    document_import(environment, json.dumps(BY_NAME), by=None)
    assert remarks(environment) == [
        (
            "channels",
            "Not enforceable at gateway office: needs the session that spawned a sub-agent, the sender's name",
        ),
        ("tools.toolsBySender", "Not enforceable at gateway office: needs the sender's username"),
    ]


def test_a_gateway_that_is_revoked_or_was_never_heard_of_is_not_remarked_on(
    environment: Any, gateway: OpenClawGateway
) -> None:
    document_import(environment, json.dumps(BY_MODEL), by=None)
    _, secret = enrolment_create(environment, name="new", by=None, at=timezone.now())
    enrolment_redeem(secret, Heartbeat(boot="boot-0002"), at=timezone.now())
    gateway_revoke(gateway, by=None, at=timezone.now())
    assert remarks(environment) == []


def test_pages_programs_and_the_command_line_show_it(
    environment: Any,
    gateway: OpenClawGateway,
    client_of: Callable[..., Any],
    admin: Any,
    program: Callable[..., Any],
) -> None:
    document_import(environment, json.dumps(BY_MODEL), by=None)
    sentence = "Not enforceable at gateway office: needs the provider, the model"
    assert sentence in client_of(admin).get("/publish/?review=now").content.decode()
    (found,) = [each for each in program("policy_read").get("draft/lint").json() if each["code"] == CODE]
    assert found["message"].startswith(sentence)
    out = io.StringIO()
    call_command("policy", "lint", stdout=out)
    assert f"warning: tools.byProvider: {sentence}" in out.getvalue()


def test_every_fact_that_a_layer_needs_has_a_name_in_both_languages() -> None:
    assert PLACES.keys() <= NEEDS.keys()
    asked = {fact for layer in PLACES for fact in NEEDS[layer]}
    assert asked <= FACTS.keys()
    assert set(OLDER) <= {fact for facts in NEEDS.values() for fact in facts}
    with translation.override("zh-hans"):
        assert not any(str(name).startswith("the ") for name in FACTS.values())
