"""Publishing by two, later, and from another environment, as programs do it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.policies.services import document_import, publish
from apps.registry.services import environment_create

pytestmark = pytest.mark.django_db
WANTED = {"message": "why", "expected_live": ""}


def test_the_rule_is_read_and_set(program: Any, draft: Any) -> None:
    publisher = program("policy_read", "publish")
    assert publisher.get("publish-rule").json() == {"needs_second_person": False, "hours": 72}
    rule = {"needs_second_person": True, "hours": 5}
    assert publisher.ask("PUT", "publish-rule", rule).json() == rule
    assert program("policy_read").ask("PUT", "publish-rule", rule).status_code == 403


def test_two_publish_what_one_cannot(program: Any, draft: Any, admin: Any, make_user: Any) -> None:
    first, second = program("policy_read", "publish", by=admin), program("publish", by=make_user("o", role="admin"))
    first.ask("PUT", "publish-rule", {"needs_second_person": True, "hours": 5})
    alone = first.post("publications", WANTED)
    assert (alone.status_code, alone.json()["details"][0]["code"]) == (422, "second_person_needed")

    asked = first.post("publish-requests", WANTED)
    own = first.post(f"publish-requests/{asked.json()['id']}/confirm", {})
    done = second.post(f"publish-requests/{asked.json()['id']}/confirm", {})

    assert (asked.status_code, asked.json()["state"]) == (201, "waiting")
    assert (own.status_code, own.json()["code"]) == (403, "own_request")
    assert (done.status_code, done.json()["state"]) == (200, "done")
    assert first.get("publications").json()[0]["id"] == done.json()["publication"]


def test_a_time_is_kept_and_taken_back(program: Any, draft: Any) -> None:
    publisher = program("policy_read", "publish")
    at = (datetime.now(UTC) + timedelta(hours=3)).isoformat()
    asked = publisher.post("publish-requests", WANTED | {"publish_at": at}).json()
    assert asked["state"] == "scheduled"
    assert publisher.post(f"publish-requests/{asked['id']}/withdraw", {}).json()["state"] == "withdrawn"
    again = publisher.post(f"publish-requests/{asked['id']}/withdraw", {})
    assert (again.status_code, again.json()["code"]) == (409, "publish_request_closed")
    assert [row["state"] for row in publisher.get("publish-requests").json()] == ["withdrawn"]
    assert publisher.post("publish-requests", WANTED).json()["code"] == "publish_rule_invalid"


def test_what_is_live_elsewhere_is_promoted(program: Any, published: Any, admin: Any) -> None:
    staging = environment_create(slug="staging")
    document_import(staging, '{"agents": {"entries": {"main": {}}}}', by=admin)
    publish(staging, by=admin, message="tried", expected_live="")
    everywhere = program("policy_read", "publish")
    theirs = everywhere.get("publications?environment=staging").json()[0]["id"]
    wanted = {"publication": theirs, "message": "up", "expected_live": published.snapshot_id}

    bound = program("publish", environment="production").post("publications/promote", wanted)
    made = everywhere.post("publications/promote", wanted)
    late = everywhere.post("publications/promote", wanted)

    assert bound.status_code == 404
    assert (made.status_code, made.json()["publication"]["number"], made.json()["request"]) == (201, 2, None)
    assert late.status_code == 409
