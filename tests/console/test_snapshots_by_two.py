"""Going back where two people publish: a second person, an emergency, and accepting what fails by name."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.firewall.identifiers import show_id
from apps.policies.models import Agent, Guardrail, GuardrailAcceptance, PublishRequest
from apps.policies.selectors import live_publication
from apps.policies.services import guardrail_create, publish, publish_rule_save, record_update

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
NO_EXEC: dict[str, Any] = {"requires": "never", "tools": ["exec"], "agents": ["main"]}


@pytest.fixture
def two(published: Any, admin: Any) -> tuple[Any, Any]:
    """Two publications; the second one takes exec from main."""
    first, agent = live_publication(published), Agent.objects.get(key="main")
    assert first is not None
    record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    return first, publish(published, by=admin, message="no exec", expected_live=first.snapshot_id)


@pytest.fixture
def by_two(published: Any, admin: Any) -> None:
    publish_rule_save(published, by=admin, needs_second_person=True, hours=24)


@pytest.fixture
def rail(published: Any, admin: Any) -> Guardrail:
    """One that the first publication fails, and that may be accepted."""
    return guardrail_create(published, by=admin, name="no exec", form=NO_EXEC, severity="warning")


def back(two: tuple[Any, Any], **more: str) -> tuple[str, dict[str, str]]:
    return reverse("snapshot-rollback", args=[two[0].pk]), {
        "message": "back", "expected_live": two[1].snapshot_id, **more,
    }  # fmt: skip


def live_number(environment: Any) -> int:
    live = live_publication(environment)
    assert live is not None
    return live.number


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_second_person_is_asked_and_goes_back(
    client_of: ClientOf, admin: Any, make_user: Any, published: Any, two: Any, by_two: None, headers: dict[str, str]
) -> None:
    assert client_of(admin).post(*back(two, do="ask"), headers=headers).status_code in (200, 302)
    asked = PublishRequest.objects.get()
    assert (asked.state, asked.rollback_of, live_number(published)) == ("waiting", two[0], 2)
    other = client_of(make_user("other", role="admin"))
    assert "Goes back to v1" in other.get("/publish/").content.decode()
    other.post(reverse("publish-confirm", args=[asked.pk]))
    live = live_publication(published)
    assert live is not None
    assert (live.number, live.rollback_of, live.snapshot_id, live.is_emergency) == (
        3, two[0], two[0].snapshot_id, False,
    )  # fmt: skip
    told = Entry.objects.filter(kind="rollback").latest("seq").changes
    assert told is not None
    assert (told["asked_by"], told["confirmed_by"]) == ("user:admin", "user:other")


def test_a_draft_that_moves_is_no_matter_of_the_way_back(
    client_of: ClientOf, admin: Any, make_user: Any, published: Any, two: Any, by_two: None
) -> None:
    client_of(admin).post(*back(two))
    agent = Agent.objects.get(key="main")
    record_update(agent, {"name": "Main"}, by=admin, expected_version=agent.version)
    asked = PublishRequest.objects.get()
    client_of(make_user("other", role="admin")).post(reverse("publish-confirm", args=[asked.pk]))
    assert live_number(published) == 3


def test_in_an_emergency_one_goes_back_alone_and_it_says_so_for_good(
    client_of: ClientOf, admin: Any, published: Any, two: Any, by_two: None
) -> None:
    page = client_of(admin).post(*back(two, do="emergency"), follow=True).content.decode()
    live = live_publication(published)
    assert live is not None
    assert (live.number, live.is_emergency) == (3, True)
    assert "emergency" in page
    told = Entry.objects.filter(kind="rollback").latest("seq").changes
    assert told is not None
    assert told["emergency"] is True


def test_where_one_publishes_nothing_is_an_emergency(client_of: ClientOf, admin: Any, published: Any, two: Any) -> None:
    client_of(admin).post(*back(two, do="emergency"))
    live = live_publication(published)
    assert live is not None
    assert (live.number, live.is_emergency) == (3, False)


def test_no_program_goes_back_alone_unless_it_says_emergency(
    published: Any, two: Any, by_two: None, token: Any
) -> None:
    headers = {"Authorization": f"Bearer {token('publish', 'policy_read')[1]}"}
    shown = show_id("pub", two[0].pk)
    body = {"message": "back", "expected_live": two[1].snapshot_id, "publication": shown}

    def post(path: str, **more: Any) -> Any:
        return Client().post(f"/api/v1/{path}", body | more, content_type="application/json", headers=headers)

    refused = post("publications/rollback")
    assert refused.json()["details"][0]["code"] == "second_person_needed"
    del body["publication"]
    asked = post("publish-requests", rollback_of=shown)
    assert (asked.status_code, asked.json()["rollback_of"]) == (201, shown)
    made = post("publications/rollback", publication=shown, is_emergency=True)
    assert (made.status_code, made.json()["is_emergency"]) == (201, True)


def test_what_fails_is_accepted_by_name_on_the_page(
    client_of: ClientOf, admin: Any, published: Any, two: Any, rail: Guardrail
) -> None:
    browser = client_of(admin)
    refused = browser.post(*back(two), headers=HTMX)
    accept = reverse("snapshot-accept", args=[two[0].pk, rail.shown_id])
    assert (refused.status_code, live_number(published)) == (422, 2)
    assert f'action="{accept}"' in refused.content.decode()
    (row,) = refused.context["guarding"].rows
    body = {"fingerprint": row.checked.check.fingerprint, "reason": " "}
    nameless = browser.post(accept, body)
    assert (nameless.status_code, GuardrailAcceptance.objects.count()) == (422, 0)
    assert 'role="alert"' in nameless.content.decode()
    page = browser.post(accept, body | {"reason": "an emergency"}, follow=True).content.decode()
    assert "an emergency" in page and "Accepted by user:admin" in page
    assert browser.post(*back(two)).status_code == 302
    assert live_number(published) == 3


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_accepts(
    name: str, client_of: ClientOf, two: Any, rail: Guardrail, request: pytest.FixtureRequest
) -> None:
    accept = reverse("snapshot-accept", args=[two[0].pk, rail.shown_id])
    assert client_of(request.getfixturevalue(name)).post(accept, {"reason": "x"}).status_code == 403
    assert not GuardrailAcceptance.objects.exists()
