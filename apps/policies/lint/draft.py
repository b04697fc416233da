"""The draft as the review sees it: its records, and what exists to be named."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.document import write_tool
from apps.firewall.engine.source import ToolEntry
from apps.firewall.engine.universe import Universe
from apps.firewall.engine.warn import server_prefix
from apps.firewall.runtime.bridge import CLIENT
from apps.policies.compiler import tool_entries
from apps.policies.document.findings import show_path
from apps.policies.kinds import KINDS, kind_of
from apps.policies.lint.findings import LintFinding, LintSeverity
from apps.policies.places import Places
from apps.registry.models import Environment
from apps.registry.selectors import plugins_of


class Draft:
    """Reads each kind of record at its first need, once."""

    def __init__(self, environment: Environment, universe: Universe | None = None) -> None:
        """Read a draft.

        Args:
            universe: the offered tools of a compiled draft, where there is one.
        """
        self.environment = environment
        self._universe = universe
        self.dialect: Dialect = dialect_named(environment.dialect)
        self.places = Places(environment)
        self._records: dict[str, list[Any]] = {}

    def records(self, kind: str) -> list[Any]:
        if kind not in self._records:
            model = KINDS[kind]
            records = model._default_manager.filter(environment=self.environment).order_by("position", "id")
            self._records[kind] = list(records)
        return self._records[kind]

    def entries(self, kind: str) -> frozenset[str]:
        """Return what the lists of tools of all records of a kind name."""
        columns = [field.name for field in KINDS[kind]._meta.fields if field.name in ("allow", "also_allow", "deny")]
        lists = (getattr(record, column) for record in self.records(kind) for column in columns)
        return frozenset(entry for names in lists for entry in names or ())

    def by(self, kind: str, *parents: str) -> dict[tuple[Any, ...], list[Any]]:
        """Group records by their parents' ids, in document order."""
        found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        for record in self.records(kind):
            found[tuple(getattr(record, parent) for parent in parents)].append(record)
        return found

    def finding(
        self,
        record: Any,
        code: str,
        member: str,
        message: str,
        entry: str = "",
        severity: LintSeverity = "warning",
        *,
        suggestion: str = "",
    ) -> LintFinding:
        """Make a finding about a member of a record; an empty member means the record as a whole."""
        path = ".".join(filter(None, (show_path(self.places.of(record)), member)))
        return LintFinding(code, severity, path, record.pk, kind_of(record), entry, message, suggestion)

    @cached_property
    def policy(self) -> Any:
        """The global record, or None."""
        return next(iter(self.records("global")), None)

    @cached_property
    def candidates(self) -> Candidates:
        """Every offered tool, and what entries of lists mean among them."""
        universe = self._universe or Universe(self.dialect, [write_tool(tool) for tool in self.tools])
        return Candidates(universe, universe.full)

    @cached_property
    def tools(self) -> list[ToolEntry]:
        """Every offered tool."""
        return tool_entries(self.environment)

    @cached_property
    def permissions(self) -> dict[str, tuple[str, ...]]:
        """What the tools that need permissions ask for, by name."""
        asked = {tool.name: tuple((tool.traits or {}).get("permissions", ())) for tool in self.tools}
        return {name: permissions for name, permissions in asked.items() if permissions}

    @cached_property
    def resource_kinds(self) -> dict[str, frozenset[str]]:
        """The kinds of resources that each tool names."""
        return {tool.name: frozenset((tool.traits or {}).get("resources", ())) for tool in self.tools}

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """Beginnings of the names of tools of declared MCP servers."""
        extra = self.policy.extra if self.policy is not None else {}
        declared = _object(_object(extra, "mcp"), "servers")
        return tuple(f"{server_prefix(name)}__" for name in declared)

    @cached_property
    def plugins(self) -> frozenset[str]:
        """Ids of plugins that are registered or declared, with tools or without, and that of callers' tools."""
        extra = self.policy.extra if self.policy is not None else {}
        declared = _object(_object(extra, "plugins"), "entries")
        registered: Iterable[str] = plugins_of(self.environment).values_list("key", flat=True)
        return frozenset(key.strip().lower() for key in (*declared, *registered, CLIENT))


def _object(value: Any, key: str) -> dict[str, Any]:
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
