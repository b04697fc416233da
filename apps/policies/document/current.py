"""Old spellings -> the current form of the environment's release; each step is named in a finding."""

from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.document.findings import Findings, Path
from apps.policies.document.shapes import kind_of, wrong_type

MODE_OF_PAIR = {
    ("deny", "off"): "deny",
    ("allowlist", "off"): "allowlist",
    ("allowlist", "on-miss"): "ask",
    ("full", "off"): "full",
}
"""What `security` and `ask` together are called now; other pairs have no mode."""


def to_current(tree: dict[str, Any], dialect: str, findings: Findings) -> None:
    """Bring a document into the current form, in place.

    Every release gets agents by id (`agents.entries`), the form in which records are read. What 2026.9 has retired
    beside (`default` markers, `security` with `ask`) is changed only for it, for 2026.2 knows nothing else.
    Source: integration notes, "Import / export of openclaw.json".
    """
    _note_includes(tree, (), findings)
    agents = tree.get("agents")
    if isinstance(agents, dict):
        _list_to_entries(agents, findings)
    if not DIALECTS[dialect].agent_entries:
        return
    if isinstance(agents, dict):
        _drop_default_markers(agents, findings)
    for holder, path in _exec_holders(tree):
        _pair_to_mode(holder, path, findings)


def _list_to_entries(agents: dict[str, Any], findings: Findings) -> None:
    if "list" not in agents:
        return
    listed = agents["list"]
    if not isinstance(listed, list):
        wrong_type(listed, _("a list of agents"), ("agents", "list"), findings)
        del agents["list"]
        return
    if "entries" in agents:
        findings.error(
            ("agents", "list"), "both_agent_forms", _("`agents.entries` and `agents.list` exclude each other")
        )
        del agents["list"]
        return
    entries: dict[str, Any] = {}
    for index, agent in enumerate(listed):
        _add_entry(entries, agent, ("agents", "list", index), findings)
    several = len(entries) > 1
    renamed = {"list": "entries"}
    members = {renamed.get(key, key): entries if key == "list" else value for key, value in agents.items()}
    agents.clear()
    if several:
        agents["ownership"] = "explicit"
    agents.update(members)
    findings.info(("agents", "list"), "retired_agent_list", _("`agents.list` becomes `agents.entries`"))


def _add_entry(entries: dict[str, Any], agent: Any, path: Path, findings: Findings) -> None:
    if not isinstance(agent, dict):
        wrong_type(agent, _("an object"), path, findings)
        return
    key = agent.get("id")
    if "id" not in agent:
        findings.error(path, "missing_key", _("an agent needs an `id`"))
    elif not isinstance(key, str):
        wrong_type(key, _("a text"), (*path, "id"), findings)
    elif not key.strip():
        findings.error((*path, "id"), "blank_key", _("an agent's id is blank"))
    elif key in entries:
        findings.error((*path, "id"), "duplicate_key", _("the agent `%(key)s` stands in the list twice") % {"key": key})
    else:
        findings.aliases[("agents", "entries", key)] = path
        entries[key] = {name: value for name, value in agent.items() if name != "id"}


def _drop_default_markers(agents: dict[str, Any], findings: Findings) -> None:
    entries = agents.get("entries")
    for key, agent in entries.items() if isinstance(entries, dict) else ():
        if isinstance(agent, dict) and "default" in agent:
            marker = agent.pop("default")
            path = ("agents", "entries", key, "default")
            if not isinstance(marker, bool):
                wrong_type(marker, _("true or false"), path, findings)
            findings.info(path, "retired_default_marker", _("default markers are dropped: calls name their agent"))


def _exec_holders(tree: dict[str, Any]) -> list[tuple[dict[str, Any], Path]]:
    """Return every place with a `tools.exec` object of its own."""
    places: list[tuple[Any, Path]] = [(tree.get("tools"), ("tools",))]
    agents = tree.get("agents")
    entries = agents.get("entries") if isinstance(agents, dict) else None
    for key, agent in entries.items() if isinstance(entries, dict) else ():
        if isinstance(agent, dict):
            places.append((agent.get("tools"), ("agents", "entries", key, "tools")))
    return [
        (tools["exec"], (*path, "exec"))
        for tools, path in places
        if isinstance(tools, dict) and isinstance(tools.get("exec"), dict)
    ]


def _pair_to_mode(settings: dict[str, Any], path: Path, findings: Findings) -> None:
    """Write a full pair as its mode; half a pair inherits the other half and has no mode."""
    security, ask = settings.get("security"), settings.get("ask")
    if "mode" in settings or not isinstance(security, str) or not isinstance(ask, str):
        return
    mode = MODE_OF_PAIR.get((security, ask))
    if mode is None:
        return
    members = {
        "mode" if key == "security" else key: mode if key == "security" else value
        for key, value in settings.items()
        if key != "ask"
    }
    settings.clear()
    settings.update(members)
    message = _("`security: %(security)s` with `ask: %(ask)s` becomes `mode: %(mode)s`") % {
        "security": security,
        "ask": ask,
        "mode": mode,
    }
    findings.info((*path, "security"), "retired_exec_pair", message)


def _note_includes(value: Any, path: Path, findings: Findings) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            _note_includes(item, (*path, index), findings)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "$include":
                _note_include(item, (*path, key), findings)
            else:
                _note_includes(item, (*path, key), findings)


def _note_include(value: Any, path: Path, findings: Findings) -> None:
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) for name in names):
        findings.error(
            path, "wrong_type", _("must be a file name or a list of them, not %(kind)s") % {"kind": kind_of(value)}
        )
        return
    shown = ", ".join(f"`{name}`" for name in names)
    findings.warning(
        path,
        "include_not_read",
        _("what %(shown)s says is not part of the draft: import the merged file") % {"shown": shown},
    )
