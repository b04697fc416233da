"""What agents send, read once: who calls for which agent, in what context, which tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from apps.accounts.access import Permission
from apps.accounts.errors import PermissionDeniedError
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.session_key import normalize_agent_id, parse_agent_key
from apps.firewall.runtime.sessions import held_to_parent
from apps.firewall.tools.members import unknown_member
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.http import Problem, Request
from apps.gateway.tokens import TokenGrant
from apps.registry.probing import PROBES

Details = list[dict[str, str]]
TEXT_LIMIT = 512
KEY_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, in what context."""

    agent: str
    context: CallContext


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, in what context, for which tool."""

    agent: str
    tool: str
    context: CallContext


def require(grant: TokenGrant, permission: Permission) -> None:
    """Let through a token that has the permission.

    Raises:
        PermissionDeniedError: it lacks it.
    """
    if not grant.may(permission):
        raise PermissionDeniedError(f"this needs the permission `{permission}`")


def environment_of(current: Gateway, grant: TokenGrant, body: Mapping[str, Any]) -> str:
    """Tell the environment a request is about: the token's own, the one it names, or the default one."""
    named = body.get("environment")
    if named is not None and not isinstance(named, str):
        raise Problem(422, "invalid_request", "the request has mistakes", [_mistake("environment", "must be a text")])
    if grant.environment and named not in {None, grant.environment}:
        raise Problem(403, "environment_not_allowed", "this token belongs to another environment")
    slug = grant.environment or named or current.snapshots.default
    if named == PROBES or not current.snapshots.knows(slug):
        raise Problem(422, "environment_unknown", f"no environment named `{slug}`")
    return slug


def read_asker(grant: TokenGrant, body: Any, details: Details, *, place: str = "") -> Asker | None:
    """Read `agent`, `session`, `tool` and `context`; mistakes are added to `details`.

    Raises:
        Problem: 403, the token may not speak for this agent.
    """
    if not isinstance(body, dict):
        details.append(_mistake(place, "must be an object"))
        return None
    prefix = f"{place}." if place else ""
    caller = read_caller(grant, body, details, prefix=prefix)
    tool = read_text(body, "tool", details, prefix)
    if tool is None or caller is None:
        return None
    return Asker(caller.agent, tool, caller.context)


def read_caller(grant: TokenGrant, body: Mapping[str, Any], details: Details, *, prefix: str = "") -> Caller | None:
    """Read `agent`, `session` and `context`; mistakes are added to `details`, and then there is no caller.

    Raises:
        Problem: 403, the token may not speak for this agent.
    """
    before = len(details)
    agent = read_text(body, "agent", details, prefix)
    session = read_text(body, "session", details, prefix) if body.get("session") is not None else None
    context = _context(body.get("context"), details, prefix)
    if agent is None or context is None or len(details) > before:
        return None
    agent_id = _agent(agent)
    if grant.agents and agent_id not in grant.agents:
        raise Problem(403, "agent_not_allowed", f"this token may not speak for the agent `{agent}`")
    key = session or context.session_key
    if key is not None and len(key) > TEXT_LIMIT:
        details.append(_mistake(f"{prefix}context.session_key", f"must be a text of at most {TEXT_LIMIT} characters"))
    if len(context.spawned_by or "") > TEXT_LIMIT:
        details.append(_mistake(f"{prefix}context.spawned_by", f"must be a text of at most {TEXT_LIMIT} characters"))
    for wrong, member in ((_agent_of_key(key), "session"), (context.agent_id, "context.agent_id")):
        if wrong is not None and _agent(wrong) != agent_id:
            details.append(_mistake(f"{prefix}{member}", f"names the agent `{wrong}`, the request `{agent}`"))
    if len(details) > before:
        return None
    return Caller(agent_id, context.of_caller(agent_id, key))


async def held_caller(current: Gateway, environment: str, caller: Caller) -> Caller:
    """Hold a caller to what the session that spawned its own might do, whether it says so or not.

    Calls are held to it where they are decided; this is for answers about tools that are given without one.

    Raises:
        SessionsUnavailableError: nobody can tell now.
    """
    snapshot = current.snapshots.live(environment)
    if snapshot is None or not caller.context.session_key:
        return caller
    context = await held_to_parent(current.spawns, snapshot, environment, caller.agent, caller.context)
    return caller if context is caller.context else Caller(caller.agent, context)


@lru_cache(maxsize=4096)
def _agent(text: str) -> str:
    return normalize_agent_id(text)


@lru_cache(maxsize=4096)
def _agent_of_key(key: str | None) -> str | None:
    """Tell the agent that a session key names in either release; None when it names none."""
    for dialect in DIALECTS.values():
        parsed = parse_agent_key(dialect, key)
        if parsed is not None:
            return parsed.agent_id
    return None


def _context(value: Any, details: Details, prefix: str) -> CallContext | None:
    if value is None:
        return CallContext()
    try:
        context = CallContext.from_json(value)
    except ContextError as exc:
        details.append(_mistake(f"{prefix}context.{exc.field}".rstrip("."), exc.message))
        return None
    if context.stored_session is not None:
        # it could lower the depth and lift the group's rules: only whoever keeps the sessions may state it
        details.append(_mistake(f"{prefix}context.stored_session", "is not a caller's to state"))
        return None
    return context


def read_text(body: Mapping[str, Any], name: str, details: Details, prefix: str = "") -> str | None:
    """Read a text that must be there and not blank; a mistake is added to `details`."""
    value = body.get(name)
    if isinstance(value, str) and value.strip() and len(value) <= TEXT_LIMIT:
        return value
    if value is None:
        details.append({"path": prefix + name, "code": "required", "message": f"`{prefix}{name}` is required"})
    else:
        details.append(_mistake(prefix + name, f"must be a text of 1 to {TEXT_LIMIT} characters"))
    return None


def read_key(body: Mapping[str, Any], request: Request, details: Details) -> str:
    """Read `idempotency`, or else the header `Idempotency-Key`; empty for none. A mistake is added to `details`."""
    key = body.get("idempotency", request.headers.get(b"idempotency-key", b"").decode("ascii", "replace"))
    if isinstance(key, str) and len(key) <= KEY_LIMIT and (key.isprintable() or not key):
        return key
    details.append(_mistake("idempotency", f"must be a printable text of at most {KEY_LIMIT} characters"))
    return ""


def read_run(body: Mapping[str, Any], details: Details) -> str:
    """Read `run`, the caller's name for the turn or task within its session; empty for none.

    A mistake is added to `details`.
    """
    run = body.get("run")
    if run is None or (isinstance(run, str) and len(run) <= KEY_LIMIT and run.isprintable()):
        return (run or "").strip()
    details.append(_mistake("run", f"must be a printable text of at most {KEY_LIMIT} characters"))
    return ""


def whole_number(value: Any, name: str, details: Details, *, default: int, maximum: int) -> int:
    """Read a whole number from 0 to `maximum`; a mistake is added to `details`."""
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= maximum:
        return value
    details.append(_mistake(name, f"must be a whole number from 0 to {maximum}"))
    return default


_TRUTHS = {"true": True, "false": False, "null": None}
_QUERY_READERS: Mapping[str, Callable[[str], Any]] = {
    "sender_is_owner": _TRUTHS.__getitem__,
    "sandboxed": _TRUTHS.__getitem__,
    "inherit_runtime_tools": _TRUTHS.__getitem__,
    "subagent_depth": int,
}
_MEMBERS = frozenset(each.name for each in fields(CallContext)) - {"stored_session", "provider", "model_id"}


def read_query(query: bytes, members: frozenset[str], details: Details) -> dict[str, Any]:
    """Read a query string as the body of a request: its own members, and the context's facts by their names.

    `runtime_tools` may come several times, everything else once. Mistakes are added to `details`.

    Returns:
        The members that were given, the facts in `context`.
    """
    body: dict[str, Any] = {"context": {}}
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=200)
    except ValueError:
        details.append(_mistake("", "the query is not one that can be read"))
        return body
    for name, text in pairs:
        place = body if name in members else body["context"]
        if name == "runtime_tools":
            place.setdefault(name, []).append(text)
        elif name not in members | _MEMBERS:
            details.append(unknown_member("", name, members | _MEMBERS))
        elif name in place:
            details.append(_mistake(name, "is given twice"))
        else:
            try:
                place[name] = _QUERY_READERS.get(name, str)(text)
            except (KeyError, ValueError):
                details.append(_mistake(name, "cannot be read"))
    return body


def query_number(query: bytes, name: str, *, default: int, maximum: int) -> int:
    """Read a whole number from a query string.

    Raises:
        Problem: 422, it is none or outside 0 to `maximum`.
    """
    for pair in query.split(b"&"):
        key, _, value = pair.partition(b"=")
        if key == name.encode():
            if value.isdigit() and len(value) < 10 and int(value) <= maximum:
                return int(value)
            problem = _mistake(name, f"must be a whole number from 0 to {maximum}")
            raise Problem(422, "invalid_request", "the request has mistakes", [problem])
    return default


def _mistake(path: str, rule: str) -> dict[str, str]:
    return {"path": path, "code": "invalid", "message": f"`{path}` {rule}"}
