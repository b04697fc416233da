"""What is kept as it is, yet checked: words of `openclaw.json` that OpenClaw would refuse, or misread."""

from collections.abc import Iterator
from typing import Any

from apps.policies.document.findings import Findings, Path
from apps.policies.document.shapes import Shape, flag, mapping, mapping_of, names, senders, word
from apps.policies.document.tool_search import tool_search

_ANY = "*"

CHECKED: tuple[tuple[tuple[str, ...], Shape], ...] = (
    (("agents", "defaults", "sandbox", "mode"), word("all", "non-main", "off")),
    (("agents", "defaults", "sandbox", "scope"), word("agent", "session", "shared")),
    (("agents", "defaults", "sandbox", "workspaceAccess"), word("none", "ro", "rw")),
    (("agents", "entries", _ANY, "sandbox", "mode"), word("all", "non-main", "off")),
    (("agents", "entries", _ANY, "sandbox", "scope"), word("agent", "session", "shared")),
    (("agents", "entries", _ANY, "sandbox", "workspaceAccess"), word("none", "ro", "rw")),
    (("tools", "loopDetection", "enabled"), flag),
    (("tools", "toolSearch"), tool_search),
    (("tools", "sessions", "visibility"), word("self", "tree", "agent", "all")),
    (("tools", "agentToAgent", "enabled"), flag),
    (("tools", "agentToAgent", "allow"), names),
    (("tools", "message", "actions", "allow"), names),
    (("channels", _ANY, "groupPolicy"), word("open", "disabled", "allowlist")),
    (("channels", _ANY, "dmPolicy"), word("pairing", "allowlist", "open", "disabled")),
    (("channels", _ANY, "allowFrom"), senders),
    (("channels", _ANY, "groupAllowFrom"), senders),
    (("commands", "allowFrom"), mapping_of(senders)),
    (("approvals", "exec", "mode"), word("session", "targets", "both")),
    (("approvals", "plugin", "mode"), word("session", "targets", "both")),
    (("approvals", "exec", "agentFilter"), names),
    (("approvals", "exec", "sessionFilter"), names),
    (("gateway", "tools", "allow"), names),
    (("gateway", "tools", "deny"), names),
    (("plugins", "enabled"), flag),
    (("plugins", "allow"), names),
    (("plugins", "deny"), names),
    (("plugins", "entries"), mapping_of(mapping)),
    (("mcp", "servers"), mapping_of(mapping)),
    (("models", "providers"), mapping_of(mapping)),
    (("logging", "audit", "messages"), word("off", "direct", "all")),
)


def check_verbatim(tree: dict[str, Any], findings: Findings) -> None:
    """Check what no record models but OpenClaw understands."""
    for pattern, shape in CHECKED:
        for value, path in _places(tree, pattern, ()):
            shape(value, path, findings)


def _places(value: Any, pattern: tuple[str, ...], path: Path) -> Iterator[tuple[Any, Path]]:
    if not pattern:
        yield value, path
    elif isinstance(value, dict):
        step, rest = pattern[0], pattern[1:]
        keys = list(value) if step == _ANY else [step] if step in value else []
        for key in keys:
            yield from _places(value[key], rest, (*path, key))
