"""Every page of the console, filled, and served to a browser from the database of the test.

Pages are what the table of tests/doors.py lists and answers with a whole document; objects for their paths are those
of tests/seeded.py. A new page is looked at without a line here.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import uvicorn
from django.conf import settings
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.test import Client
from django.utils import timezone

from apps.firewall.identifiers import show_id
from apps.policies.models import Replay
from apps.policies.replays.running import replay_run
from apps.policies.services import guardrail_create
from openclaw_admin import sockets
from openclaw_admin.threads import InThreads
from openclaw_admin.wsgi import application as django_application
from tests.doors import ANYBODY, CONSOLE, NOBODY
from tests.seeded import Seeded

# Faces of a page that its bare address does not show, by the name of their picture.
VIEWS = {
    "agents-none-found": "/agents/?q=nobody-is-called-so",
    "audit-drawer": "/audit/?span=all&call={call}",
    "explorer-compare": "/explorer/?agent=main&compare=on&b_agent=ops-runner&b_channel=telegram&tool=exec",
    "explorer-matrix": "/explorer/?view=matrix",
    "not-found": "/nothing-is-here/",
    "snapshot-diff": "/snapshots/diff/?a=1&b=draft",
    "tools-denied": "/tools/?q=exec",
}


@dataclass(frozen=True)
class Served:
    """What a browser needs: where it is, whose it is, and the address of each page by its name."""

    url: str
    session: str
    pages: dict[str, str]

    def is_for_anybody(self, name: str) -> bool:
        return name in CONSOLE and CONSOLE[name][0] == ANYBODY


def fill(seeded: Seeded, admin: Any) -> Seeded:
    """Add what few tests want: a house rule that fails, a replay that has ended."""
    rail = guardrail_create(
        seeded.environment,
        by=admin,
        name="nobody but owners runs commands in groups",
        form={"requires": "never", "tools": ["group:runtime"], "place": "group", "sender": "non_owner"},
    )
    for replay in Replay.objects.all():
        replay_run(replay.pk, at=timezone.now())
    return replace(seeded, arguments={**seeded.arguments, "guardrail_id": rail.pk})


def pages_of(seeded: Seeded, person: Any) -> dict[str, str]:
    """Give the address of every page by the name of its URL; parts, files and what leads on are none."""
    stranger, signed_in = Client(raise_request_exception=False), Client(raise_request_exception=False)
    signed_in.force_login(person)
    found = {}
    for name, (get, _) in CONSOLE.items():
        path = "" if get == NOBODY else seeded.path(name)
        if path and _is_page(stranger if get == ANYBODY else signed_in, path):
            found[name] = path
    call = show_id("call", seeded.arguments["call_id"])
    return found | {name: path.format(call=call) for name, path in VIEWS.items()}


def _is_page(browser: Client, path: str) -> bool:
    answer = browser.get(path)
    return not answer.streaming and answer.status_code == 200 and b"<html" in answer.content[:2000]


def session_of(person: Any) -> str:
    """Sign a person in, and give what the browser keeps of it."""
    browser = Client()
    browser.force_login(person)
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def serving() -> Iterator[str]:
    """Answer people on a port of this machine as the product does, without its agents' door and its workers."""
    pages = InThreads(StaticFilesHandler(django_application), workers=4)

    async def application(scope: Any, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        await (sockets.application if scope["type"] == "websocket" else pages)(scope, receive, send)

    config = uvicorn.Config(application, interface="asgi3", port=0, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < until and thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(timeout=30)
    assert not thread.is_alive()
