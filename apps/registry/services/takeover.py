"""What a look brought home becomes rows: new tools, changed ones in quarantine, gone ones unregistered.

Nothing that was accepted changes by itself: a found definition that differs from the accepted one waits as a drift.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Max

from apps.audit.chain import storable
from apps.firewall.tools.definition_json import NAME, definition_problems
from apps.firewall.tools.discovery.found import Found, Look
from apps.firewall.tools.executors import executor_json
from apps.firewall.tools.remote_json import plain_text
from apps.registry.definitions import Pinned, as_strict, definition_fields, read_pinned, tool_pinned
from apps.registry.findings import RUNS_ELSEWHERE, error_findings, findings_text
from apps.registry.lifecycle import move_of
from apps.registry.models import (
    DefinitionDrift,
    DiscoveryRun,
    DiscoverySource,
    DriftState,
    OnNew,
    Plugin,
    SourceKind,
    Tool,
    ToolCode,
    ToolSource,
    ToolState,
)
from apps.registry.services.changing import write_fields
from apps.registry.services.lists import GONE, is_policy_word, name_problem
from apps.registry.services.sources import SOURCE_GONE

CHANGED: Final = "its definition has changed: an admin has to accept or dismiss the change"
WAITS: Final = "waits for an admin"
RESTORABLE: Final = frozenset({GONE, SOURCE_GONE})
"""Why a tool is unregistered that comes back when its source brings it again; what a person took away stays away."""

ENDING: Final = "-tools"
MESSAGE_LETTERS: Final = 1000
FACT_LETTERS: Final = 4000

MCP_KINDS: Final = frozenset({SourceKind.MCP_STDIO, SourceKind.MCP_HTTP})
BUILT_IN: Final = frozenset(kind for kind in SourceKind if kind.startswith("own_"))
NOT_OFFERED_YET: Final = frozenset({ToolState.REGISTERED, ToolState.INITIALISED, ToolState.UNREGISTERED})


@dataclass(frozen=True, slots=True)
class Drifted:
    """A tool that its source has changed."""

    tool: Tool
    drift: DefinitionDrift


@dataclass(slots=True)
class Takeover:
    """One look on its way into the rows; the caller holds the transaction and the source's row."""

    source: DiscoverySource
    run: DiscoveryRun
    at: datetime
    by_name: dict[str, Tool] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)
    pending: dict[UUID, DefinitionDrift] = field(default_factory=dict)
    plugins: dict[str, Plugin] = field(default_factory=dict)
    own_plugins: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    new: list[Tool] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    drifted: list[Drifted] = field(default_factory=list)
    changed_rows: int = 0
    _next_position: int = 0

    def take(self, look: Look) -> None:
        """Write everything that was found, and what is gone."""
        self._read_rows()
        for found in look.found:
            self._take_one(found)
        Tool.objects.bulk_create(self.new)
        self._unregister(self._kept_by_broken_keys(look.found))

    def _read_rows(self) -> None:
        environment = self.source.environment
        rows = Tool.objects.select_for_update(of=("self",)).select_related("plugin").filter(environment=environment)
        self.by_name = {tool.name.lower(): tool for tool in rows}
        self.foreign = {name for name, tool in self.by_name.items() if not self._may_take(tool)}
        waiting = DefinitionDrift.objects.select_for_update(of=("self",)).filter(
            tool__environment=environment, state=DriftState.PENDING
        )
        self.pending = {drift.tool_id: drift for drift in waiting}
        last = Tool.objects.filter(environment=environment).aggregate(last=Max("position"))["last"]
        self._next_position = 0 if last is None else last + 1
        ours = (tool for tool in self.by_name.values() if tool.discovery_source_id == self.source.pk and tool.plugin)
        self.own_plugins = {tool.plugin.key for tool in ours if tool.plugin is not None}
        self.plugins = {plugin.key.lower(): plugin for plugin in Plugin.objects.filter(environment=environment)}

    def _take_one(self, found: Found) -> None:
        broken = self._broken(found)
        definition = found.definition
        if _is_disabled(found):
            self._note(found, "disabled", broken or {})
            return
        if definition is None:
            self._note(found, "broken", broken or _why("discover", "no_definition", "it has no definition"))
            return
        name = definition.name.lower()
        if broken is not None and broken["stage"] in {"discover", "verify"}:
            self._note(found, "broken", broken)
            if name in self.by_name and self._is_ours(self.by_name[name]):
                self.seen.add(name)  # it is still there, and goes on as it was accepted
            return
        self.seen.add(name)
        tool = self.by_name.get(name)
        if broken is None and (tool is None or tool.state in NOT_OFFERED_YET):
            broken = self._errors(found)
        pinned = self._pinned(found)
        self._keep_code(pinned, found)
        if tool is None or (tool.state == ToolState.UNREGISTERED and not self._is_ours(tool)):
            self._add(found, pinned, tool, broken)
        else:
            outcome = self._compare(tool, pinned, broken)
            self._note(found, "broken" if broken else outcome[0], broken or {"code": outcome[1]}, pinned.digest)

    def _broken(self, found: Found) -> dict[str, str] | None:
        """Say what keeps a found tool from being ready."""
        if found.failure is not None:
            return _why(found.failure.stage, found.failure.code, found.failure.message)
        definition = found.definition
        if definition is None:
            return None
        problems = definition_problems(definition)
        if definition.name.lower() in self.seen:
            return _why("verify", "name_twice", f"the source brings `{definition.name}` twice")
        problem = name_problem(self.source.environment, definition.name, taken=self.foreign)
        if problem is not None:
            return _why("verify", f"name_{problem['code']}", problem["message"])
        if problems:
            return _why("verify", problems[0]["code"], f"{problems[0]['path']}: {problems[0]['message']}")
        if self._plugin_id_is_refused(found):
            return _why("verify", "plugin_id_refused", f"`{found.plugin[:128]}` cannot be the id of a plugin")
        if self._plugin_is_anothers(found):
            return _why("verify", "plugin_taken", f"the plugin `{self._plugin_key(found)}` belongs to another source")
        if found.executor is None and self.source.kind not in RUNS_ELSEWHERE:
            return _why("load", "no_executor", "nothing here can run it")
        return None

    def _errors(self, found: Found) -> dict[str, str] | None:
        """Say what keeps a tool that is not offered yet from being so: how it is written."""
        if found.definition is None or self.source.kind in RUNS_ELSEWHERE:
            return None
        errors = error_findings(found.definition.name, found.definition)
        return _why("initialise", "lint_errors", findings_text(errors)) if errors else None

    def _may_take(self, tool: Tool) -> bool:
        return self._is_ours(tool) or (tool.state == ToolState.UNREGISTERED and tool.source != ToolSource.CORE)

    def _is_ours(self, tool: Tool) -> bool:
        """A row of this source, or one that was imported by hand under its name before."""
        if tool.discovery_source_id is not None:
            return tool.discovery_source_id == self.source.pk
        if self.source.kind in MCP_KINDS:
            return tool.source == ToolSource.MCP and tool.server_name == self.source.key
        return tool.source == ToolSource.PLUGIN and tool.plugin is not None and tool.plugin.key == self.source.key

    def _plugin_key(self, found: Found) -> str:
        """Name the plugin of a tool: the one that its source says, else the source by its key.

        A key by which policies mean something else, such as `browser`, gets an ending; a plugin that is there keeps its
        id, whatever words a release brings.
        """
        key = self.source.key
        if self.source.kind in MCP_KINDS or found.plugin:
            return found.plugin if self.source.kind not in MCP_KINDS else ""
        other = f"{key}{ENDING}"
        if other in self.own_plugins:
            return other
        is_word = key.lower() not in self.plugins and is_policy_word(self.source.environment, key)
        return other if is_word else key

    def _plugin_id_is_refused(self, found: Found) -> bool:
        """Policies name plugins by their ids, and such an id would change what they say of other tools."""
        plugin = self._plugin_key(found)
        if not plugin or plugin.lower() in self.plugins:
            return False
        namesake = self.by_name.get(plugin.lower())
        is_foreign = namesake is not None and namesake.state != ToolState.UNREGISTERED and not self._is_ours(namesake)
        return is_foreign or not NAME.fullmatch(plugin) or is_policy_word(self.source.environment, plugin)

    def _plugin_is_anothers(self, found: Found) -> bool:
        key = self._plugin_key(found)
        plugin = self.plugins.get(key.lower()) if key != self.source.key else None
        return plugin is not None and any(
            tool.plugin_id == plugin.pk and tool.state != ToolState.UNREGISTERED and not self._is_ours(tool)
            for tool in self.by_name.values()
        )

    def _pinned(self, found: Found) -> Pinned:
        assert found.definition is not None  # noqa: S101 - asked before
        return Pinned(
            definition=found.definition,
            executor={} if found.executor is None else executor_json(found.executor),
            plugin=self._plugin_key(found),
            is_optional=found.is_optional,
        )

    def _keep_code(self, pinned: Pinned, found: Found) -> None:
        """Keep the text of code that may be accepted, so that a later change can be shown line by line."""
        digest = pinned.executor.get("code")
        if digest:
            ToolCode.objects.get_or_create(digest=digest, defaults={"files": storable(dict(found.code))})

    def _columns(self, pinned: Pinned, known: Tool | None = None) -> dict[str, Any]:
        definition = pinned.definition
        if known is not None:
            definition = read_pinned(as_strict(pinned.to_json(), known)).definition
        return definition_fields(definition) | {
            "executor": dict(pinned.executor),
            "is_optional": pinned.is_optional,
            "digest": pinned.digest,
            "discovery_source_id": self.source.pk,
            **self._origin(pinned),
        }

    def _origin(self, pinned: Pinned) -> dict[str, Any]:
        if self.source.kind in MCP_KINDS:
            return {"source": ToolSource.MCP, "server_name": self.source.key, "plugin_id": None}
        plugin = self.plugins.get(pinned.plugin.lower())
        if plugin is None:
            plugin = Plugin.objects.create(
                environment=self.source.environment, key=pinned.plugin, name=self.source.name or pinned.plugin
            )
            self.plugins[pinned.plugin.lower()] = plugin
        return {"source": ToolSource.PLUGIN, "server_name": "", "plugin_id": plugin.pk}

    def _first_state(self, broken: Mapping[str, str] | None) -> dict[str, str]:
        if broken is not None:
            return {"state": ToolState.REGISTERED, "state_reason": broken["message"][:500]}
        if self.source.on_new == OnNew.REVIEW:
            return {"state": ToolState.INITIALISED, "state_reason": WAITS}
        return {"state": ToolState.ACTIVE, "state_reason": ""}

    def _add(self, found: Found, pinned: Pinned, gone: Tool | None, broken: dict[str, str] | None) -> None:
        fields = self._columns(pinned) | self._first_state(broken)
        if gone is not None:  # another source had this name once
            if broken is None and gone.state_reason not in RESTORABLE:  # what a person took away waits for a person
                fields |= {"state": ToolState.INITIALISED, "state_reason": WAITS}
            self.changed_rows += write_fields(gone, fields)
        else:
            self.new.append(Tool(environment=self.source.environment, position=self._next_position, **fields))
            self.by_name[pinned.definition.name.lower()] = self.new[-1]
            self._next_position += 1
        self._note(found, "broken" if broken else "added", broken or {}, pinned.digest)

    def _compare(self, tool: Tool, pinned: Pinned, broken: dict[str, str] | None) -> tuple[str, str]:
        """Bring a known tool together with what was found of it; what happened, and a code where it needs one."""
        if tool.state in {ToolState.REGISTERED, ToolState.INITIALISED} and tool.pk not in self.pending:
            return self._prepare(tool, pinned, broken)
        if tool.state == ToolState.UNREGISTERED and tool.state_reason not in RESTORABLE:
            return "same", "unregistered"
        if self._is_accepted(tool, pinned):
            return self._unchanged(tool, pinned, broken)
        return self._drifted(tool, pinned, broken)

    def _prepare(self, tool: Tool, pinned: Pinned, broken: dict[str, str] | None) -> tuple[str, str]:
        """A tool that was never offered has nothing to pin."""
        state: dict[str, Any] = {}
        if broken is not None or tool.state == ToolState.REGISTERED:
            state = self._first_state(broken)
        differs = tool.digest != pinned.digest
        self.changed_rows += write_fields(tool, self._columns(pinned, tool) | state)
        return "changed" if differs else "same", ""

    def _is_accepted(self, tool: Tool, pinned: Pinned) -> bool:
        if self._is_only_upgrade(tool, pinned):
            return True
        if tool.discovery_source_id is not None and tool.digest:
            return tool.digest == pinned.digest or self._is_only_pinning(tool, pinned)
        # Imported by hand, before anything could run it: who runs it, and for whom, is news but no change.
        own = tool_pinned(tool)
        return Pinned(definition=own.definition).digest == Pinned(definition=pinned.definition).digest

    def _is_only_upgrade(self, tool: Tool, pinned: Pinned) -> bool:
        """Say whether all differences come from the installed version, and none from what an admin sets."""
        if tool.discovery_source_id != self.source.pk or self.source.kind not in BUILT_IN:
            return False
        own = tool_pinned(tool)
        return (own.executor, own.definition.config, own.definition.permissions) == (
            pinned.executor,
            pinned.definition.config,
            pinned.definition.permissions,
        )

    def _is_only_pinning(self, tool: Tool, pinned: Pinned) -> bool:
        """Say whether all that is new is that code is pinned from now on, or is trusted from now on.

        Code is pinned at the first look that can: of tools that were accepted before, and of a source that is no
        longer trusted.
        """
        found, accepted = dict(pinned.executor), dict(tool.executor)
        code, before = found.pop("code", ""), accepted.pop("code", "")
        is_choice = bool(code and not before) or bool(before and not code and self.source.settings.get("trust_code"))
        if not is_choice or found != accepted:
            return False
        return tool.digest == replace(pinned, executor=dict(tool.executor)).digest

    def _unchanged(self, tool: Tool, pinned: Pinned, broken: dict[str, str] | None) -> tuple[str, str]:
        fields: dict[str, Any] = {"discovery_source_id": self.source.pk}
        if tool.digest != pinned.digest:
            fields |= self._columns(pinned, tool)
        pending = self.pending.get(tool.pk)
        if pending is not None:
            _overtake(pending, self.at)
            if tool.state == ToolState.QUARANTINED and pending.tool_state:
                fields |= {"state": pending.tool_state, "state_reason": ""}
        if tool.state == ToolState.UNREGISTERED:
            fields |= self._first_state(broken)
            self.changed_rows += write_fields(tool, fields)
            return "added", ""
        self.changed_rows += write_fields(tool, fields)
        return "same", ""

    def _drifted(self, tool: Tool, pinned: Pinned, broken: dict[str, str] | None) -> tuple[str, str]:
        last = DefinitionDrift.objects.filter(tool=tool).order_by("-found_at", "-id").first()
        if last is not None and last.found_digest == pinned.digest:
            if last.state == DriftState.DISMISSED:
                return "same", "drift_dismissed"
            if last.state == DriftState.PENDING:
                return "changed", "drift_pending"
        returns_to = tool.state
        if tool.state == ToolState.UNREGISTERED:
            returns_to = self._first_state(broken)["state"]
        if last is not None and last.state == DriftState.PENDING:
            _overtake(last, self.at)
            returns_to = last.tool_state
        drift = DefinitionDrift.objects.create(
            tool=tool,
            run=self.run,
            pinned=tool_pinned(tool).to_json(),
            found=as_strict(pinned.to_json(), tool),
            found_digest=pinned.digest,
            tool_state=returns_to,
            found_at=self.at,
        )
        move = move_of(tool.state, ToolState.QUARANTINED)
        if move is not None and move.by_discovery:
            write_fields(tool, {"state": ToolState.QUARANTINED, "state_reason": CHANGED})
            self.changed_rows += 1
        self.drifted.append(Drifted(tool, drift))
        return "changed", "drift"

    def _unregister(self, kept: set[str]) -> None:
        for name, tool in self.by_name.items():
            if tool.discovery_source_id != self.source.pk or name in self.seen or name in kept:
                continue
            move = move_of(tool.state, ToolState.UNREGISTERED)
            if move is not None and move.by_discovery:
                self.changed_rows += write_fields(tool, {"state": ToolState.UNREGISTERED, "state_reason": GONE})
                self.findings.append(_finding(tool.name, tool.name, "removed", {"stage": "discover", "code": "gone"}))

    def _kept_by_broken_keys(self, found: Iterable[Found]) -> set[str]:
        """Tools of a file, package or server part that cannot be read now stay as they were accepted."""
        broken = {each.key for each in found if each.definition is None and not _is_disabled(each)}
        if not broken:
            return set()
        earlier = DiscoveryRun.objects.filter(source=self.source, state="completed").exclude(pk=self.run.pk)
        kept: set[str] = set()
        for run in earlier.exclude(findings=[])[:5]:
            for finding in run.findings:
                key, name = finding.get("key", ""), finding.get("tool", "")
                if name and any(key == each or key.startswith((f"{each}:", f"{each}/")) for each in broken):
                    kept.add(name.lower())
        return kept

    def _note(self, found: Found, outcome: str, why: Mapping[str, str], digest: str = "") -> None:
        name = "" if found.definition is None else found.definition.name
        finding = _finding(found.key, name, outcome, {"stage": "ready", **why, "digest": digest})
        if found.facts:
            finding["facts"] = {name: _kept(value) for name, value in found.facts.items()}
        self.findings.append(finding)


def _is_disabled(found: Found) -> bool:
    """Say whether its file says that it is not offered: it goes, and nothing is broken."""
    return found.failure is not None and found.failure.code == "not_enabled"


def _why(stage: str, code: str, message: str) -> dict[str, str]:
    return {"stage": stage, "code": code, "message": plain_text(message, MESSAGE_LETTERS)}


def _finding(key: str, tool: str, outcome: str, more: Mapping[str, str]) -> dict[str, Any]:
    said = {name: plain_text(text, MESSAGE_LETTERS) for name, text in more.items() if text}
    return {"key": plain_text(key, 500), "tool": plain_text(tool, 128), "outcome": outcome, **said}


def _kept(value: Any) -> Any:
    """Give what a source says beside its definitions as a record can keep it."""
    return value if value is None or isinstance(value, bool | int | float) else plain_text(str(value), FACT_LETTERS)


def _overtake(drift: DefinitionDrift, at: datetime) -> None:
    drift.state, drift.decided_at, drift.decided_by = DriftState.OVERTAKEN, at, "system"
    drift.save(update_fields=["state", "decided_at", "decided_by"])
