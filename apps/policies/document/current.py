"""Old spellings -> the current form of the environment's release; each step is named in a finding."""

from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.session_key import DEFAULT_AGENT
from apps.policies.document.findings import Findings, Path
from apps.policies.document.members import NOT_CHANNELS
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
        marked = _drop_default_markers(agents, findings)
        if marked is not None and len(agents["entries"]) > 1:
            _name_default_agent(tree, agents, marked, findings)
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


def _drop_default_markers(agents: dict[str, Any], findings: Findings) -> str | None:
    """Take the markers away, and return the first agent that had one."""
    entries, marked = agents.get("entries"), None
    for key, agent in entries.items() if isinstance(entries, dict) else ():
        if isinstance(agent, dict) and "default" in agent:
            marker = agent.pop("default")
            path = ("agents", "entries", key, "default")
            if not isinstance(marker, bool):
                wrong_type(marker, _("true or false"), path, findings)
            findings.info(path, "retired_default_marker", _("default markers are dropped: calls name their agent"))
            marked = key if marker is True and marked is None else marked
    return marked


def _name_default_agent(tree: dict[str, Any], agents: dict[str, Any], key: str, findings: Findings) -> None:
    """Say where the release looks for it what a default marker said: who has heartbeats, the system, and talk.

    Source: the shipped release 2026.9.6, its migration of a list of agents with a marker.
    """
    defaults, talk = agents.setdefault("defaults", {}), tree.setdefault("talk", {})
    if isinstance(defaults, dict):
        entries = [each for each in agents["entries"].values() if isinstance(each, dict)]
        if "heartbeat" not in defaults and not any(each.get("heartbeat") for each in entries):
            defaults["heartbeat"] = {"agentId": key}
        for name in ("systemAgent", *(() if key == DEFAULT_AGENT else ("authInheritance",))):
            holder = defaults.setdefault(name, {})
            if isinstance(holder, dict):
                holder.setdefault("agentId", key)
    if isinstance(talk, dict):
        talk.setdefault("agentId", key)
    channels = _unbound_channels(tree)
    if channels:
        tree["bindings"] = [
            *tree.get("bindings", ()),
            *({"agentId": key, "match": {"channel": name, "accountId": "*"}} for name in channels),
        ]
    message = _("`%(agent)s` stays the agent for heartbeats, the system, talk and channels that name no other")
    findings.info(("agents", "entries", key), "default_agent_named", message % {"agent": key})


def _is_of_whole_channel(binding: Any) -> bool:
    match = binding.get("match") if isinstance(binding, dict) and binding.get("type") != "acp" else None
    if not isinstance(match, dict) or match.get("accountId") != "*":
        return False
    return not any(match.get(name) for name in ("peer", "guildId", "teamId", "roles"))


def _unbound_channels(tree: dict[str, Any]) -> list[str]:
    """Name the channels that are in use and have no binding of their own."""
    channels, bindings = tree.get("channels"), tree.get("bindings", [])
    if not isinstance(channels, dict) or not isinstance(bindings, list):
        return []
    bound = {each["match"].get("channel") for each in bindings if _is_of_whole_channel(each)}
    used = (
        name
        for name, channel in channels.items()
        if name not in NOT_CHANNELS and (not isinstance(channel, dict) or channel.get("enabled") is not False)
    )
    return sorted(name for name in used if name not in bound)


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
