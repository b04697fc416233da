"""One tool at a time: registered by hand, changed, moved to another state."""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Max
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.executors import ToolExecutor
from apps.registry.definitions import COLUMNS, raise_mistakes, tool_definition, tool_pinned
from apps.registry.errors import DriftPendingError, ToolInvalidError, ToolStateError
from apps.registry.lifecycle import move_of
from apps.registry.models import (
    OFFERED_STATES,
    DefinitionDrift,
    DriftState,
    Environment,
    Plugin,
    Tool,
    ToolSource,
    ToolState,
)
from apps.registry.services.changing import By, change, check_version, write_fields
from apps.registry.services.lists import GONE, name_problem, row_fields
from apps.registry.services.sources import SOURCE_GONE

CHANGEABLE: Final = ("label", "description", "section", "params_schema", "owner_only", "sensitive_fields", "traits")
OWN_OF_ADMINS: Final = frozenset({"label", "section", "owner_only", "sensitive_fields"})
"""What people may change of a tool that a source brings: how it is listed, and what makes it stricter."""


def tool_register(
    environment: Environment,
    definition: Definition,
    *,
    executor: ToolExecutor | None = None,
    plugin: Plugin | None = None,
    source: str = ToolSource.CLIENT,
    by: By = None,
) -> Tool:
    """Add one tool by hand. It stays `registered`, offered to nobody, until somebody activates it.

    Args:
        executor: what runs it here; None for tools that the caller itself runs.
        plugin: who it belongs to in policies; makes `source` plugin.
    Raises:
        PermissionDeniedError, ToolInvalidError: a mistake, or a name that another tool has.
    """
    raise_mistakes([definition])
    if source not in {ToolSource.CLIENT, ToolSource.CHANNEL}:
        raise ToolInvalidError(_("tools cannot be registered as `%(source)s`") % {"source": source})
    with change(by):
        environment = Environment.objects.select_for_update(no_key=True).get(pk=environment.pk)
        rows = Tool.objects.filter(environment=environment)
        taken = {name.lower() for name in rows.values_list("name", flat=True)}
        problem = name_problem(environment, definition.name, taken=taken)
        if problem is not None:
            raise ToolInvalidError(problem["message"], [problem])
        last = rows.aggregate(last=Max("position"))["last"]
        tool = Tool.objects.create(
            environment=environment,
            source=ToolSource.PLUGIN if plugin else source,
            plugin=plugin,
            state=ToolState.REGISTERED,
            state_reason="registered by hand",
            position=0 if last is None else last + 1,
            **row_fields(definition, executor, plugin=plugin.key if plugin else ""),
        )
        tool_tell(tool, by, "registered", {"digest": tool.digest})
    return tool


def tool_save(tool: Tool, *, fields: Mapping[str, Any], expected_version: int | None, by: By = None) -> Tool:
    """Change what a tool's record says.

    Args:
        fields: of `label`, `description`, `section`, `params_schema`, `owner_only`, `sensitive_fields`, `traits`. Of a
            tool that a source brings only `label`, `section`, and what makes it stricter.
        expected_version: the version that was shown to whoever changes it; None takes whatever is there.
    Raises:
        PermissionDeniedError, ToolInvalidError, RecordChangedError.
    """
    unknown = sorted(fields.keys() - set(CHANGEABLE))
    if unknown:
        raise ToolInvalidError(_("a tool has no field to change named %(names)s") % {"names": ", ".join(unknown)})
    with change(by):
        rows = Tool.objects.select_for_update(of=("self",)).select_related("environment", "plugin")
        tool = rows.get(pk=tool.pk)
        check_version(tool, expected_version, fields)
        _refuse_what_belongs_to_the_source(tool, fields)
        before = {name: getattr(tool, name) for name in fields}
        for name, value in fields.items():
            setattr(tool, name, value)
        _check_row(tool)
        for name, value in before.items():
            setattr(tool, name, value)
        if write_fields(tool, {**fields}):
            if tool.source not in {ToolSource.CORE} and tool.discovery_source_id is None:
                tool.digest = tool_pinned(tool).digest
                tool.save(update_fields=["digest"])
            changed = {name: [before[name], fields[name]] for name in fields if before[name] != fields[name]}
            tool_tell(tool, by, "changed", changed)
    return tool


def _refuse_what_belongs_to_the_source(tool: Tool, fields: Mapping[str, Any]) -> None:
    if tool.discovery_source_id is None:
        return
    details = [
        {"path": name, "code": "from_source", "message": _("comes from the tool's source and is changed there")}
        for name, value in fields.items()
        if name not in OWN_OF_ADMINS and getattr(tool, name) != value
    ]
    if details:
        raise ToolInvalidError(_("the definition of `%(name)s` belongs to its source") % {"name": tool.name}, details)


def _check_row(tool: Tool) -> None:
    try:
        tool_definition(tool)
    except DefinitionInvalidError as exc:
        details = [{**problem, "path": COLUMNS.get(problem["path"], problem["path"])} for problem in exc.details]
        raise ToolInvalidError(_("the tool definition is not valid: see details"), details) from exc


def tool_set_state(
    tool: Tool,
    *,
    state: str,
    reason: str = "",
    successor: str = "",
    expected_version: int | None = None,
    by: By = None,
) -> Tool:
    """Move a tool to another state; to the one it has is harmless. Calls meet a withdrawal at once.

    Args:
        successor: name of the tool that takes the place of a deprecated one.
    Raises:
        PermissionDeniedError, RecordChangedError.
        ToolStateError: no way leads from its state to this one, or the successor is no tool that is offered.
        DriftPendingError: it waits for somebody to accept or dismiss its changed definition.
    """
    with change(by):
        tool = Tool.objects.select_for_update(of=("self",)).select_related("environment").get(pk=tool.pk)
        check_version(tool, expected_version, {"state": state, "state_reason": reason})
        if tool.state != state:
            _check_move(tool, state, by)
        if reason in {GONE, SOURCE_GONE}:  # what looks write is what looks take back
            reason = f"{reason} (by hand)"
        fields: dict[str, Any] = {"state": state, "state_reason": reason[:500]}
        if state == ToolState.DEPRECATED and successor:
            fields["traits"] = {**tool.traits, "successor": _successor(tool, successor)}
        before = tool.state
        if write_fields(tool, fields):
            tool_tell(tool, by, "state", {"state": [before, state], "reason": reason[:500]})
    return tool


def _check_move(tool: Tool, state: str, by: By) -> None:
    move = move_of(tool.state, state)
    if move is None or move.permission is None:
        raise ToolStateError(_("a tool that is %(from)s cannot become `%(to)s`") % {"from": tool.state, "to": state})
    if by is not None:
        require(by, move.permission)
    waits = DefinitionDrift.objects.filter(tool=tool, state=DriftState.PENDING)
    if state in OFFERED_STATES and waits.exists():
        raise DriftPendingError(
            _("the definition of `%(name)s` has changed: accept or dismiss the change first") % {"name": tool.name}
        )


def _successor(tool: Tool, name: str) -> str:
    found = (
        Tool.objects.filter(environment=tool.environment_id, name__iexact=name, state__in=OFFERED_STATES)
        .exclude(pk=tool.pk)
        .first()
    )
    if found is None:
        message = _("no offered tool is named `%(name)s`") % {"name": name[:128]}
        raise ToolStateError(message, [{"path": "successor", "code": "unknown_tool", "message": message}])
    return found.name


def tool_tell(tool: Tool, by: By, action: str, changes: Mapping[str, Any]) -> None:
    """Tell every process, and the ledger, what became of a tool. Last in a transaction."""
    announce("registry.changed", id=tool.pk, environment=tool.environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.TOOL_CHANGE,
            actor=actor_of(by),
            environment=tool.environment.slug,
            tool=tool.name,
            status=action,
            changes={"action": action, "id": tool.shown_id, "version": tool.version, **changes},
        )
    )
