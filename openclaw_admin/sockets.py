"""The way to the console's sockets: same origin only, then the session."""

from urllib.parse import urlsplit

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from apps.console.routing import websocket_urlpatterns
from openclaw_admin.requests import Application, Receive, Scope, Send, header

FOREIGN_ORIGIN, NOTHING_HERE = 4403, 4404


def is_same_origin(scope: Scope) -> bool:
    """Say whether the browser's page is one of ours: scheme and port count too, not only the host's name."""
    origin = header(scope, b"origin").decode("latin-1")
    host = header(scope, b"host").decode("latin-1")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return origin in settings.CSRF_TRUSTED_ORIGINS or (parts.scheme in {"http", "https"} and parts.netloc == host)


def is_served(scope: Scope) -> bool:
    path = scope["path"].removeprefix("/")
    return any(pattern.pattern.match(path) for pattern in websocket_urlpatterns)


signed_in: Application = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse what a page of another origin opens, and paths that nobody serves, before a session is read."""
    code = FOREIGN_ORIGIN if not is_same_origin(scope) else None if is_served(scope) else NOTHING_HERE
    if code is None:
        await signed_in({**scope, "send_plainly": send}, receive, send)
        return
    await receive()
    await send({"type": "websocket.close", "code": code})
