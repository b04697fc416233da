"""`manage.py serve` with a second console socket beside the product's: a group message for each consumer.

`/ws/grouped/` is how the manual of Channels does it: every consumer joins a group, each notice is sent to the group,
and each consumer writes what it heard.
"""

import json
import os
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from channels.auth import AuthMiddlewareStack  # noqa: E402 - Django must be set up first
from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402
from channels.layers import InMemoryChannelLayer, channel_layers  # noqa: E402
from django.core.management import execute_from_command_line  # noqa: E402

from apps.accounts.access import Permission, permissions_of  # noqa: E402
from apps.console.tabs import FORWARDED, shown  # noqa: E402
from apps.events.listener import subscribe  # noqa: E402
from apps.events.notices import Notice  # noqa: E402
from openclaw_admin import asgi  # noqa: E402

PATH, GROUP = "/ws/grouped/", "console"
layer = InMemoryChannelLayer()
channel_layers.set("default", layer)


class GroupedConsumer(AsyncWebsocketConsumer):
    """Hears the group, and writes each notice for itself."""

    groups = [GROUP]
    permissions: frozenset[Permission] = frozenset()

    async def connect(self) -> None:
        await self.accept()  # type: ignore[no-untyped-call]
        self.permissions = permissions_of(self.scope["user"])

    async def notice(self, event: dict[str, Any]) -> None:
        if FORWARDED[event["kind"]] in self.permissions:
            message = {"type": event["kind"], "server_time": round(time.time() * 1000), "id": event["shown"]}
            await self.send(text_data=json.dumps(message))  # type: ignore[no-untyped-call]


async def push(notice: Notice) -> None:
    if notice.kind in FORWARDED and GROUP in layer.groups:
        event = {"type": "notice", "kind": notice.kind, "shown": shown(notice.kind, notice.id)}
        await layer.group_send(GROUP, event)


grouped = AuthMiddlewareStack(GroupedConsumer.as_asgi())  # type: ignore[no-untyped-call]
product = asgi.application


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "websocket" and scope["path"] == PATH:
        await grouped(scope, receive, send)
    else:
        await product(scope, receive, send)


if __name__ == "__main__":
    subscribe(push)
    asgi.application = application
    execute_from_command_line(["manage.py", "serve", *sys.argv[1:]])
