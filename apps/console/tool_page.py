"""What the page of one tool shows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.access import Permission
from apps.audit.figures import Span
from apps.audit.tool_figures import ToolUse, tool_use
from apps.console.agents import roles_with
from apps.console.sandbox import needs_shown
from apps.console.schema_rows import ParamTable, table_of
from apps.console.sparks import Spark, spark_of
from apps.console.tool_reach import AgentReach
from apps.console.tool_words import EXECUTORS, Word, state_word
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.resources import resources_named
from apps.registry.definitions import tool_definition
from apps.registry.lifecycle import MOVES

if TYPE_CHECKING:
    from apps.registry.models import Environment, Tool

    ToolRecord: TypeAlias = Tool
    EnvironmentRecord: TypeAlias = Environment

SPAN: Final = timedelta(days=7)
HARMFUL: Final = frozenset({"quarantined", "deprecated", "disabled", "unregistered"})
OFFERED: Final = frozenset({"active", "deprecated"})
ACTIONS: Final[Mapping[str, Promise]] = {
    "registered": gettext_lazy("Register again"),
    "initialised": gettext_lazy("Mark as initialised"),
    "active": gettext_lazy("Activate"),
    "quarantined": gettext_lazy("Quarantine…"),
    "deprecated": gettext_lazy("Deprecate…"),
    "disabled": gettext_lazy("Disable…"),
    "unregistered": gettext_lazy("Unregister…"),
}


# --- life cycle ---


@dataclass(frozen=True, slots=True)
class MoveShown:
    """One way on from the state that a tool has.

    Attributes:
        is_harmful: it takes the tool away from somebody, so that a page asks first.
        who: the roles that may, for somebody who may not.
    """

    state: str
    word: Word
    action: str
    is_harmful: bool
    is_allowed: bool
    who: str


def moves_of(record: "Tool", permissions: frozenset[Permission], *, is_drifted: bool = False) -> list[MoveShown]:
    """List where a tool may go from its state, and who may send it there.

    Args:
        is_drifted: its changed definition waits for an administrator, who decides about that first.
    """
    return [
        MoveShown(
            state=state,
            word=state_word(state),
            action=str(ACTIONS.get(state, state)),
            is_harmful=state in HARMFUL,
            is_allowed=move.permission in permissions,
            who=roles_with(move.permission),
        )
        for state, move in MOVES.get(record.state, {}).items()
        if move.permission is not None and not (is_drifted and state in OFFERED)
    ]


# --- definition ---


@dataclass(frozen=True, slots=True)
class Defined:
    """A tool's definition, or why its record holds none."""

    definition: Definition | None
    problems: list[dict[str, str]]

    @property
    def table(self) -> ParamTable | None:
        if self.definition is None:
            return None
        wanted = self.definition
        return table_of(wanted.parameters, sensitive=wanted.sensitive, mappings=wanted.context_mappings)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the definition says beside name, description and schema, as far as something goes by it."""
        return _facts(self.definition) if self.definition is not None else []


def defined(record: "Tool") -> Defined:
    """Read a tool's definition from its record."""
    try:
        return Defined(tool_definition(record), [])
    except DefinitionInvalidError as error:
        return Defined(None, error.details)


def _facts(definition: Definition) -> list[tuple[str, str]]:
    limit, most = definition.timeout_ms, definition.result_limit
    needs = [] if definition.sandbox is None else needs_shown(definition.sandbox)
    extra = {"keep": _("kept"), "drop": _("dropped"), "refuse": _("refused")}
    pairs = [
        (_("Version"), definition.version),
        (_("Author"), definition.author),
        (_("Category"), definition.category),
        (_("Tags"), ", ".join(definition.tags)),
        (_("Permissions"), ", ".join(definition.permissions)),
        (_("Resources"), ", ".join(f"{kind} {place}" for kind, place in resources_named(definition))),
        (_("Needs"), ", ".join(definition.dependencies)),
        (_("Time limit"), "" if limit is None else _("%(number)s ms") % {"number": limit}),
        (_("Result at most"), "" if most is None else _("%(number)s characters") % {"number": most}),
        (_("Sandbox"), ", ".join(f"{name} {amount}" for name, amount in needs)),
        (_("Other params"), extra.get(definition.extra_params or "", "")),
        (_("Tool search"), _("always in sight") if definition.catalog_mode == "direct_only" else ""),
        (_("Successor"), definition.successor),
    ]
    return [(label, value) for label, value in pairs if value]


def executor_text(record: "Tool") -> str:
    """Say what runs a tool; empty when nothing does."""
    executor: Mapping[str, Any] = record.executor or {}
    kind = str(executor.get("kind", ""))
    return str(EXECUTORS.get(kind, kind))


# --- who ---


def reach_summary(rows: list[AgentReach]) -> str:
    """Sum up: how many agents have the tool, in how many of the places asked about."""
    if not rows:
        return ""
    having = sum(1 for row in rows if row.count)
    said = {"number": having, "count": sum(row.count for row in rows), "places": sum(row.places for row in rows)}
    words = ngettext(
        "%(number)s agent, %(count)s of %(places)s contexts",
        "%(number)s agents, %(count)s of %(places)s contexts",
        having,
    )
    return words % said


# --- calls ---


@dataclass(frozen=True, slots=True)
class UseShown:
    """Figures of the last seven days."""

    use: ToolUse
    spark: Spark
    since: datetime


def use_of(environment: "Environment", record: "Tool") -> UseShown:
    """Read how a tool was called in the last days."""
    at = timezone.now()
    use = tool_use(Span(environment=environment.slug, since=at - SPAN, until=at), record.name)
    return UseShown(use, spark_of(use.series), at - SPAN)


def file_name(record: "Tool") -> str:
    """Turn a tool's name into one of a file."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", record.name)
