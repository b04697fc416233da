"""The end of records over REST: classes, purges, holds and erasures, for tokens of the whole installation."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.audit.retention.erasing import erasure_run
from apps.audit.services import entry_record
from apps.audit.tasks import purge_run_task
from apps.audit.verification import verify_chains
from apps.firewall.identifiers import read_id
from tests.audit.conftest import fresh_writer  # noqa: F401 - a fixture
from tests.audit.drafts import denial

BASE = "/api/v1/audit"
SUBJECT = {"channel": "telegram", "sender": "7"}


@pytest.fixture
def ask(transactional_db: None, fresh_writer: None, environment: Any, token: Callable[..., Any]) -> Callable[..., Any]:  # noqa: F811
    headers = {"Authorization": f"Bearer {token('audit_manage')[1]}"}
    entry_record(denial(params={"word": "canary"}, at=timezone.now() - timedelta(days=40)))

    def call(method: str, path: str, body: Any = None) -> Any:
        send = getattr(Client(), method)
        return send(f"{BASE}/{path}", body, content_type="application/json", headers=headers)

    return call


def test_a_class_is_set_looked_at_and_purged(ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str]] = []
    monkeypatch.setattr(purge_run_task, "delay", lambda *words: asked.append(words))
    classes = {each["name"]: each for each in ask("get", "retention").json()}
    assert (classes["denials"]["floor_days"], classes["keeping"]["floor_days"]) == (30, None)
    refused = ask("patch", "retention/denials", {"days": 29})
    assert refused.status_code == 422 and refused.json()["details"][0]["path"] == "days"
    assert ask("post", "retention/denials/purge").status_code == 422  # kept for ever
    assert ask("patch", "retention/denials", {"days": 30}).json()["days"] == 30
    preview = ask("get", "retention/denials").json()
    assert (preview["records"], preview["run"]) == (1, None)
    begun = ask("post", "retention/denials/purge")
    assert (begun.status_code, begun.json()["run"]["state"]) == (202, "waiting")
    purge_run_task(*asked[0])
    after = ask("get", "retention/denials").json()
    assert (after["records"], after["run"]["state"], after["run"]["records_done"]) == (0, "done", 1)
    assert verify_chains().is_intact
    assert ask("get", "retention/nothing").status_code == 404


def test_a_hold_refuses_an_erasure_until_it_is_lifted(ask: Callable[..., Any]) -> None:
    hold = ask("post", "holds", {"reason": "case 7", "sender": "7"})
    assert hold.status_code == 201 and ask("get", "holds").json()["holds"] == [hold.json()]
    preview = ask("post", "erasures/preview", SUBJECT).json()
    assert preview["contents"] == 1 and "case 7" in preview["holds"][0]
    refused = ask("post", "erasures", {**SUBJECT, "reason": "asked to"})
    assert (refused.status_code, refused.json()["code"]) == (409, "erasure_held")
    assert ask("post", f"holds/{hold.json()['id']}/lift", {"reason": ""}).status_code == 400
    lifted = ask("post", f"holds/{hold.json()['id']}/lift", {"reason": "closed"}).json()
    assert lifted["lift_reason"] == "closed" and ask("get", "holds").json()["lifted"] == [lifted]

    erasure = ask("post", "erasures", {**SUBJECT, "reason": "asked to"})
    assert erasure.status_code == 202
    erasure_run(read_id("ers", erasure.json()["id"]), at=timezone.now())
    found = ask("get", f"erasures/{erasure.json()['id']}").json()
    assert (found["state"], found["contents_done"]) == ("done", 1)
    assert "sender" not in found and ask("get", "erasures").json() == [found]
    assert {"requested", "done"} <= set(Entry.objects.filter(kind="erasure").values_list("status", flat=True))


def test_a_token_of_one_environment_ends_no_records(ask: Callable[..., Any], token: Callable[..., Any]) -> None:
    headers = {"Authorization": f"Bearer {token('audit_manage', environment='production')[1]}"}
    for path in ("retention", "holds", "erasures"):
        assert Client().get(f"{BASE}/{path}", headers=headers).status_code == 404
