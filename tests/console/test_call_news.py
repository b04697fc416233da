"""The news of a running call on its page, until it has ended."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id
from apps.gateway.models import CallProgress

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def running(environment: Any) -> str:
    """A call that has begun; gives the path of its page."""
    call_id = new_id()
    entry_record(
        EntryDraft(
            kind=EntryKind.CALL_INTENT, environment=environment.slug, agent="bot", tool="walk", call_id=call_id,
            params={}, decision=EntryDecision(verdict="allow"),
        )
    )  # fmt: skip
    shown = {"number": 3, "message": "third <b>room</b>", "done": 3, "total": 10, "output": "line 1\nline 2"}
    CallProgress.objects.create(call_id=call_id, environment=environment.slug, shown=shown, at=timezone.now())
    return f"/audit/calls/{show_id('call', call_id)}/"


@pytest.mark.parametrize(("name", "status"), [("auditor", 200), ("operator", 200), ("viewer", 403), ("outsider", 403)])
def test_only_readers_of_the_ledger_see_them(
    name: str, status: int, request: pytest.FixtureRequest, client_of: Callable[..., Client], running: str
) -> None:
    assert client_of(request.getfixturevalue(name)).get(f"{running}news/").status_code == status


def test_the_page_of_a_running_call_asks_for_news_and_shows_them(
    client_of: Callable[..., Client], auditor: Any, running: str
) -> None:
    browser = client_of(auditor)
    assert f'hx-get="{running}news/"' in browser.get(running).content.decode()

    part = browser.get(f"{running}news/").content.decode()

    for text in ("third &lt;b&gt;room", "3 / 10", "line 1", 'id="call-news"'):
        assert text in part


def test_a_call_that_has_ended_has_its_page_read_again(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    path = f"/audit/calls/{show_id('call', called())}/"
    browser = client_of(auditor)

    assert "call-news" not in browser.get(path).content.decode()
    assert browser.get(f"{path}news/").headers["HX-Refresh"] == "true"


def test_a_call_that_nobody_knows_is_not_found(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    assert client_of(auditor).get(f"/audit/calls/{show_id('call', new_id())}/news/").status_code == 404
