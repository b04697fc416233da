"""The way to the console's sockets: same origin only, then the session."""

from importlib.util import find_spec
from urllib.parse import urlsplit

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.module_loading import import_string

from openclaw_admin.requests import Application, Receive, Scope, Send, header


def is_same_origin(scope: Scope) -> bool:
    """Say whether the browser's page is one of ours: scheme and port count too, not only the host's name."""
    origin = header(scope, b"origin").decode("latin-1")
    host = header(scope, b"host").decode("latin-1")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    parts = urlsplit(origin)
    return origin in settings.CSRF_TRUSTED_ORIGINS or (parts.scheme in {"http", "https"} and parts.netloc == host)


class SameOrigin:
    """Refuses a socket that a page of another origin opens, before a session is read."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_same_origin(scope):
            await self.application(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": 4403})


def socket_application() -> Application:
    websocket_urlpatterns = (
        import_string("apps.console.routing.websocket_urlpatterns") if find_spec("apps.console.routing") else []
    )
    application: Application = SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
    return application
