"""Session keys: which agent a session belongs to, how deep its sub-agent is, what kind of session it is.

The group and the thread that a key names stand in `conversation_key`.
Source: conformance README, `session_key.jsonl`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold, trim
from apps.firewall.errors import FirewallError

DEFAULT_AGENT: Final = "main"
MAIN_KEY: Final = "main"
UNKNOWN: Final = "unknown"

_VALID_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_OTHER_CHARACTERS: Final = re.compile(r"[^a-z0-9_-]+")
_AGENT_ID_LIMIT: Final = 64
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_CRON_RUN: Final = re.compile(r"cron:[^:]+:run:[^:]+")
_RUN_MARK: Final = re.compile(":run:", re.IGNORECASE)
_LEGACY_CHATS: Final = (
    (re.compile(r"group:[^:]+(?::[^\n\r\u2028\u2029]*)?"), "group"),
    (re.compile(r"channel:[^:]+(?::[^\n\r\u2028\u2029]*)?"), "channel"),
    (re.compile(r"(?:whatsapp:)?[^:]+@g\.us"), "group"),
    (re.compile(r"discord:(?:[^:]+:)?guild-[^:]+:channel-[^:]+"), "channel"),
)
_DISCORD_CHAT: Final = _LEGACY_CHATS[-1:]
_CHAT_KINDS: Final = {"group": "group", "channel": "channel", "direct": "direct", "dm": "direct"}
_DIRECT: Final = ("direct", "dm")
_CHAT_PLACES: Final = 3


class SessionKeyError(FirewallError):
    """A session key does not say whose session it is."""

    code = "session_key"


class MalformedKeyError(SessionKeyError):
    """The key starts like an agent's but is none."""

    code = "malformed_key"


class AgentMissingError(SessionKeyError):
    """The key has no agent part and there is no default agent."""

    code = "no_agent_in_key"


@dataclass(frozen=True, slots=True)
class AgentKey:
    """The two parts of `agent:<agent id>:<rest>`."""

    agent_id: str
    rest: str


@dataclass(frozen=True, slots=True)
class CronRun:
    """A key without its run, and the run; both None where there are none."""

    base: str | None
    run_id: str | None


def normalize_agent_id(text: str | None) -> str:
    """Return an agent's id in normal form; blank means `main`."""
    return slug_id(text) or DEFAULT_AGENT


def slug_id(text: str | None) -> str:
    """Trim, lower-case, turn every run of other characters into `-`, cut at 64; "" when nothing is left."""
    folded = fold(text or "")
    if _VALID_ID.fullmatch(folded):
        return folded  # even with `-` at its end, which is cut off only where something had to be replaced
    return _OTHER_CHARACTERS.sub("-", folded).strip("-")[:_AGENT_ID_LIMIT]


def fold_key(key: str) -> str:
    """Lower-case a trimmed key but for the ids whose case matters: Signal groups, Matrix rooms and threads."""
    segments = trim(key).split(":")
    folded = [segment.lower() for segment in segments]
    at = 0
    while at + 2 < len(segments):
        if folded[at : at + 2] == ["signal", "group"] and segments[at + 2]:
            folded[at + 2] = trim(segments[at + 2])
            at += 2
        at += 1
    start = 2 if folded[0] == "agent" and len(folded) > 2 and folded[1] else 0
    if folded[start : start + 1] == ["matrix"] and folded[start + 1 : start + 2] in (["channel"], ["group"]):
        marks = [at for at in range(start + 3, len(folded) - 1) if folded[at] == "thread"]
        folded[start + 2 :] = segments[start + 2 :]
        if marks:
            folded[marks[-1]] = "thread"
    return ":".join(folded)


def parse_agent_key(dialect: Dialect, key: str | None) -> AgentKey | None:
    """Split `agent:<agent id>:<rest>`; None when the key has another shape."""
    return _agent_key(trim(key or ""), dialect.key_case_ignored)


@lru_cache(maxsize=256)  # one call reads the same key several times
def _agent_key(raw: str, is_case_ignored: bool) -> AgentKey | None:
    if is_case_ignored:
        parts = fold_key(raw).split(":")
    else:
        parts = [part for part in raw.split(":") if part]
    if len(parts) < 3 or parts[0] != "agent":
        return None
    agent_id = trim(parts[1])
    if not agent_id or not parts[2]:
        return None
    return AgentKey(agent_id, ":".join(parts[2:]))


def key_shape(dialect: Dialect, key: str | None) -> str:
    """Return `missing`, `agent`, `malformed_agent` or `legacy_or_alias`."""
    raw = trim(key or "")
    if not raw:
        return "missing"
    if parse_agent_key(dialect, raw):
        return "agent"
    return "malformed_agent" if raw.lower().startswith("agent:") else "legacy_or_alias"


def agent_of_key(dialect: Dialect, key: str | None, *, default: str | None = DEFAULT_AGENT) -> str:
    """Return the normal id of the agent that a session belongs to.

    Raises:
        MalformedKeyError: the key starts like an agent's but is none.
        AgentMissingError: neither the key nor `default` names an agent.
    """
    parsed = parse_agent_key(dialect, key)
    if parsed:
        return normalize_agent_id(parsed.agent_id)
    if not dialect.key_agent_strict:
        return normalize_agent_id(default)
    if key_shape(dialect, key) == "malformed_agent":
        raise MalformedKeyError(f"session key `{key}` is malformed")
    if default is None:
        raise AgentMissingError(f"session key `{key or ''}` names no agent")
    return normalize_agent_id(default)


def request_key(dialect: Dialect, key: str | None) -> str | None:
    """Return the key without its agent part; None for a blank key."""
    parsed = parse_agent_key(dialect, key)
    return parsed.rest if parsed else trim(key or "") or None


def is_subagent_key(dialect: Dialect, key: str | None) -> bool:
    """Say whether the session is a sub-agent's: by its beginning, not by a later segment."""
    return _starts(dialect, key, "subagent:")


def is_acp_key(dialect: Dialect, key: str | None) -> bool:
    """Say whether an external coding agent runs the session."""
    return _starts(dialect, key, "acp:")


def is_dashboard_key(dialect: Dialect, key: str | None) -> bool:
    """Say whether the session was begun on the Gateway's own pages, by a person or by another session."""
    return _rest(dialect, key).startswith("dashboard:")


def _starts(dialect: Dialect, key: str | None, prefix: str) -> bool:
    return fold(key or "").startswith(prefix) or _rest(dialect, key).lower().startswith(prefix)


def _rest(dialect: Dialect, key: str | None) -> str:
    parsed = parse_agent_key(dialect, key)
    return parsed.rest if parsed else ""


def is_cron_key(dialect: Dialect, key: str | None) -> bool:
    """Say whether a cron job owns the session."""
    return _rest(dialect, key).lower().startswith("cron:")


def is_cron_run_key(dialect: Dialect, key: str | None) -> bool:
    """Say whether the session is one run of a cron job."""
    rest = _rest(dialect, key)
    found = _CRON_RUN.match(rest)
    if found is None:
        return False
    return found.end() == len(rest) or (dialect.cron_run_open_ended and rest[found.end()] == ":")


def cron_run(dialect: Dialect, key: str | None) -> CronRun:
    """Split the run off the key of a cron job's run; any other key stays whole."""
    raw = trim(key or "")
    if not raw:
        return CronRun(None, None)
    if not _CRON_RUN.fullmatch(_rest(dialect, raw)):
        return CronRun(raw, None)
    mark = list(_RUN_MARK.finditer(raw))[-1]
    return CronRun(raw[: mark.start()], raw[mark.end() :])


def subagent_depth(dialect: Dialect, key: str | None) -> int:
    """Return how many sub-agents deep a session is, from its key alone."""
    raw = fold(key or "")
    if not dialect.key_leading_subagent_counts:
        return raw.count(":subagent:")
    # with a colon in front the first segment counts like any other
    return f":{_rest(dialect, raw) or raw}".count(":subagent:")


def stored_depth(dialect: Dialect, key: str | None, store: Mapping[str, Any]) -> int:
    """Return a session's depth, stored sessions taken into account.

    Args:
        store: sessions by key; of each only `spawnDepth`, `spawnedBy` and `sessionId` are read.
    """
    depth = _depth_from_store(dialect, trim(key or ""), store, set())
    return subagent_depth(dialect, key) if depth is None else depth


def _depth_from_store(dialect: Dialect, key: str, store: Mapping[str, Any], seen: set[str]) -> int | None:
    """Climb from parent to parent without recursion: a store may hold a chain of any length, or a circle."""
    steps = 0
    while True:
        entry = None if not key or key in seen else _stored_session(key, store)
        if entry is None:
            return None if steps == 0 else subagent_depth(dialect, key) + steps
        seen.add(key)
        depth = whole_depth(entry.get("spawnDepth"))
        if depth is not None:
            return depth + steps
        parent = entry.get("spawnedBy")
        parent = trim(parent) if isinstance(parent, str) else ""
        if not parent:
            return None if steps == 0 else subagent_depth(dialect, key) + steps
        key = parent
        steps += 1


def _stored_session(key: str, store: Mapping[str, Any]) -> Mapping[str, Any] | None:
    entry = store.get(key)
    if isinstance(entry, Mapping):
        return entry
    for other in store.values():
        if isinstance(other, Mapping) and isinstance(other.get("sessionId"), str) and trim(other["sessionId"]) == key:
            return other
    return None


def whole_depth(value: object) -> int | None:
    """Read a stored depth: a whole number from 0 on, also as text; None for anything else."""
    if isinstance(value, str) and _NUMBER.fullmatch(trim(value)):
        value = float(trim(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value) if float(value).is_integer() else None


def store_key(dialect: Dialect, key: str | None, *, agent_id: str, main_key: str | None = None) -> str:
    """Return the full key under which an agent's session is stored."""
    raw = trim(key or "")
    agent = normalize_agent_id(agent_id)
    if (raw.lower() if dialect.key_case_ignored else raw) in ("", MAIN_KEY):
        return f"agent:{agent}:{fold(main_key or '') or MAIN_KEY}"
    parsed = parse_agent_key(dialect, raw) if dialect.key_case_ignored else None
    if parsed:
        return f"agent:{parsed.agent_id}:{parsed.rest}"
    folded = fold_key(raw) if dialect.key_case_ignored else raw.lower()
    return folded if folded.startswith("agent:") else f"agent:{agent}:{folded}"


def chat_type(dialect: Dialect, key: str | None) -> str:
    """Return `group`, `channel`, `direct` or `unknown`."""
    folded = fold(key or "")
    scoped = _rest(dialect, folded) or folded
    if dialect.key_chat_type_by_place:
        legacy = _chat_by_legacy(scoped, _LEGACY_CHATS)
        return _chat_by_place(scoped.split(":"), or_else=legacy) or legacy or UNKNOWN
    segments = scoped.split(":")
    for kind, chat in _CHAT_KINDS.items():
        if kind in segments:
            return chat
    return _chat_by_legacy(scoped, _DISCORD_CHAT) or UNKNOWN


def _chat_by_place(segments: list[str], *, or_else: str | None) -> str | None:
    """Find `dm:<id>`, `<channel>:<kind>:<id>` or `<channel>:<account>:<kind>:<id>`, if nothing else fits.

    Args:
        or_else: what an older form of the key says, which is one more reading.
    """
    if segments[0] == "agent":
        return None
    readings = [
        _CHAT_KINDS[segments[place]]
        for place in range(min(_CHAT_PLACES, len(segments) - 1))
        if segments[place] in (_CHAT_KINDS if place else _DIRECT) and all(segments[: place + 2])
    ]
    return readings[0] if len(readings) == 1 and or_else is None else None


def _chat_by_legacy(scoped: str, patterns: tuple[tuple[re.Pattern[str], str], ...]) -> str | None:
    return next((chat for pattern, chat in patterns if pattern.fullmatch(scoped)), None)
