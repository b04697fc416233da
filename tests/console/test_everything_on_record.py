"""What people and programs do to the product itself: each kind of record, by whom, as the doors left it."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any, Final

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from apps.accounts.models import ApiToken
from apps.audit.models import Entry
from apps.policies.models import Publication
from apps.registry.models import Plugin
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

ADMIN: Final = "user:admin"
Did = tuple[str, str, str]
"""The kind of a record, its status, and whose it is."""


@pytest.fixture(autouse=True)
def forget_attempts() -> None:
    cache.clear()


@pytest.fixture
def person(client: Client, admin: Any, environment: Any) -> Client:
    """An administrator who came in by the page."""
    client.post("/sign-in/", {"login": "admin", "password": PASSWORD})
    return client


def did() -> list[Did]:
    return list(Entry.objects.order_by("at", "id").values_list("kind", "status", "actor"))


def test_coming_in_going_out_and_failing_to(person: Client) -> None:
    person.post("/sign-out/")
    person.post("/sign-in/", {"login": "admin", "password": "wrong"})
    assert did() == [
        ("sign_in", "signed_in", ADMIN),
        ("sign_in", "signed_out", ADMIN),
        ("sign_in", "refused", "system"),
    ]
    assert Entry.objects.get(status="refused").changes == {"username": "admin"}


def test_tokens_made_used_after_their_end_and_ended(person: Client) -> None:
    person.post("/tokens/", {"name": "bot", "scopes": ["audit_read"], "environment": "production"})
    token = ApiToken.objects.get()
    person.post(f"/tokens/{token.shown_id}/revoke/")
    secret = StringIO()
    call_command("create_token", "--name", "cron", "--scopes", "audit_read", stdout=secret)
    ApiToken.objects.filter(name="cron").update(expires_at=token.created_at)
    for _ in range(2):  # told once a minute
        headers = {"Authorization": f"Bearer {secret.getvalue().strip()}"}
        assert Client().get("/api/v1/audit/calls", headers=headers).status_code == 401
    cron = ApiToken.objects.get(name="cron")
    assert [each for each in did() if each[0] == "token"] == [
        ("token", "created", ADMIN),
        ("token", "revoked", ADMIN),
        ("token", "created", "system"),
        ("token", "refused", cron.actor),
    ]
    refused = Entry.objects.get(kind="token", status="refused")
    assert refused.changes == {
        "reason": "expired",
        "id": cron.shown_id,
        "name": "cron",
        "scopes": ["audit_read"],
        "agents": [],
    }


def test_people_and_what_they_may(person: Client, viewer: Any) -> None:
    person.post("/users/", {"role": "viewer", "display_name": "Anna"})
    person.post(f"/users/{viewer.shown_id}/role/", {"role": "operator"})
    person.post(f"/users/{viewer.shown_id}/active/", {"active": "no"})
    call_command("reset_password", "admin", stdout=StringIO())
    told = list(Entry.objects.filter(kind="user_change").order_by("at", "id").values_list("status", "actor"))
    assert told == [
        ("invited", ADMIN),
        ("role_changed", ADMIN),
        ("deactivated", ADMIN),
        ("reset_link_made", "system"),
    ]
    assert Entry.objects.get(status="role_changed").changes == {
        "user": "viewer",
        "before": "viewer",
        "after": "operator",
    }


def test_a_change_of_the_policy_its_publication_and_the_way_back(person: Client, token: Callable[..., Any]) -> None:
    headers = {"Authorization": f"Bearer {token('policy_read', 'policy_write', 'publish')[1]}"}
    program = Client(headers=headers)
    for number, deny in enumerate(([], ["exec"])):
        document = json.dumps({"agents": {"entries": {"bot": {"tools": {"deny": deny}}}}})
        put = program.put("/api/v1/document", json.dumps({"document": document}), content_type="application/json")
        assert put.status_code == 200, put.content
        before = Publication.objects.values_list("snapshot_id", flat=True).first() or ""
        body = {"message": f"number {number}", "expected_live": before}
        answer = program.post("/api/v1/publications", body, content_type="application/json")
        assert answer.status_code == 201, answer.content
    first, live = Publication.objects.last(), Publication.objects.first()
    assert first is not None
    assert live is not None
    form = {"message": "back", "expected_live": live.snapshot_id}
    assert person.post(reverse("snapshot-rollback", args=[first.pk]), form).status_code == 302
    rows = {row.kind: row for row in Entry.objects.filter(kind__in=["import", "policy_change", "publish", "rollback"])}
    assert rows.keys() >= {"publish", "rollback"}
    assert rows.keys() & {"import", "policy_change"}
    for row in rows.values():
        assert (row.environment, row.changes is not None) == ("production", True)
    assert (rows["rollback"].actor, rows["rollback"].snapshot_digest) == (ADMIN, first.snapshot_id)


def test_looking_taking_away_keeping_stopping_and_switching(person: Client, environment: Any) -> None:
    Plugin.objects.create(environment=environment, key="acme", name="Acme")
    person.get("/audit/?tool=exec")
    person.post("/exports/", {"format": "csv", "query": ""}, headers={"hx-request": "true"})
    person.post("/audit/retention/classes/denials/", {"days": "30"})
    person.post("/halts/place/", {"target": "environment", "reason": "it deletes things", "confirmed": "yes"})
    person.post("/plugin/enabled/acme/", {"enabled": "no", "version": "1"})
    found = {row.kind: row for row in Entry.objects.exclude(kind="sign_in")}
    assert found.keys() >= {"search", "export", "retention_change", "kill_switch", "tool_change"}
    for row in found.values():
        assert (row.kind, row.actor) == (row.kind, ADMIN)
        assert row.changes, row.kind
