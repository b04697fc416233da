"""Redis, when an address is given: asked once at the start, so that a wrong one is a sentence and not a flood."""

from urllib.parse import urlsplit

import redis
from django.conf import settings

from openclaw_admin.embedded.errors import EmbeddedError

PATIENCE_S = 5.0


def check_broker() -> None:
    """Ask Redis for an answer.

    Raises:
        EmbeddedError: it gives none; the sentence names its address without the password.
    """
    if not settings.REDIS_URL:
        return
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=PATIENCE_S, socket_timeout=PATIENCE_S)
        with client:
            client.ping()
    except (redis.RedisError, OSError) as exc:
        raise EmbeddedError(f"cannot use the Redis at {_address()}: {str(exc).rstrip('.').lower()}") from exc
    except ValueError as exc:
        raise EmbeddedError(f"REDIS_URL is no address of a Redis server: {str(exc).splitlines()[0]}") from exc


def _address() -> str:
    parts = urlsplit(settings.REDIS_URL)
    return f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
