"""Pages that the whole story does not open, and a command that nobody allows."""

import concurrent.futures
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.urls import NoReverseMatch, reverse

from tests.doors import CONSOLE, NOBODY
from tests.journeys.conftest import DEMO, Installation, agent_calls, queue_of

pytestmark = pytest.mark.journey
# Parts, files and answers that lead on; a page with an argument in its path is opened by the stories.
NO_PAGES = re.compile(
    r"/(sign-.*|inactive|setlang|start|metrics|palette)/"
    r"|.*/(export|key\.pem|verify_audit\.py)/?|/notifications/(worker\.js|tried/)"
)


def own_pages() -> Iterator[str]:
    """Give the address of every page that needs no object, from the table of URLs."""
    for name, (get, _) in CONSOLE.items():
        with suppress(NoReverseMatch):
            path = reverse(name)
            if get != NOBODY and not NO_PAGES.fullmatch(path):
                yield path


RUNTIME_PAGES = [*own_pages(), "/audit/retention/classes/calls/", "/profiles/coding/"]


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
    page = visitor.open(path)

    if page.evaluate("document.doctype !== null"):  # else a part, which is held against the rules within its page
        visitor.check_access()
