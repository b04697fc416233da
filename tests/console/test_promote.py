"""Promoting as people do it: the difference first, then the step; nothing moves unseen."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.models import Publication
from apps.policies.selectors import agent_get, live_publication
from apps.policies.services import document_import, publish, publish_rule_save, record_update
from apps.registry.services import environment_create

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
DOCUMENT = '{"agents": {"entries": {"main": {"tools": {"deny": ["exec"]}}}}}'


@pytest.fixture
def staging(published: Any, admin: Any) -> Any:
    made = environment_create(slug="staging")
    document_import(made, DOCUMENT, by=admin)
    publish(made, by=admin, message="tried", expected_live="")
    return made


def _form(environment: Any, staging: Any) -> dict[str, str]:
    live, theirs = live_publication(environment), live_publication(staging)
    assert live is not None and theirs is not None
    return {"message": "from staging", "expected_live": live.snapshot_id, "publication": theirs.snapshot_id}


def test_without_another_environment_there_is_nothing_to_promote(
    client_of: ClientOf, admin: Any, published: Any
) -> None:
    assert "There is no other environment" in client_of(admin).get("/promote/").content.decode()


def test_the_difference_stands_before_the_step(client_of: ClientOf, viewer: Any, staging: Any) -> None:
    page = client_of(viewer).get("/promote/").content.decode()
    assert "Promote from Staging to Production" in page
    assert "agents.main.tools" in page
    assert 'hx-get="/promote/blast/?from=staging"' in page
    assert "Publishing needs the role administrator." in page
    assert "Lose access" in client_of(viewer).get("/promote/blast/?from=staging", headers=HTMX).content.decode()


def test_it_goes_live_here(client_of: ClientOf, admin: Any, published: Any, staging: Any) -> None:
    answer = client_of(admin).post("/promote/?from=staging", _form(published, staging), follow=True)
    live, agent = live_publication(published), agent_get(published, "main")
    assert live is not None and agent is not None
    assert (live.number, live.message, agent.deny) == (2, "from staging", ["exec"])
    assert "v2 is live." in answer.content.decode()


def test_a_second_person_is_asked(client_of: ClientOf, admin: Any, published: Any, staging: Any) -> None:
    publish_rule_save(published, by=admin, needs_second_person=True, hours=1)
    answer = client_of(admin).post("/promote/?from=staging", _form(published, staging), follow=True)
    assert "Waits for a second person" in answer.content.decode()
    assert Publication.objects.filter(environment=published).count() == 1


@pytest.mark.parametrize("member", ["expected_live", "publication"])
def test_what_moved_is_looked_at_again(
    client_of: ClientOf, admin: Any, published: Any, staging: Any, member: str
) -> None:
    form = _form(published, staging) | {member: "0" * 64}
    answer = client_of(admin).post("/promote/?from=staging", form)
    assert answer.status_code == 409
    assert "Something else is live by now" in answer.content.decode()
    assert Publication.objects.filter(environment=published).count() == 1


def test_a_draft_of_ones_own_is_kept(client_of: ClientOf, admin: Any, published: Any, staging: Any) -> None:
    agent = agent_get(published, "main")
    assert agent is not None
    record_update(agent, {"deny": ["read"]}, by=admin, expected_version=agent.version)
    answer = client_of(admin).post("/promote/?from=staging", _form(published, staging))
    assert answer.status_code == 422
    assert "publish or discard them first" in answer.content.decode()


def test_a_message_is_needed(client_of: ClientOf, admin: Any, published: Any, staging: Any) -> None:
    form = _form(published, staging) | {"message": ""}
    assert client_of(admin).post("/promote/?from=staging", form).status_code == 422


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_administrators_promote(
    client_of: ClientOf, published: Any, staging: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.post("/promote/?from=staging", _form(published, staging)).status_code == 403
    assert browser.get("/promote/").status_code == (403 if name == "outsider" else 200)
    assert Publication.objects.filter(environment=published).count() == 1
