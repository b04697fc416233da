"""No door publishes a draft that fails a policy test or a guardrail: no page, no program, no command."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.policies.models import Agent, Publication
from apps.policies.selectors import live_publication
from apps.policies.services import guardrail_create, policy_test_create, record_update
from tests.console.conftest import draft, published  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db

FAILED = "no exec"
MAKES: dict[str, Any] = {
    "policy_test_failed": lambda environment, by: policy_test_create(
        environment, by=by, name=FAILED, tool="exec", verdict="denied", context={"agent_id": "main"}
    ),
    "guardrail_failed": lambda environment, by: guardrail_create(
        environment, by=by, name=FAILED, form={"requires": "never", "tools": ["exec"], "agents": ["main"]}
    ),
}


@pytest.fixture(params=sorted(MAKES))
def code(published: Any, admin: Any, request: pytest.FixtureRequest) -> str:  # noqa: F811
    """The draft has changed and fails something; a program is told of it by this code."""
    agent = Agent.objects.get(key="main")
    record_update(agent, {"name": "Main"}, by=admin, expected_version=agent.version)
    MAKES[request.param](published, admin)
    return str(request.param)


@pytest.fixture
def live(code: str, published: Any) -> Publication:  # noqa: F811
    found = live_publication(published)
    assert found is not None
    return found


def test_no_page_does(live: Publication, admin: Any) -> None:
    browser = Client()
    browser.force_login(admin)
    answer = browser.post("/publish/", {"message": "x", "expected_live": live.snapshot_id})
    assert (answer.status_code, live_publication(live.environment)) == (422, live)
    assert FAILED in answer.content.decode()


def test_no_program_does(code: str, live: Publication, token: Any) -> None:
    secret = token("publish", "policy_read")[1]
    body, headers = {"message": "x", "expected_live": live.snapshot_id}, {"Authorization": f"Bearer {secret}"}
    answer = Client().post("/api/v1/publications", body, content_type="application/json", headers=headers)
    assert (answer.status_code, live_publication(live.environment)) == (422, live)
    assert answer.json()["details"][0]["code"] == code


def test_no_command_does(live: Publication) -> None:
    with pytest.raises(CommandError, match="cannot be published"):
        call_command("policy", "publish", "-m", "x")
    assert live_publication(live.environment) == live
