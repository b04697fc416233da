"""Requests that ended: the list with its filters, and rules undone where they were made."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.drafts import GrantScope
from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve, approvals_expire
from apps.console.views import approvals_past
from apps.registry.models import Environment


def ended(approval: Approval, by: Any, decision: str = "deny", **fields: Any) -> Approval:
    return approval_resolve(approval, decision=decision, by=by, at=timezone.now(), **fields)


def page(browser: Client, **query: str) -> str:
    answer = browser.get("/approvals/history/", query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def told(ask: Callable[..., Approval], operator: Any) -> dict[str, Approval]:
    """One request of each kind of end."""
    return {
        "denied": ended(ask(command="rm -rf cache", agent="cleaner"), operator, reason="keep it"),
        "once": ended(ask(command="df -h"), operator, "allow-once"),
        "tool": ended(ask(kind="tool", tool="message", command="", argv=(), title="Write to all"), operator),
        "waits": ask(command="whoami"),
    }


def shown(browser: Client, told: dict[str, Approval], **query: str) -> set[str]:
    text = page(browser, **query)
    return {name for name, approval in told.items() if f"/approvals/{approval.shown_id}/card/" in text}


def test_it_lists_what_ended_newest_first(
    client_of: Callable[..., Client], viewer: Any, told: dict[str, Approval]
) -> None:
    text = page(client_of(viewer))
    places = [text.index(told[name].shown_id) for name in ("tool", "once", "denied")]
    assert places == sorted(places)
    assert told["waits"].shown_id not in text
    assert "“keep it”" in text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"state": "denied"}, {"denied", "tool"}),
        ({"state": "allowed_once"}, {"once"}),
        ({"kind": "tool"}, {"tool"}),
        ({"agent": "cleaner"}, {"denied"}),
        ({"text": "CACHE"}, {"denied"}),
        ({"text": "write to"}, {"tool"}),
        ({"by": "operat", "kind": "exec"}, {"denied", "once"}),
        ({"by": "nobody"}, set()),
        ({"text": "100%_'"}, set()),
    ],
)
def test_filters_narrow_it(
    query: dict[str, str],
    names: set[str],
    client_of: Callable[..., Client],
    viewer: Any,
    told: dict[str, Approval],
) -> None:
    assert shown(client_of(viewer), told, **query) == names


@pytest.mark.parametrize("query", [{"state": "requested"}, {"state": "x"}, {"kind": "x"}, {"before": "ap_x"}])
def test_what_no_form_of_ours_sends_is_not_found(
    query: dict[str, str], client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    assert client_of(viewer).get("/approvals/history/", query).status_code == 404


def test_pages_follow_one_another_and_keep_the_filters(
    client_of: Callable[..., Client],
    viewer: Any,
    told: dict[str, Approval],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approvals_past, "PAGE", 1)
    browser = client_of(viewer)
    first = page(browser, state="denied")
    older = re.search(r'href="/approvals/history/(\?[^"]+)" rel="next"', first)
    assert told["tool"].shown_id in first
    assert older is not None
    second = browser.get(f"/approvals/history/{older[1].replace('&amp;', '&')}").content.decode()
    assert told["denied"].shown_id in second
    assert told["tool"].shown_id not in second
    assert 'rel="next"' not in second
    assert 'href="/approvals/history/?state=denied"' in second


def test_other_environments_and_outsiders_have_their_own(
    client_of: Callable[..., Client], viewer: Any, outsider: Any, operator: Any, ask: Callable[..., Approval]
) -> None:
    other = Environment.objects.create(slug="staging", name="Staging", position=9)
    foreign = ended(ask(environment=other), operator)
    assert foreign.shown_id not in page(client_of(viewer))
    assert client_of(outsider).get("/approvals/history/").status_code == 403


def test_an_empty_list_says_so(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    browser = client_of(viewer)
    assert "Nothing was asked yet" in page(browser)
    assert "No past request matches" in page(browser, text="x")


def test_its_queries_do_not_grow(
    client_of: Callable[..., Client],
    operator: Any,
    ask: Callable[..., Approval],
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(5):
        ended(ask(command=f"c{number}"), operator, "allow-always")
    browser = client_of(operator)
    page(browser)
    with django_assert_max_num_queries(8):
        page(browser)


def test_a_rule_is_undone_where_it_was_made(
    client_of: Callable[..., Client], operator: Any, viewer: Any, ask: Callable[..., Approval]
) -> None:
    approval = ended(ask(), operator, "allow-always", scope=GrantScope())
    grant = approval.grants.get()
    browser = client_of(operator)
    for place, url in (("approvals", "/approvals/"), ("history", "/approvals/history/")):
        text = browser.get(url).content.decode()
        assert f'action="/grants/{grant.shown_id}/revoke/"' in text
        assert f'name="back" value="{place}"' in text
        assert "Undo rule" not in client_of(viewer).get(url).content.decode()
    assert browser.post(f"/grants/{grant.shown_id}/revoke/", {"back": "history"})["Location"] == "/approvals/history/"
    assert "Undo rule" not in browser.get("/approvals/").content.decode()
    grant.refresh_from_db()
    assert grant.revoked_at is not None


def test_a_rule_that_ran_out_needs_no_undo(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Approval]
) -> None:
    approval = ended(ask(), operator, "allow-always", scope=GrantScope())
    approval.grants.update(expires_at=timezone.now())
    part = client_of(operator).get(f"/approvals/{approval.shown_id}/recent/").content.decode()
    assert "Undo rule" not in part


def test_what_nobody_answered_stands_there_too(
    client_of: Callable[..., Client], viewer: Any, ask: Callable[..., Approval]
) -> None:
    approval = ask(left_s=-10)
    approvals_expire(timezone.now())
    assert approval.shown_id in page(client_of(viewer), state="expired")
