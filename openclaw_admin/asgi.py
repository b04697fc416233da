"""The one ASGI application of a server process.

Agents' paths are answered plainly, sockets by Channels, everything else by Django as WSGI in threads: Django's own
ASGI handler costs a thread hop and a fresh context for every request.
"""

import asyncio
import os
import re

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from django.conf import settings

from apps.gateway.rpc import socket as rpc_socket
from apps.gateway.runtime_api import events
from apps.gateway.runtime_api.app import application as agents_application
from openclaw_admin import health, lifespan, sockets
from openclaw_admin.requests import Receive, RequestLog, Scope, Send
from openclaw_admin.threads import InThreads
from openclaw_admin.wsgi import application as wsgi_application

AGENTS_PATH = re.compile(
    r"/api/v1/(decisions|calls|runs)(/.*)?|/api/v1/(tools|turns|mcp/?|openclaw/.*|rpc/.*)|/api/v1/approvals/[^/]+/wait"
)
AGENTS_SOCKETS = (
    (events.PATH, events.application),
    (re.compile(re.escape(rpc_socket.PATH)), rpc_socket.application),
)
HEALTH = {"/healthz": health.healthz, "/readyz": health.readyz}

# Answered whatever else happens: the kill switch, and approvals that wait.
RESERVED_PATH = re.compile(r"/(api/v1/)?(halts|approvals)(/(?!answering|fatigue|history|rules|teams|deputies).*)?")


def is_reserved(scope: Scope) -> bool:
    return RESERVED_PATH.fullmatch(scope["path"]) is not None


django_application = InThreads(wsgi_application, workers=settings.WEB_THREADS, is_reserved=is_reserved)
pages = RequestLog(django_application)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Send each connection to its door."""
    if scope["type"] == "lifespan":
        await asyncio.to_thread(django_application.open_reserve)
        await lifespan.application(receive, send)
    elif scope["type"] == "websocket":
        served = (socket for path, socket in AGENTS_SOCKETS if path.fullmatch(scope["path"]))
        await next(served, sockets.application)(scope, receive, send)
    elif AGENTS_PATH.fullmatch(scope["path"]):
        await agents_application(scope, receive, send)
    else:
        await HEALTH.get(scope["path"], pages)(scope, receive, send)
