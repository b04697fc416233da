"""Who may keep a socket open: each socket of each door, tried by everybody. One without a line in a table fails.

The table stands in doors.py.
"""

from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from apps.accounts.access import PERMISSIONS, Permission
from apps.console.routing import websocket_urlpatterns
from openclaw_admin import asgi, sockets
from tests.doors import SIGNED_IN, SOCKETS
from tests.gateway.conftest import holder, server  # noqa: F401 - fixtures

ROLES = ("admin", "operator", "auditor", "viewer", "outsider")
OF_PEOPLE = [path for path in SOCKETS if path.startswith("/ws/")]
OF_AGENTS = [path for path in SOCKETS if path not in OF_PEOPLE]
HERE = "http://testserver"
SIGNED_OUT, NOT_ALLOWED, NOTHING_HERE = 4401, 4403, 4404

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_socket_has_a_line_in_the_table() -> None:
    assert {f"/{entry.pattern}" for entry in websocket_urlpatterns} == set(OF_PEOPLE)
    served = [[path for path in OF_AGENTS if known.fullmatch(path)] for known, _ in asgi.AGENTS_SOCKETS]
    assert sorted(path for paths in served for path in paths) == sorted(OF_AGENTS)
    assert all(served), "say in tests/doors.py who may listen there"


@pytest.mark.parametrize("path", OF_PEOPLE)
@pytest.mark.parametrize("role", ("", *ROLES))
async def test_a_socket_stays_open_for_those_who_may(
    path: str, role: str, request: pytest.FixtureRequest, environment: Any
) -> None:
    allowed = SOCKETS[path] in PERMISSIONS.get(role, frozenset())
    assert await _closing(request, role, HERE, path) == (None if allowed else NOT_ALLOWED if role else SIGNED_OUT)


@pytest.mark.parametrize(
    ("origin", "path", "code"),
    [
        ("http://elsewhere.example", "/ws/console/", NOT_ALLOWED),
        ("", "/ws/console/", NOT_ALLOWED),
        ("https://testserver", "/ws/console", NOTHING_HERE),
        (HERE, "/ws/other/", NOTHING_HERE),
    ],
)
async def test_a_socket_serves_pages_of_this_origin_only(
    origin: str, path: str, code: int, request: pytest.FixtureRequest, environment: Any
) -> None:
    assert await _closing(request, "admin", origin, path) == code


async def _closing(request: pytest.FixtureRequest, role: str, origin: str, path: str) -> int | None:
    """Open a socket, and give the code it is closed with; None when it says hello."""
    cookie = await sync_to_async(_cookie)(request, role) if role else ""
    headers = [(b"host", b"testserver"), (b"origin", origin.encode()), (b"cookie", cookie.encode())]
    communicator = WebsocketCommunicator(sockets.application, path, headers)
    connected, code = await communicator.connect()
    if not connected:
        return int(code or 0)
    said: dict[str, Any] = await communicator.receive_output()
    if said["type"] == "websocket.close":  # accepted first, so that the browser hears the code
        return int(said["code"])
    assert "hello" in said["text"]
    await communicator.disconnect()
    return None


def _cookie(request: pytest.FixtureRequest, role: str) -> str:
    browser = Client()
    browser.force_login(request.getfixturevalue(role))
    return f"sessionid={browser.cookies['sessionid'].value}"


def test_an_agents_socket_needs_its_scope_and_no_other(
    server: Any,  # noqa: F811 - a fixture
    token: Callable[..., Any],
) -> None:
    for path in OF_AGENTS:
        address = server.url.replace("http", "ws") + path.replace("{id}", "nothing")
        need = SOCKETS[path]
        assert _heard(address, "") == SIGNED_OUT, path
        assert _heard(address, "oca_x_wrong") == SIGNED_OUT, path
        if need == SIGNED_IN:
            assert _heard(address, token("policy_read")[1]) is None, path
            continue
        others = [str(scope) for scope in Permission if scope != need]
        assert _heard(address, token(*others)[1]) == NOT_ALLOWED, path
        assert _heard(address, token(str(need))[1]) == NOTHING_HERE, path


def _heard(address: str, secret: str) -> int | None:
    """Listen with a token, and give the code the socket is closed with; None when it answers a frame."""
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    with connect(address, additional_headers=headers, proxy=None) as socket:
        try:
            socket.send('{"type": "req", "id": "1", "method": "nothing", "params": {}}')
            socket.recv(timeout=60)
        except ConnectionClosed as closed:
            return None if closed.rcvd is None else closed.rcvd.code
    return None
