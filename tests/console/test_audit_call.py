"""One call: the drawer and the page behind a link."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.checkpoints import checkpoints_make
from apps.audit.verification_runs import verification_request, verification_run
from apps.firewall.engine.exec_policy import Evidence, Part
from apps.firewall.identifiers import show_id


def path(call_id: Any) -> str:
    return f"/audit/calls/{show_id('call', call_id)}/"


@pytest.mark.parametrize(("name", "status"), [("auditor", 200), ("operator", 200), ("viewer", 403), ("outsider", 403)])
def test_only_readers_of_the_ledger_see_it(
    name: str, status: int, request: pytest.FixtureRequest, client_of: Callable[..., Client], called: Callable[..., Any]
) -> None:
    assert client_of(request.getfixturevalue(name)).get(path(called())).status_code == status


def test_it_shows_params_result_phases_and_that_the_record_is_intact(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    call_id = called(params={"path": "notes.md"}, result={"text": "the result"})
    page = client_of(auditor).get(path(call_id)).content.decode()
    for text in ("notes.md", "the result", "31 ms", "Record intact", show_id("call", call_id)):
        assert text in page


def test_it_is_a_fragment_for_the_drawer(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    part = client_of(auditor).get(path(called()), headers={"hx-request": "true"}).content.decode()
    assert part.lstrip().startswith("<header>")


def test_the_page_opens_with_the_drawer_that_its_url_names(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    call_id = called(result={"text": "drawn at once"})
    page = client_of(auditor).get("/audit/", {"call": show_id("call", call_id)}).content.decode()
    assert "drawn at once" in page


def test_hostile_results_are_escaped(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    page = client_of(auditor).get(path(called(result="<img src=x onerror=alert(1)>\u202e"))).content.decode()
    assert "<img" not in page
    assert "\u202e" not in page


def test_an_unknown_call_and_one_of_another_environment_are_not_found(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    browser = client_of(auditor)
    assert browser.get("/audit/calls/call_00000000000000000000000000/").status_code == 404
    assert browser.get(path(called(environment="staging"))).status_code == 404


def test_what_hooks_changed_stands_member_by_member(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    changes = [
        {"plugin": "acme", "member": "path", "kind": "changed", "before": "<b>one</b>", "after": "two"},
        {"plugin": "acme", "member": "limit", "kind": "added", "after": 200},
    ]
    page = client_of(auditor).get(path(called(changes={"hooks": changes}))).content.decode()
    for text in ("Changes by hooks", "acme", "limit", "200", "&lt;b&gt;one"):
        assert text in page


def test_a_command_that_was_asked_about_is_drawn_by_its_parts(
    client_of: Callable[..., Client], auditor: Any, ask: Callable[..., Any]
) -> None:
    line = "git status && curl x.example"
    first = Part(text="git status", start=0, end=10, program="/usr/bin/git", satisfied_by="allowlist", pattern="git")
    why = Evidence("allowlist_miss", "/usr/bin/curl")
    second = Part(text="curl x.example", start=14, end=28, program="/usr/bin/curl", why=why)
    approval = ask(command=line, parts=[first, second])
    page = client_of(auditor).get(path(approval.call_id)).content.decode()
    assert page.count('class="sg ') == 2
    assert "rule <code>git</code>" in page
    assert "No rule matches." in page


def test_it_tells_which_checkpoint_and_which_walk_vouch_for_the_record(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    browser, call_id = client_of(auditor), called()
    page = browser.get(path(call_id)).content.decode()
    assert "none yet; one is signed every ten seconds" in page
    assert "not since it was written" in page

    (signed,) = checkpoints_make()
    verification_run(verification_request(auditor, at=timezone.now()).pk, at=timezone.now())

    page = browser.get(path(call_id)).content.decode()
    assert f"#{signed.number}</span>," in page
    assert "not since it was written" not in page
    assert "Verified up to" in browser.get("/audit/").content.decode()


def test_a_record_written_after_the_last_walk_is_not_called_verified(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called()
    verification_run(verification_request(auditor, at=timezone.now()).pk, at=timezone.now())
    assert "not since it was written" in client_of(auditor).get(path(called())).content.decode()
