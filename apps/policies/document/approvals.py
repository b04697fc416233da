"""The exec approvals document: tree -> rows. Unknown words are mistakes here, for OpenClaw drops them silently."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.session_key import DEFAULT_AGENT, normalize_agent_id
from apps.policies.document import members as m
from apps.policies.document.findings import Findings, Path
from apps.policies.document.rows import Row, kept_template
from apps.policies.document.shapes import did_you_mean, mapping, suggestion, wrong_type
from apps.policies.document.unread import NICKNAMES
from apps.policies.models import AllowlistEntry, ExecApprovals, ExecApprovalsAgent

VERSION = 1
WORDS: Final = ("security", "ask", "askFallback", "autoAllowSkills")
DOCUMENT_KEYS: Final = ("version", "socket", "defaults", "agents")
AGENT_KEYS: Final = (*WORDS, "allowlist", "mcpTools")
ENTRY_KEYS: Final = (
    *("id", "pattern", "argPattern", "source", "addedAt", "commandText"),
    *("lastUsedAt", "lastUsedCommand", "lastResolvedPath"),
)
"""What OpenClaw reads at each level; anything else is kept, and means nothing."""
EVERY_AGENT: Final = "*"
OLD_DEFAULT: Final = "default"
"""An entry that lends the agent `main` its list."""


def unread_keys(tree: Any, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Find the keys of an object that OpenClaw does not read, each with what it says to people."""
    listed = tuple(known)
    for key in tree if isinstance(tree, dict) else ():
        if NICKNAMES.get(key.lower(), key) == "deny" and key not in listed:
            message = _(
                "OpenClaw has no list of denied commands: `%(key)s` is kept but has no effect; a command that no "
                "entry of `allowlist` admits is asked about or refused"
            )
            yield key, message % {"key": key}
        elif key not in listed:
            meant = suggestion(key, listed)
            hint = _(", did you mean `%(close)s`?") % {"close": meant} if meant else ""
            yield (
                key,
                _("OpenClaw does not read `%(key)s` here: it is kept, and means nothing%(hint)s")
                % {
                    "key": key,
                    "hint": hint,
                },
            )


def _note_unread(tree: dict[str, Any], findings: Findings) -> None:
    agents = tree.get("agents")
    places: list[tuple[Path, Any, tuple[str, ...]]] = [
        ((), tree, DOCUMENT_KEYS),
        (("defaults",), tree.get("defaults"), WORDS),
    ]
    for name, agent in agents.items() if isinstance(agents, dict) else ():
        places.append((("agents", name), agent, AGENT_KEYS))
        entries = agent.get("allowlist") if isinstance(agent, dict) else None
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            places.append((("agents", name, "allowlist", position), entry, ENTRY_KEYS))
    for path, level, known in places:
        for key, message in unread_keys(level, known):
            findings.warning((*path, key), "unread_key", message)
    if not agents and "agents" not in {suggestion(key, DOCUMENT_KEYS) for key in tree if key not in DOCUMENT_KEYS}:
        findings.warning((), "no_agents", _("the document has no `agents`: no list in it admits a command"))


def note_unknown_agents(rows: Iterable[Row], agents: Collection[str], findings: Findings) -> None:
    """Name the agents of the document that are nobody.

    Args:
        agents: ids of the agents that there are.
    """
    for row in rows:
        if row.model is ExecApprovalsAgent:
            message = unknown_agent(row.values["key"], agents)
            if message:
                findings.warning(row.path, "unknown_agent", message)


def unknown_agent(key: str, agents: Collection[str]) -> str:
    """Say that nobody has the id of an entry; empty where somebody has, or it stands for several.

    A file that lists no agents has the one agent that OpenClaw takes then.
    """
    known = {normalize_agent_id(agent) for agent in agents} or {DEFAULT_AGENT}
    if key in (EVERY_AGENT, OLD_DEFAULT) or normalize_agent_id(key) in known:
        return ""
    hint = did_you_mean(normalize_agent_id(key), sorted(known))
    return _("no agent has the id `%(key)s`%(hint)s") % {"key": key, "hint": hint}


def parse_approvals(tree: dict[str, Any], findings: Findings) -> list[Row]:
    """Take an exec approvals document apart; the tree is used up.

    Source: integration notes, "Exec approvals document".
    """
    _note_unread(tree, findings)
    if tree.get("version", VERSION) != VERSION:
        findings.error(("version",), "unknown_version", _("must be %(version)s") % {"version": VERSION})
    row = Row(ExecApprovals, (), (), m.take(tree, m.APPROVALS, (), findings))
    row.values["position"] = 0
    rows = [row]
    agents = m.take_map(tree, ("agents",), (), findings)
    for position, (key, agent) in enumerate(agents.items()):
        path: Path = ("agents", key)
        if not key.strip() or len(key) > 128:
            findings.error(path, "blank_key", _("an agent's id must have 1 to 128 characters"))
        elif mapping(agent, path, findings):
            rows += _agent(key, agent, position, findings)
    row.values["extra"] = kept_template(tree, m.APPROVALS, row.values)
    return rows


def _agent(key: str, tree: dict[str, Any], position: int, findings: Findings) -> list[Row]:
    path: Path = ("agents", key)
    row = Row(ExecApprovalsAgent, (key,), path, m.take(tree, m.APPROVAL_WORDS, path, findings))
    row.values |= {"position": position, "key": key}
    rows = [row, *_allowlist(key, tree, path, findings)]
    row.values["extra"] = kept_template(tree, m.APPROVAL_WORDS, row.values)
    return rows


def _allowlist(agent: str, tree: dict[str, Any], path: Path, findings: Findings) -> list[Row]:
    listed = tree.get("allowlist")
    if "allowlist" not in tree or listed == []:
        return []
    tree["allowlist"] = None
    if not isinstance(listed, list):
        wrong_type(listed, _("a list of entries"), (*path, "allowlist"), findings)
        return []
    rows = []
    for position, entry in enumerate(listed):
        place = (*path, "allowlist", position)
        if not mapping(entry, place, findings):
            continue
        if "pattern" not in entry:
            findings.error(place, "missing_key", _("an entry needs a `pattern`"))
        elif entry["pattern"] == "":
            findings.error((*place, "pattern"), "blank_pattern", _("a pattern is empty"))
        row = Row(AllowlistEntry, ((agent,), position), place, m.take(entry, m.ALLOWLIST, place, findings))
        row.values["position"] = position
        row.refs = {"approvals_agent": (agent,)}
        row.values["extra"] = kept_template(entry, m.ALLOWLIST, row.values)
        rows.append(row)
    return rows
