"""The exec approvals document: what its defaults, its `*` and its entry for one agent come to.

Source: conformance README, `exec_approval.jsonl`, kind `resolve_file`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.exec_policy.modes import ASK, SECURITY
from apps.firewall.engine.names import trim
from apps.firewall.errors import FirewallError

DEFAULTS: Final = "defaults"
EVERY_AGENT: Final = "*"
MAIN: Final = "main"
OLD_NAME_OF_MAIN: Final = "default"
WORDS: Final[dict[str, tuple[str, ...]]] = {"security": SECURITY, "ask": ASK, "askFallback": SECURITY}
FALLBACK: Final = "deny"

JsonObject = Mapping[str, Any]


class ApprovalsFileError(FirewallError):
    """An exec approvals document that cannot be read."""

    code = "exec_approvals_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSettings:
    """The settings of one scope of the document.

    Args:
        auto_allow_skills: as written; only true itself allows.
        sources: word -> the member that decided, below the document; none where nothing is written.
        unknown: word -> the member that holds one that means nothing, and hides those further out.
    """

    security: str
    ask: str
    ask_fallback: str
    auto_allow_skills: Any
    sources: Mapping[str, str]
    unknown: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedApprovals:
    """A document for one agent. `allowlist` holds the entries of `*`, then those of the agent, plain JSON."""

    defaults: ApprovalSettings
    agent: ApprovalSettings
    allowlist: tuple[JsonObject, ...]


def resolve_approvals(
    dialect: Dialect, document: Any, agent_id: str | None, *, fallbacks: JsonObject | None = None
) -> ResolvedApprovals:
    """Work out what a document says of one agent.

    A word that means nothing shadows what is written further out: the document's defaults hold then.

    Args:
        agent_id: compared exactly; None for a call without an agent.
        fallbacks: what holds where the defaults say nothing, with the members of the document; the release's if absent.
    Raises:
        ApprovalsFileError: the document or one of its agents is no object, or a list cannot be read.
    """
    if not isinstance(document, Mapping):
        raise ApprovalsFileError("the exec approvals document is not an object")
    _check_socket(document.get("socket"))
    written = document.get("agents") or {}
    agents = _agents(dialect, written)
    key = dialect.approvals_nobody if agent_id is None else agent_id
    own, shared = _object(agents.get(key)), _object(agents.get(EVERY_AGENT))
    raw = written if dialect.approvals_words_trimmed else agents
    levels = (
        (f"agents.{key}", _object(raw.get(key)), own),
        (f"agents.{EVERY_AGENT}", _object(raw.get(EVERY_AGENT)), shared),
    )
    outer = _defaults(dialect, _object(document.get(DEFAULTS)), fallbacks or {})
    return ResolvedApprovals(
        defaults=outer,
        agent=_for_agent(dialect, levels, outer),
        allowlist=(*_entries(shared.get("allowlist")), *_entries(own.get("allowlist"))),
    )


def _defaults(dialect: Dialect, block: JsonObject, fallbacks: JsonObject) -> ApprovalSettings:
    built_in = {
        "security": dialect.approvals_security_default,
        "ask": dialect.approvals_ask_default,
        "askFallback": FALLBACK,
    }
    found, sources, unknown = {}, {}, {}
    for member, known in WORDS.items():
        word = _word(dialect, block.get(member), known)
        given = fallbacks.get(member)
        found[member] = word or (built_in[member] if given is None else given)
        if word:
            sources[member] = f"{DEFAULTS}.{member}"
        elif block.get(member) is not None:
            unknown[member] = f"{DEFAULTS}.{member}"
    skills = _first(block.get("autoAllowSkills"), fallbacks.get("autoAllowSkills"), False)
    return _settings(dialect, found, skills, sources, unknown)


def _for_agent(
    dialect: Dialect, levels: tuple[tuple[str, JsonObject, JsonObject], ...], outer: ApprovalSettings
) -> ApprovalSettings:
    found = {"security": outer.security, "ask": outer.ask, "askFallback": outer.ask_fallback}
    sources, unknown = dict(outer.sources), dict(outer.unknown)
    for member, known in WORDS.items():
        for place, raw, block in levels:
            if raw.get(member) is None:
                continue
            word = _word(dialect, block.get(member), known)
            unknown.pop(member, None)
            if word:
                found[member], sources[member] = word, f"{place}.{member}"
            else:
                unknown[member] = f"{place}.{member}"
            break
    skills = _first(*(block.get("autoAllowSkills") for _, _, block in levels), outer.auto_allow_skills)
    return _settings(dialect, found, skills, sources, unknown)


def _settings(
    dialect: Dialect, found: JsonObject, skills: Any, sources: Mapping[str, str], unknown: Mapping[str, str]
) -> ApprovalSettings:
    return ApprovalSettings(
        security=found["security"],
        ask=found["ask"],
        ask_fallback=found["askFallback"],
        auto_allow_skills=skills if dialect.approvals_words_trimmed else _is_truthy(skills),
        sources=sources,
        unknown=unknown,
    )


def _word(dialect: Dialect, value: Any, known: tuple[str, ...]) -> str | None:
    if not isinstance(value, str):
        return None
    word = trim(value) if dialect.approvals_words_trimmed else value
    return word if word in known else None


def _agents(dialect: Dialect, written: Any) -> dict[str, Any]:
    """Read the agents: what `default` holds goes to `main`, and lists lose what are no entries."""
    agents = dict(written) if isinstance(written, Mapping) else {}
    if _is_truthy(agents.get(OLD_NAME_OF_MAIN)):
        lent, main = agents.pop(OLD_NAME_OF_MAIN), agents.get(MAIN)
        agents[MAIN] = _merged(dialect, _object(main), _object(lent)) if _is_truthy(main) else lent
    return {key: _agent(dialect, key, value) for key, value in agents.items()}


def _agent(dialect: Dialect, key: str, value: Any) -> JsonObject:
    if value is None:
        raise ApprovalsFileError(f"the agent `{key}` of the exec approvals document is null")
    block = dict(_object(value))
    block["allowlist"] = [_tidied(dialect, entry) for entry in _entries(block.get("allowlist"))]
    return block


def _merged(dialect: Dialect, main: JsonObject, lent: JsonObject) -> dict[str, Any]:
    words = ("security", "ask", "askFallback", "autoAllowSkills")
    merged = {member: _first(main.get(member), lent.get(member)) for member in words}
    kept: dict[Any, Any] = {}
    for block in (main, lent):
        if not isinstance(block.get("allowlist"), list | str | None):
            raise ApprovalsFileError("an allowlist is not a list")
    for entry in (*_listed(main.get("allowlist")), *_listed(lent.get("allowlist"))):
        name = _name_of(dialect, entry)
        if name is not None:
            kept.setdefault(name, entry)
    return {**lent, **main, **merged, "allowlist": list(kept.values())}


def _name_of(dialect: Dialect, entry: Any) -> Any:
    """Name an entry of a merged list, None for one that falls out: only objects with a pattern are compared."""
    if entry is None:
        raise ApprovalsFileError("an entry of an allowlist is null")
    pattern = _object(entry).get("pattern")
    if not isinstance(pattern, str) or not trim(pattern):
        return None
    arguments = _object(entry).get("argPattern") if dialect.approvals_entries_by_arguments else None
    return trim(pattern).lower(), trim(arguments) if isinstance(arguments, str) else ""


def _entries(value: Any) -> tuple[JsonObject, ...]:
    """Read a list of entries: a text is a pattern, what has none falls out."""
    found: list[JsonObject] = []
    for entry in _listed(value):
        if isinstance(entry, str) and trim(entry):
            found.append({"pattern": trim(entry)})
        elif isinstance(entry, Mapping):
            pattern = entry.get("pattern")
            if isinstance(pattern, str) and trim(pattern):
                found.append(entry)
    return tuple(found)


def _tidied(dialect: Dialect, entry: JsonObject) -> JsonObject:
    """Drop an id that is none, and in newer documents the text of the command that an entry once came from."""
    dropped = set() if entry.get("id") else {"id"}
    if dialect.approvals_words_trimmed and isinstance(entry.get("commandText"), str):
        dropped.add("commandText")
    return {member: value for member, value in entry.items() if member not in dropped}


def _check_socket(socket: Any) -> None:
    for member in ("path", "token"):
        value = _object(socket).get(member)
        if value is not None and not isinstance(value, str):
            raise ApprovalsFileError(f"`socket.{member}` of the exec approvals document is not a text")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _is_truthy(value: Any) -> bool:
    """Say what JavaScript says of a value."""
    return bool(value) or isinstance(value, list | dict)
