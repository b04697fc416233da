"""Pages that the whole story does not open, and a command that nobody allows."""

import concurrent.futures
import json
from typing import Any

import pytest

from tests.journeys.conftest import DEMO, Installation, agent_calls, queue_of

pytestmark = pytest.mark.journey
RUNTIME_PAGES = (
    "/sessions/",
    "/async-calls/",
    "/audit/reports/",
    "/audit/coverage/",
    "/audit/integrity/",
    "/audit/retention/",
    "/audit/retention/classes/calls/",
    "/hooks/",
    "/hook/new/",
    "/permissions/",
    "/permissions/new/",
    "/filters/",
    "/filters/new/",
    "/profiles/",
    "/profiles/coding/",
    "/policy-tests/",
    "/policy-tests/new/?agent=main&tool=exec",
    "/policy-tests/coverage/",
    "/tool-search/",
    "/tool-search/runs/",
    "/tool-search/quality/",
    "/tool-search/try/",
    "/tool-search/settings/",
    "/exec-rules/",
    "/limits/",
    "/limits/new/",
    "/sandbox/",
    "/gateways/",
    "/approvals/answering/",
    "/approvals/waiting/",
    "/approvals/fatigue/",
    "/approvals/history/",
    "/notifications/",
)


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    return installation


def test_a_command_that_a_person_denies_does_not_run(published: Installation, sign_in: Any) -> None:
    secret = published.token("calls_make")
    page = queue_of(sign_in("operator"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(agent_calls, published, secret, "main", "touch forbidden.txt")
        card = page.get_by_role("article").filter(has_text="forbidden.txt")
        card.get_by_role("button", name="Deny…").click()
        card.get_by_placeholder("Shown to the agent").fill("not on a Friday")
        card.get_by_role("button", name="Deny Enter").click()
        _, answer = running.result(timeout=40)

    assert answer["status"] == "denied"
    assert "not on a Friday" in json.dumps(answer)
    assert list(published.var.glob("workspaces/*/main/forbidden.txt")) == []


@pytest.mark.parametrize(
    ("who", "path"),
    [
        ("operator", "/approvals/"),
        ("admin", "/users/"),
        ("admin", "/tokens/"),
        ("admin", "/settings/"),
        ("viewer", "/agents/ops-runner/"),
        ("viewer", "/publish/"),
        *(pytest.param("admin", path, marks=pytest.mark.slow) for path in RUNTIME_PAGES),
    ],
)
def test_each_page_is_open_to_everybody(published: Installation, sign_in: Any, who: str, path: str) -> None:
    visitor = sign_in(who)
    visitor.open(path)

    visitor.check_access()
