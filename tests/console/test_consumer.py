"""The socket of a tab: who may hear, what it says, when it closes."""

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from apps.accounts.services import session_end, user_set_role
from apps.console.consumers import NOT_ALLOWED, SIGNED_OUT, ConsoleConsumer
from apps.console.tabs import tabs
from apps.events.notices import Notice
from apps.firewall.identifiers import new_id, show_id

Tab = Callable[..., Awaitable[WebsocketCommunicator]]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tab(environment: Any) -> Tab:
    """Open a socket for a person with a session of theirs."""

    def make(user: Any) -> WebsocketCommunicator:
        browser = Client()
        if user is not None:
            browser.force_login(user)
        communicator = WebsocketCommunicator(ConsoleConsumer.as_asgi(), "/ws/console/")  # type: ignore[no-untyped-call]
        communicator.scope |= {"user": user or AnonymousUser(), "session": browser.session}
        return communicator

    return database_sync_to_async(make)


async def opened(communicator: WebsocketCommunicator) -> dict[str, Any]:
    connected, _protocol = await communicator.connect()
    assert connected
    greeting: dict[str, Any] = json.loads(await communicator.receive_from())
    return greeting


async def closed_with(communicator: WebsocketCommunicator) -> int:
    connected, _protocol = await communicator.connect()
    assert connected
    answer = await communicator.receive_output()
    assert answer["type"] == "websocket.close"
    return int(answer["code"])


async def send(environment: Any, kind: str, identifier: object) -> None:
    tabs.hear(Notice(kind, str(identifier), environment.slug))


async def heard(communicator: WebsocketCommunicator, kind: str) -> dict[str, Any]:
    """Read on until a message of a kind arrives; people coming and going may speak in between."""
    for _ in range(5):
        message: dict[str, Any] = json.loads(await communicator.receive_from())
        if message["type"] == kind:
            return message
    raise AssertionError(f"no `{kind}` was heard")


async def test_nobody_is_told_that_they_are_signed_out(tab: Tab) -> None:
    assert await closed_with(await tab(None)) == SIGNED_OUT


async def test_who_may_not_see_requests_hears_nothing(tab: Tab, outsider: Any) -> None:
    assert await closed_with(await tab(outsider)) == NOT_ALLOWED


async def test_it_greets_with_the_servers_time(tab: Tab, viewer: Any) -> None:
    communicator = await tab(viewer)
    before = round(time.time() * 1000)
    greeting = await opened(communicator)
    assert greeting["type"] == "hello"
    assert before <= greeting["server_time"] <= round(time.time() * 1000)
    await communicator.disconnect()


async def test_an_event_is_small_and_holds_no_html(tab: Tab, operator: Any, environment: Any) -> None:
    communicator = await tab(operator)
    await opened(communicator)
    approval_id = new_id()
    await send(environment, "approval.requested", approval_id)
    event = await heard(communicator, "approval.requested")
    assert set(event) == {"type", "id", "server_time"}
    assert event["id"] == show_id("ap", approval_id)
    await communicator.disconnect()


async def test_an_event_of_another_environment_is_not_heard(tab: Tab, operator: Any) -> None:
    communicator = await tab(operator)
    await opened(communicator)
    tabs.hear(Notice("approval.requested", "x", "staging"))
    assert await communicator.receive_nothing()
    await communicator.disconnect()


async def test_news_that_takes_another_permission_is_not_told(tab: Tab, viewer: Any, environment: Any) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    await send(environment, "audit.recorded", "x")
    await send(environment, "token.changed", "x")
    assert await communicator.receive_nothing()
    await communicator.disconnect()


async def test_a_ping_is_answered(tab: Tab, viewer: Any) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    await communicator.send_to(text_data='{"type": "ping"}')
    assert (await heard(communicator, "pong"))["type"] == "pong"
    await communicator.disconnect()


@pytest.mark.parametrize("text", ["not json", "[]", "{}", '{"type": 7}', '{"type": "watch"}'])
async def test_nonsense_changes_nothing(text: str, tab: Tab, viewer: Any) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    await communicator.send_to(text_data=text)
    assert await communicator.receive_nothing()
    await communicator.disconnect()


async def test_a_long_message_ends_the_socket(tab: Tab, viewer: Any) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    await communicator.send_to(text_data="x" * 1000)
    assert (await communicator.receive_output())["code"] == 1009


async def test_it_closes_when_its_session_was_ended(tab: Tab, viewer: Any, environment: Any) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    key = communicator.scope["session"].session_key
    await database_sync_to_async(session_end)(viewer, session_key=key)
    await send(environment, "session.ended", viewer.pk)
    assert (await communicator.receive_output())["code"] == SIGNED_OUT


async def test_it_closes_when_the_role_was_taken(tab: Tab, viewer: Any, admin: Any, environment: Any) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    await database_sync_to_async(user_set_role)(viewer, role="", by=admin)
    await send(environment, "user.changed", viewer.pk)
    assert (await communicator.receive_output())["code"] == NOT_ALLOWED


async def test_a_swarm_of_comings_and_goings_is_told_at_once_and_then_once_more(
    tab: Tab, viewer: Any, environment: Any
) -> None:
    communicator = await tab(viewer)
    await opened(communicator)
    for _ in range(50):
        await send(environment, "presence.changed", viewer.pk)
    await send(environment, "approval.requested", new_id())
    kinds = []
    while "approval.requested" not in kinds:
        kinds.append(json.loads(await communicator.receive_from(timeout=30))["type"])
    assert kinds.count("presence.changed") <= 1
    assert json.loads(await communicator.receive_from(timeout=30))["type"] == "presence.changed"
    assert await communicator.receive_nothing(timeout=1)
    await communicator.disconnect()
