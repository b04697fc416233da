"""What holds for one agent's commands: the stricter of configuration and approvals document, and every list."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.exec_policy.allowlist import AllowEntry, read_entries
from apps.firewall.engine.exec_policy.approvals_file import (
    FALLBACK,
    ApprovalSettings,
    ApprovalsFileError,
    ResolvedApprovals,
    resolve_approvals,
)
from apps.firewall.engine.exec_policy.hardened import safe_bin_trouble
from apps.firewall.engine.exec_policy.modes import (
    DEFAULT_ASK,
    DEFAULT_SECURITY,
    max_ask,
    min_security,
    read_ask,
    read_security,
)
from apps.firewall.engine.exec_policy.safe_bins import read_profiles, safe_bin_names
from apps.firewall.engine.exec_policy.tables import Tables, exec_tables
from apps.firewall.engine.exec_policy.tables.shape import SafeBin
from apps.firewall.engine.exec_settings import ExecSettings

DEFAULT: Final = "default"
DOCUMENT: Final = "execApprovals"
LONG_LIST: Final = 200
KEPT_DOCUMENTS: Final = 32
STRICTEST: Final[Mapping[str, str]] = {"security": "deny", "ask": "always", "askFallback": "deny"}


_kept: dict[tuple[int, str, str], tuple[Mapping[str, Any], ResolvedApprovals, tuple[AllowEntry, ...]]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecRules:
    """The rules of one agent, or of one call of it.

    Args:
        security: `deny`, `allowlist` or `full`.
        ask: `off`, `on-miss` or `always`.
        ask_fallback: what holds when a person was asked and nobody answered: `deny`, `allowlist` or `full`.
        allowlist: entries of the approvals document, those of `*` first.
        grants: standing answers "always" of people.
        safe_bins, safe_bin_profiles, safe_bin_folders: programs that run unasked when they only read what they are
            given, the arguments with which they do, and where their files must lie; None for the release's own.
        auto_allow_skills: programs of the agent's skills run unasked when they are called by name.
        skills: these programs, each as its name and the file that it leads to; whoever knows the disk fills it.
        strict_inline_eval: code in arguments waits for a person, whatever else allows it.
        host: where commands run; of an agent, where the configuration wants them to.
        elevated: how elevated a call is: `off`, `ask` or `full`.
        security_from, ask_from, ask_fallback_from, host_from: the setting that decided, as a path.
    """

    security: str = DEFAULT_SECURITY
    ask: str = DEFAULT_ASK
    ask_fallback: str = FALLBACK
    allowlist: tuple[AllowEntry, ...] = ()
    grants: tuple[AllowEntry, ...] = ()
    safe_bins: frozenset[str] | None = None
    safe_bin_profiles: Mapping[str, SafeBin] | None = None
    safe_bin_folders: tuple[str, ...] | None = None
    auto_allow_skills: bool = False
    skills: frozenset[tuple[str, str]] = frozenset()
    strict_inline_eval: bool = False
    dialect: str = "2026.9"
    host: str | None = None
    elevated: str = "off"
    security_from: str = DEFAULT
    ask_from: str = DEFAULT
    ask_fallback_from: str = DEFAULT
    host_from: str = DEFAULT


def exec_rules(settings: ExecSettings, *, dialect: str, grants: Iterable[AllowEntry] = ()) -> ExecRules:
    """Work out the rules of an agent.

    Where nobody configured anything, commands outside the allowlist wait for a person; `full` without asking exists
    only where somebody wrote it, whatever a release takes for granted. A word that means nothing counts as the
    strictest, and a document that cannot be read denies.
    """
    try:
        resolved, allowlist = _document(settings, dialect)
    except ApprovalsFileError:
        return ExecRules(security="deny", ask="always", dialect=dialect, security_from=DOCUMENT, ask_from=DOCUMENT)
    tables = exec_tables(dialect)
    written = {member: _written(resolved.agent, member) for member in STRICTEST}
    security, security_from = _strictest(
        [(read_security(settings.security), settings.security_from), written["security"]],
        min_security,
        DEFAULT_SECURITY,
    )
    ask, ask_from = _strictest([(read_ask(settings.ask), settings.ask_from), written["ask"]], max_ask, DEFAULT_ASK)
    fallback, fallback_from = written["askFallback"]
    return ExecRules(
        security=security,
        ask=ask,
        ask_fallback=fallback or FALLBACK,
        allowlist=allowlist,
        grants=tuple(grants),
        safe_bins=_safe_bins(settings, tables),
        safe_bin_profiles=read_profiles(settings.safe_bin_profiles, tables) if settings.safe_bin_profiles else None,
        safe_bin_folders=(*tables.trusted_safe_bin_dirs, *(settings.safe_bin_trusted_dirs or ())),
        auto_allow_skills=resolved.agent.auto_allow_skills is True,
        dialect=dialect,
        strict_inline_eval=settings.strict_inline_eval,
        host=settings.host,
        security_from=security_from,
        ask_from=ask_from,
        ask_fallback_from=fallback_from if fallback else DEFAULT,
        host_from=settings.host_from if settings.host else DEFAULT,
    )


def _document(settings: ExecSettings, dialect: str) -> tuple[ResolvedApprovals, tuple[AllowEntry, ...]]:
    """Read the document for an agent; a long list of a snapshot, which never changes, is read once.

    Raises:
        ApprovalsFileError: it cannot be read.
    """
    key = (id(settings.approvals), settings.agent_id, dialect)
    kept = _kept.get(key)
    if kept is not None and kept[0] is settings.approvals:
        return kept[1], kept[2]
    resolved = resolve_approvals(dialect_named(dialect), settings.approvals, settings.agent_id)
    entries = read_entries(list(resolved.allowlist))
    if len(entries) >= LONG_LIST:
        if len(_kept) >= KEPT_DOCUMENTS:
            _kept.clear()
        _kept[key] = (settings.approvals, resolved, entries)
    return resolved, entries


def _safe_bins(settings: ExecSettings, tables: Tables) -> frozenset[str] | None:
    """Return the entries that count, those without trouble; None where nothing is written."""
    if settings.safe_bins is None:
        return None
    profiles = settings.safe_bin_profiles or {}
    listed = safe_bin_names(settings.safe_bins, tables)
    return frozenset(name for name in listed if safe_bin_trouble(name, profiles, release=tables.release) is None)


def _written(found: ApprovalSettings, member: str) -> tuple[str | None, str]:
    """Read one word of the document and where it stands; None where nothing is written."""
    if member in found.unknown:
        return STRICTEST[member], f"{DOCUMENT}.{found.unknown[member]}"
    if member not in found.sources:
        return None, ""
    words = {"security": found.security, "ask": found.ask, "askFallback": found.ask_fallback}
    return words[member], f"{DOCUMENT}.{found.sources[member]}"


def _strictest(wanted: list[tuple[str | None, str]], stricter: Any, default: str) -> tuple[str, str]:
    chosen, place = None, DEFAULT
    for value, source in wanted:
        if value is None:
            continue
        if chosen is None or (stricter(chosen, value) == value and value != chosen):
            chosen, place = value, source
    return (default, DEFAULT) if chosen is None else (chosen, place)
