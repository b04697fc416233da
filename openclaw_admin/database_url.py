"""Reads postgresql:// addresses into Django's form."""

from urllib.parse import unquote, urlparse

from openclaw_admin import env

CONNECT_TIMEOUT_S = 10
KEEP_CONNECTION_S = 60


def database_settings(url: str, *, is_testing: bool = False) -> dict[str, object]:
    """Turn an address into an entry of DATABASES; what follows `?` goes to libpq, `host` may be a socket's folder.

    Raises:
        SettingError: not an address of PostgreSQL, or no port.
    """
    parts = urlparse(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise env.SettingError("DATABASE_URL", "must start with postgresql://")
    try:
        port = str(parts.port or "")
    except ValueError:
        raise env.SettingError("DATABASE_URL", "its port is not a number up to 65535") from None
    query = {
        name: unquote(value) for name, _, value in (pair.partition("=") for pair in parts.query.split("&")) if name
    }
    return {
        "ENGINE": "openclaw_admin.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "openclaw_admin",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or parts.hostname or "",
        "PORT": port,
        "OPTIONS": {"connect_timeout": str(CONNECT_TIMEOUT_S), **query},
        "CONN_MAX_AGE": 0 if is_testing else KEEP_CONNECTION_S,
        "CONN_HEALTH_CHECKS": not is_testing,
        "TEST": {"NAME": env.text("TEST_DATABASE_NAME") or None},
    }
