"""What the pages of discovery sources show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.db.models import Count, Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.console.source_forms import WITH_SECRETS
from apps.console.tool_words import Word, state_word
from apps.registry.selectors import drifts_of, runs_of, source_tools, sources_of
from apps.registry.source_settings import SETTINGS, secrets_shown

if TYPE_CHECKING:
    from apps.registry.models import DiscoveryRun, DiscoverySource, Environment, Hook, Tool

    SourceRecord: TypeAlias = DiscoverySource

RUNS_SHOWN: Final = 20
FINDINGS_SHOWN: Final = 200
TOOLS_SHOWN: Final = 100

KINDS: Final[Mapping[str, Word]] = {
    "mcp_stdio": Word(
        gettext_lazy("MCP server (command)"),
        "terminal-2",
        note=gettext_lazy("A program on this machine that speaks MCP on its standard input and output."),
    ),
    "mcp_http": Word(
        gettext_lazy("MCP server (address)"), "plug-connected", note=gettext_lazy("A server that speaks MCP over HTTP.")
    ),
    "remote": Word(
        gettext_lazy("Remote registry"),
        "world-download",
        note=gettext_lazy("An address that lists tools and runs them."),
    ),
    "folder": Word(gettext_lazy("Folder"), "folder", note=gettext_lazy("Python files that hold tools.")),
    "file": Word(
        gettext_lazy("Tool file (YAML)"), "file-text", note=gettext_lazy("One file that lists tools and modules.")
    ),
    "entry_points": Word(
        gettext_lazy("Installed packages"),
        "package",
        note=gettext_lazy("Packages that pip installed and that bring tools."),
    ),
    "openclaw_plugins": Word(
        gettext_lazy("OpenClaw plugins"), "puzzle", note=gettext_lazy("Folders with an openclaw.plugin.json.")
    ),
    "own_files": Word(
        gettext_lazy("Built-in: files"),
        "folders",
        note=gettext_lazy("Read, write and list files in workspaces, and in folders that you open."),
    ),
    "own_shell": Word(
        gettext_lazy("Built-in: listed commands"),
        "checklist",
        note=gettext_lazy("Commands that the exec policy allows and your lists, too."),
    ),
    "own_http": Word(
        gettext_lazy("Built-in: web requests"),
        "world",
        note=gettext_lazy("HTTP requests to public addresses, or to the domains that you name."),
    ),
    "own_browser": Word(
        gettext_lazy("Built-in: browser"),
        "device-desktop",
        note=gettext_lazy("Web pages as text or picture, from public addresses or the domains that you name."),
    ),
    "own_email": Word(
        gettext_lazy("Built-in: email"),
        "send",
        note=gettext_lazy("Plain texts through your mail server, to recipients that you list."),
    ),
    "own_databases": Word(
        gettext_lazy("Built-in: databases"),
        "database",
        note=gettext_lazy("Questions to PostgreSQL that change nothing."),
    ),
}
RUN_STATES: Final[Mapping[str, Word]] = {
    "running": Word(gettext_lazy("Running"), "loader-2", "info"),
    "completed": Word(gettext_lazy("Completed"), "circle-check", "allow"),
    "failed": Word(gettext_lazy("Failed"), "alert-circle", "deny"),
}
OUTCOMES: Final[Mapping[str, Word]] = {
    "added": Word(gettext_lazy("added"), "plus", "allow"),
    "changed": Word(gettext_lazy("changed"), "git-compare", "ask"),
    "same": Word(gettext_lazy("same"), "equal"),
    "removed": Word(gettext_lazy("removed"), "circle-minus", "ask"),
    "disabled": Word(gettext_lazy("disabled"), "circle-minus"),
    "broken": Word(gettext_lazy("broken"), "alert-triangle", "deny"),
}
STAGES: Final[Mapping[str, Promise]] = {
    "discover": gettext_lazy("discover"),
    "verify": gettext_lazy("verify"),
    "load": gettext_lazy("load"),
    "initialise": gettext_lazy("initialise"),
    "ready": gettext_lazy("ready"),
}
_ORDER: Final = {"broken": 0, "changed": 1, "added": 2, "removed": 3, "disabled": 4, "same": 5}


def kind_word(kind: str) -> Word:
    return KINDS.get(kind) or Word(kind, "route")


@dataclass(frozen=True, slots=True)
class RunShown:
    """One look at a source."""

    record: "DiscoveryRun"
    word: Word

    @property
    def actor(self) -> str:
        kind, _colon, name = self.record.actor.partition(":")
        return name or kind

    @property
    def duration_ms(self) -> int | None:
        ended = self.record.ended_at
        return None if ended is None else round((ended - self.record.started_at).total_seconds() * 1000)

    @property
    def is_running(self) -> bool:
        return self.record.state == "running"


def run_shown(record: "DiscoveryRun") -> RunShown:
    return RunShown(record, RUN_STATES.get(record.state) or Word(record.state, "point"))


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source in the list, with its last look."""

    record: "DiscoverySource"
    kind: Word
    last: RunShown | None
    tools: int
    waiting: int


def source_rows(environment: "Environment") -> list[SourceRow]:
    """List the sources with their last looks, and how many changes wait."""
    waiting: dict[Any, int] = {}
    for drift in drifts_of(environment, state="pending"):
        waiting[drift.tool.discovery_source_id] = waiting.get(drift.tool.discovery_source_id, 0) + 1
    rows = []
    is_there = ~Q(tools__state="unregistered")
    for record in sources_of(environment).annotate(tool_count=Count("tools", filter=is_there)):
        seen = record.runs_seen  # type: ignore[attr-defined] # the selector's prefetch
        rows.append(
            SourceRow(
                record=record,
                kind=kind_word(record.kind),
                last=run_shown(seen[0]) if seen else None,
                tools=record.tool_count,
                waiting=waiting.get(record.pk, 0),
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look found of one tool."""

    tool: str
    outcome: Word
    stage: str
    code: str
    message: str


def findings_of(record: "DiscoveryRun") -> list[Finding]:
    """Lay out what a look found, what is broken first."""
    found = [each for each in record.findings if isinstance(each, dict)]
    found.sort(key=lambda each: (_ORDER.get(str(each.get("outcome")), 9), str(each.get("tool") or each.get("key"))))
    return [
        Finding(
            tool=str(each.get("tool") or each.get("key") or ""),
            outcome=OUTCOMES.get(str(each.get("outcome"))) or Word(str(each.get("outcome")), "point"),
            stage=str(STAGES.get(str(each.get("stage")), each.get("stage") or "")),
            code=str(each.get("code") or ""),
            message=str(each.get("message") or _said(str(each.get("outcome")))),
        )
        for each in found[:FINDINGS_SHOWN]
    ]


def _said(outcome: str) -> str:
    return _("Not as it was accepted; an administrator decides.") if outcome == "changed" else ""


@dataclass(frozen=True, slots=True)
class SourceTool:
    record: "Tool"
    word: Word
    drifts: bool


def tools_shown(source: "DiscoverySource") -> list[SourceTool]:
    """List what a source brought, what waits for an admin first."""
    waiting = {drift.tool_id for drift in drifts_of(source.environment, state="pending")}
    rows = source_tools(source).defer("params_schema", "traits", "executor")
    shown = [SourceTool(tool, state_word(tool.state), tool.pk in waiting) for tool in rows]
    return sorted(shown, key=lambda each: (not each.drifts, each.record.state == "unregistered", each.record.name))


def runs_shown(source: "DiscoverySource") -> list[RunShown]:
    return [run_shown(record) for record in runs_of(source)[:RUNS_SHOWN]]


def settings_shown(source: "DiscoverySource | Hook") -> list[tuple[str, str]]:
    """List the settings of a source; a secret is its length and short hash."""
    masks = {secret.name: _mask(secret.length, secret.hash) for secret in secrets_shown(source)}
    shown = []
    for setting in SETTINGS[source.kind]:
        value = source.settings.get(setting.name)
        if value not in (None, "", [], {}):
            shown.append((str(setting.label), _written(value, masks)))
    if masks and source.kind in WITH_SECRETS:
        shown.append((_("Secrets of tools"), "\n".join(f"{name}: {mask}" for name, mask in masks.items())))
    return shown


def _mask(length: int, digest: str) -> str:
    words = ngettext("secret, %(number)s character, %(hash)s", "secret, %(number)s characters, %(hash)s", length)
    return words % {"number": length, "hash": digest}


def _written(value: Any, masks: Mapping[str, str]) -> str:
    if isinstance(value, Mapping):
        name = value.get("$secret")
        if len(value) == 1 and isinstance(name, str):
            return masks.get(name, _("secret"))
        return "\n".join(f"{member}: {_written(each, masks)}" for member, each in value.items())
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)
