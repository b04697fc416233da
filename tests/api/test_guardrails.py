"""Guardrails at the programs' door: kept, checked against draft, live and older snapshots, accepted by name."""

from typing import Any

import pytest

from apps.firewall.identifiers import show_id
from apps.policies.models import Guardrail, GuardrailAcceptance
from apps.policies.selectors import live_publication
from apps.policies.services import publish

pytestmark = pytest.mark.django_db

FORM: dict[str, Any] = {"requires": "never", "tools": ["exec"], "agents": ["main"], "place": "group"}
NO_EXEC: dict[str, Any] = {"name": "no exec in groups", "form": FORM, "severity": "warning"}


@pytest.fixture
def writer(program: Any, draft: Any, admin: Any) -> Any:
    return program("policy_read", "policy_write", "publish", by=admin)


def test_one_is_added_read_changed_and_removed(writer: Any) -> None:
    made = writer.post("guardrails", NO_EXEC)
    assert made.status_code == 201, made.json()
    guardrail = made.json()
    assert NO_EXEC.items() <= guardrail.items()
    assert (guardrail["version"], guardrail["is_enabled"]) == (1, True)
    assert guardrail["sentence"] == "Agent `main`, in any group: may never use `exec`"
    place = f"guardrails/{guardrail['id']}"
    assert writer.get("guardrails").json() == [writer.get(place).json()] == [guardrail]

    changed = writer.ask("PATCH", place, {"version": 1, "is_enabled": False})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert writer.ask("PATCH", place, {"version": 1, "name": "x"}).status_code == 409
    assert writer.ask("DELETE", f"{place}?version=1").status_code == 409
    assert writer.ask("DELETE", f"{place}?version=2").status_code == 204
    assert writer.get(place).status_code == 404


@pytest.mark.parametrize(
    ("members", "path", "status"),
    [
        ({"name": None}, "name", 400),
        ({"severity": "deadly"}, "severity", 400),
        ({"form": "never"}, "form", 400),
        ({"form": FORM | {"whom": []}}, "form", 422),
        ({"form": {"requires": "never"}}, "form", 422),
    ],
)
def test_a_mistake_names_its_member_and_adds_nothing(
    members: dict[str, Any], path: str, status: int, writer: Any
) -> None:
    refused = writer.post("guardrails", NO_EXEC | members)
    assert (refused.status_code, refused.json()["details"][0]["path"]) == (status, path)
    assert not Guardrail.objects.exists()


def test_a_check_says_what_fails_where_and_for_whom(writer: Any) -> None:
    form = FORM | {"place": "direct", "tools": ["read"]}
    for body in (NO_EXEC | {"form": form}, {"name": "off", "form": FORM, "is_enabled": False}):
        assert writer.post("guardrails", body).status_code == 201
    checked = writer.get("guardrails/check").json()
    failing, off = checked["results"]
    assert (checked["stops"], failing["state"], off["state"]) == (True, "fails", "skipped")
    assert (failing["tools"], failing["agents"]) == (["read"], ["main"])
    assert 0 < failing["classes"] <= failing["asked"]
    shown = failing["counterexample"]
    assert (shown["tool"], shown["decision"]["allowed"]) == ("read", True)
    assert shown["context"]["agent_id"] == "main"
    assert off["counterexample"] is None


def test_a_check_is_of_the_snapshot_that_is_asked_for(writer: Any, draft: Any, admin: Any) -> None:
    assert writer.get("guardrails/check?at=live").status_code == 404
    publish(draft, by=admin, message="first", expected_live=None)
    live = live_publication(draft)
    assert live is not None
    for at in ("live", live.snapshot_id):
        assert writer.get(f"guardrails/check?at={at}").json()["digest"] == live.snapshot_id


def test_a_failure_is_accepted_by_its_fingerprint(writer: Any, draft: Any) -> None:
    guardrail = writer.post("guardrails", NO_EXEC | {"form": FORM | {"place": "direct", "tools": ["read"]}}).json()
    place = f"guardrails/{guardrail['id']}/accept"
    (failing,) = writer.get("guardrails/check").json()["results"]
    assert writer.post(place, {"fingerprint": failing["fingerprint"]}).status_code == 400
    assert writer.post(place, {"fingerprint": "0" * 64, "reason": "x"}).status_code == 422
    accepted = writer.post(place, {"fingerprint": failing["fingerprint"], "reason": "until Friday"})
    assert (accepted.status_code, accepted.json()["accepted_by"]) == (200, "user:admin")
    checked = writer.get("guardrails/check").json()
    assert (checked["stops"], checked["results"][0]["state"]) == (False, "accepted")
    assert checked["results"][0]["acceptance"]["accepted_by"] == accepted.json()["accepted_by"]
    gone = {"fingerprint": failing["fingerprint"], "reason": "x", "publication": show_id("pub", draft.pk)}
    assert writer.post(place, gone).status_code == 404
    assert writer.post(place, gone | {"publication": "pub_x"}).status_code == 400
    assert GuardrailAcceptance.objects.count() == 1


def test_each_right_opens_its_own_method(program: Any, writer: Any) -> None:
    guardrail = writer.post("guardrails", NO_EXEC).json()
    reader = program("policy_read")
    assert len(reader.get("guardrails").json()) == 1
    assert reader.post("guardrails", NO_EXEC).status_code == 403
    assert reader.post(f"guardrails/{guardrail['id']}/accept", {}).status_code == 403
    assert reader.get("guardrails/check").status_code == 200
    assert program("explain").get("guardrails/check").status_code == 403


def test_a_program_without_a_person_behind_it_accepts_nothing(program: Any, writer: Any) -> None:
    guardrail = writer.post("guardrails", NO_EXEC | {"form": FORM | {"place": "direct", "tools": ["read"]}}).json()
    (failing,) = writer.get("guardrails/check").json()["results"]
    body = {"fingerprint": failing["fingerprint"], "reason": "x"}
    refused = program("publish").post(f"guardrails/{guardrail['id']}/accept", body)
    assert (refused.status_code, refused.json()["code"]) == (422, "guardrail_not_accepted")
