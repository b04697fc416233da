"""What a request says about running later, and about a caller that goes away."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.runtime.call import Deferral
from apps.firewall.tools.connector import ConnectorError
from apps.firewall.tools.signing import SHORTEST_KEY
from apps.gateway.queue.callbacks import check_callback
from apps.gateway.runtime_api.reading import Details

MODES = ("sync", "async")
ON_DISCONNECT = {"cancel": True, "continue": False}
CALLBACK = frozenset({"url", "secret"})
SECRET_LIMIT = 512


def read_deferral(body: Mapping[str, Any], details: Details) -> Deferral | None:
    """Read `mode` and `callback`; None for a call that runs at once. Mistakes are added to `details`."""
    mode, callback = body.get("mode", "sync"), body.get("callback")
    if mode not in MODES:
        details.append(_mistake("mode", "must be `sync` or `async`"))
        return None
    if mode == "sync":
        if callback is not None:
            details.append(_mistake("callback", "needs `mode` to be `async`"))
        return None
    return Deferral() if callback is None else _callback(callback, details)


def read_disconnect(body: Mapping[str, Any], details: Details, *, default: bool) -> bool:
    """Read `on_disconnect`: whether the call ends when its caller goes away before it was answered."""
    wanted = body.get("on_disconnect")
    if wanted is None:
        return default
    if not isinstance(wanted, str) or wanted not in ON_DISCONNECT:
        details.append(_mistake("on_disconnect", "must be `cancel` or `continue`"))
        return default
    if ON_DISCONNECT[wanted] and body.get("mode") == "async":
        details.append(_mistake("on_disconnect", "must be `continue` for a call of mode `async`"))
    return ON_DISCONNECT[wanted]


def _callback(callback: Any, details: Details) -> Deferral:
    if not isinstance(callback, dict) or callback.keys() - CALLBACK or not isinstance(callback.get("url"), str):
        details.append(_mistake("callback", "must be an object with `url`, and `secret` if wanted"))
        return Deferral()
    secret = callback.get("secret", "")
    if not isinstance(secret, str) or (secret and not SHORTEST_KEY <= len(secret) <= SECRET_LIMIT):
        details.append(_mistake("callback.secret", f"must be a text of {SHORTEST_KEY} to {SECRET_LIMIT} characters"))
        return Deferral()
    deferral = Deferral(callback_url=callback["url"], callback_secret=secret)
    try:
        check_callback(deferral)
    except ConnectorError as exc:
        details.append({"path": "callback.url", "code": exc.code, "message": exc.message})
    return deferral


def _mistake(path: str, rule: str) -> dict[str, str]:
    return {"path": path, "code": "invalid", "message": f"`{path}` {rule}"}
