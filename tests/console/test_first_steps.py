"""The first steps after a first start: told by the records, each one can be skipped, and gone from sight when done."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.accounts.selectors import tokens
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from apps.policies.services import demo_import, draft_start, publish
from apps.registry.selectors import environment_find

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
KEYS = ("release", "policy", "publish", "connect", "call", "people")


@pytest.fixture(autouse=True)
def _nothing_remembered(empty_ledger: None) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def page(browser: Client, step: str = "") -> str:
    answer = browser.get(f"/start/?step={step}" if step else "/start/")
    assert answer.status_code == 200
    return answer.content.decode()


def current(text: str) -> str:
    found = re.search(r'\?step=(\w+)" aria-current="step"', text)
    return found[1] if found else ""


def connect(browser: Client, way: str, name: str = "clerk") -> str:
    return browser.post("/start/connect/", {"way": way, "name": name}).content.decode()


def came(environment: Any, actor: str) -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.DENIAL,
            environment=environment.slug,
            actor=actor,
            agent="bot",
            tool="read",
            call_id=new_id(),
            status="denied",
            at=timezone.now(),
        )
    )


def test_an_empty_installation_begins_with_the_first_step(client_of: ClientOf, admin: Any) -> None:
    text = page(client_of(admin))
    assert current(text) == "release"
    assert "0 of 6 done" in text
    assert "every tool call is refused" in text


def test_the_records_say_which_step_is_next(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    browser.post("/start/release/", {"dialect": "2026.2"})
    assert environment_find(environment.slug).dialect == "2026.2"  # type: ignore[union-attr]
    assert current(page(browser)) == "policy"

    demo_import(environment, by=admin)
    assert current(page(browser)) == "publish"

    publish(environment, by=admin, message="first", expected_live="")
    assert current(page(browser)) == "connect"


def test_to_keep_the_release_is_a_choice(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    browser.post("/start/release/", {"dialect": environment.dialect})
    assert current(page(browser)) == "policy"


def test_an_unknown_release_is_refused(client_of: ClientOf, admin: Any, environment: Any) -> None:
    assert client_of(admin).post("/start/release/", {"dialect": "1999.1"}).status_code == 422


@pytest.mark.parametrize("step", KEYS)
def test_each_step_can_be_skipped_stays_so_and_is_taken_up_again(
    client_of: ClientOf, admin: Any, environment: Any, step: str
) -> None:
    client_of(admin).post("/start/skip/", {"step": step, "do": "skip"})
    another = client_of(admin)  # another session: it is kept with the person
    assert "put aside" in page(another)
    assert current(page(another)) != step

    answer = another.post("/start/skip/", {"step": step, "do": "resume"})

    assert answer.headers["location"] == f"/start/?step={step}"
    assert "put aside" not in page(another)


def test_a_step_that_does_not_exist_cannot_be_skipped(client_of: ClientOf, admin: Any) -> None:
    assert client_of(admin).post("/start/skip/", {"step": "rest"}).status_code == 400


def test_a_program_gets_its_token_in_a_command_that_can_be_copied(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    text = connect(client_of(admin), "program")
    made = tokens()[0]
    assert (made.name, made.environment) == ("clerk", environment.slug)
    assert sorted(made.scopes) == ["calls_make", "decisions_ask"]
    assert f"Authorization: Bearer {made.prefix}_" in text
    assert "/api/v1/calls" in text and 'data-copy="#step-command"' in text
    assert "Waiting for the first call." in text
    assert made.prefix + "_" not in page(client_of(admin), "connect")


def test_a_gateway_gets_the_commands_that_enrol_it(client_of: ClientOf, admin: Any, environment: Any) -> None:
    text = connect(client_of(admin), "openclaw", "office")
    assert "install.mjs --server" in text and "--enrol-file enrolment" in text


def test_what_connects_needs_a_name(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/start/connect/", {"way": "program", "name": ""})
    assert answer.status_code == 422
    assert not tokens()


def test_its_first_call_is_seen(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    connect(browser, "program")
    waiting = browser.get("/start/first-call/").content.decode()
    assert "Waiting for the first call." in waiting and 'hx-trigger="every 2s"' in waiting

    made = tokens()[0]
    made.last_used_at = timezone.now()
    made.save(update_fields=["last_used_at"])
    came(environment, made.actor)

    seen = browser.get("/start/first-call/").content.decode()
    assert "We saw its first call." in seen and "hx-trigger" not in seen
    assert current(page(browser, "call")) == "call"


def test_calls_of_others_are_not_taken_for_it(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    connect(browser, "program")
    came(environment, "token:tok_other")
    assert "Waiting for the first call." in browser.get("/start/first-call/").content.decode()


def test_the_overview_leads_to_it_until_all_is_done_and_the_settings_open_it_again(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    browser = client_of(admin)
    draft_start(environment, by=admin)
    assert "First steps: 1 of 6 done." in browser.get("/").content.decode()

    for step in KEYS:
        browser.post("/start/skip/", {"step": step, "do": "skip"})

    assert "First steps:" not in browser.get("/").content.decode()
    assert 'href="/start/"' in browser.get("/settings/").content.decode()
    assert "All steps are done" in page(browser)


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_who_may_not_begin_sees_how_far_it_is(
    client_of: ClientOf, environment: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    text = page(browser, "connect")
    assert "An administrator has to begin." in text
    for path in ("/start/skip/", "/start/release/", "/start/connect/"):
        assert browser.post(path).status_code == 403
        assert f'action="{path}"' not in text
    draft_start(environment, by=None)
    assert "First steps:" not in browser.get("/").content.decode()


@pytest.mark.parametrize("path", ["skip", "release", "connect"])
def test_get_changes_nothing(client_of: ClientOf, admin: Any, path: str) -> None:
    assert client_of(admin).get(f"/start/{path}/").status_code == 405
