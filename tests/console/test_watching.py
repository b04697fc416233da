"""Who looks at a request and who is deciding: told to colleagues, in nobody's way."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.core.cache import cache
from django.test import Client

from apps.approvals.models import Look
from apps.console import watching
from tests.console.test_consumer import Tab, opened, tab  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nobody_looks() -> None:
    cache.clear()


async def says(communicator: WebsocketCommunicator, **message: Any) -> None:
    """Send a message, and wait until the tab has been heard out."""
    await communicator.send_to(text_data=json.dumps(message))
    await communicator.send_to(text_data='{"type": "ping"}')
    for _ in range(20):
        if json.loads(await communicator.receive_from(timeout=30))["type"] == "pong":
            return
    raise AssertionError("no pong")


async def seen_by(person: Any) -> str:
    def look() -> str:
        browser = Client()
        browser.force_login(person)
        return str(browser.get("/approvals/watchers/").content.decode())

    shown: str = await database_sync_to_async(look)()
    return shown


async def test_a_colleague_sees_who_looks_and_who_decides(
    tab: Tab,  # noqa: F811
    ask: Callable[..., Any],
    operator: Any,
    admin: Any,
) -> None:
    approval = await database_sync_to_async(ask)()
    mine = await tab(operator)
    await opened(mine)
    await says(mine, type="look", id=approval.shown_id, doing="looking")
    assert "is looking" in await seen_by(admin) and "is looking" not in await seen_by(operator)
    here = watching.watchers(approval.environment.slug)
    assert [each.username for each in here.values()] == ["operator"]
    await mine.disconnect()
    assert "is looking" not in await seen_by(admin)  # a lost connection is forgotten


async def test_taking_over_informs_and_keeps_nobody_from_answering(
    tab: Tab,  # noqa: F811
    ask: Callable[..., Any],
    operator: Any,
    admin: Any,
) -> None:
    approval = await database_sync_to_async(ask)()
    first, second = await tab(operator), await tab(admin)
    await opened(first)
    await opened(second)
    await says(first, type="look", id=approval.shown_id, doing="deciding")
    assert "is deciding" in await seen_by(admin) and "data-take" in await seen_by(admin)
    await says(second, type="look", id=approval.shown_id, doing="taking")
    theirs = await seen_by(operator)
    assert "is deciding" in theirs and "took this over from you" in theirs

    def answer() -> int:
        browser = Client()
        browser.force_login(operator)
        return browser.post(f"/approvals/{approval.shown_id}/resolve/", {"decision": "deny"}).status_code

    assert await database_sync_to_async(answer)() == 302
    await first.disconnect()
    await second.disconnect()


async def test_what_is_no_request_of_theirs_is_not_heard(
    tab: Tab,  # noqa: F811
    ask: Callable[..., Any],
    viewer: Any,
) -> None:
    approval = await database_sync_to_async(ask)()
    mine = await tab(viewer)
    await opened(mine)
    for shown_id, doing in (("ap_00000000000000000000000000", "looking"), ("x", "looking"), (approval.shown_id, "hm")):
        await says(mine, type="look", id=shown_id, doing=doing)
    await says(mine, type="look", id=7, doing=["looking"])
    assert watching.watchers(approval.environment.slug) == {}
    other = await tab(viewer)  # who may not answer looks on
    await opened(other)
    await says(other, type="look", id=approval.shown_id, doing="deciding")
    assert [each.doing for each in watching.watchers(approval.environment.slug).values()] == ["looking"]
    await mine.disconnect()
    await other.disconnect()


def test_what_is_not_repeated_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"approval": "ap_1", "username": "olga", "name": "Olga"}
    assert watching.watch("e", "t", doing="deciding", **names) == {"ap_1"}
    assert watching.watch("e", "t", doing="still", **names) == set()
    assert watching.watched_by_others("e", "anna")["ap_1"][0].is_deciding
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + watching.LASTS_S + 1)
    assert watching.watched_by_others("e", "anna") == {}


def test_after_a_takeover_repeating_does_not_take_it_back() -> None:
    own = {"approval": "ap_1", "username": "olga", "name": "Olga"}
    watching.watch("e", "t1", doing="deciding", **own)
    watching.watch("e", "t2", doing="taking", approval="ap_1", username="anna", name="Anna")
    watching.watch("e", "t1", doing="still", **own)
    assert watching.taken_from("e", "olga") == {"ap_1": "Anna"}
    assert [each.doing for each in watching.watched_by_others("e", "anna")["ap_1"]] == ["looking"]
    watching.watch("e", "t1", doing="deciding", **own)
    assert watching.taken_from("e", "olga") == {}


async def test_the_first_look_of_who_may_answer_is_kept(
    tab: Tab,  # noqa: F811
    ask: Callable[..., Any],
    operator: Any,
    viewer: Any,
) -> None:
    approval = await database_sync_to_async(ask)()
    for person in (operator, viewer):
        mine = await tab(person)
        await opened(mine)
        for doing in ("looking", "still", "looking"):
            await says(mine, type="look", id=approval.shown_id, doing=doing)
        await mine.disconnect()
    assert await database_sync_to_async(lookers)() == ["operator"]


def lookers() -> list[str]:
    return list(Look.objects.values_list("person__username", flat=True))
