"""One tool at a time: registered by hand, changed, moved to another state."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from django.db.models import Max
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.tools.admission import admit_definition
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError, read_definition
from apps.firewall.tools.executors import ToolExecutor
from apps.registry.definitions import COLUMNS, raise_mistakes, tool_pinned
from apps.registry.differences import is_same_json
from apps.registry.errors import DriftPendingError, ToolInvalidError, ToolStateError
from apps.registry.findings import error_findings, raise_errors
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


def tool_restate(tool: Tool, definition: Definition, *, executor: ToolExecutor | None = None, by: By = None) -> Tool:
    """Give a tool that was registered by hand another definition; its name, state and plugin stay.

    Agents get it with the next publication. One that is gone is registered again and waits to be activated.

    Raises:
        PermissionDeniedError.
        ToolInvalidError: a source or a release brings the tool, or it is offered and would have errors.
    """
    raise_mistakes([definition])
    with change(by):
        rows = Tool.objects.select_for_update(of=("self",)).select_related("environment", "plugin", "discovery_source")
        tool = rows.get(pk=tool.pk)
        if tool.source in {ToolSource.CORE, ToolSource.MCP} or tool.discovery_source_id is not None:
            message = _("`%(name)s` was not registered by hand: it is changed where it comes from")
            details = [{"path": "name", "code": "taken", "message": message % {"name": tool.name}}]
            raise ToolInvalidError(details[0]["message"], details)
        fields = row_fields(definition, executor, plugin=tool.plugin.key if tool.plugin else "")
        fields["name"] = tool.name
        if tool.state == ToolState.UNREGISTERED:
            _check_move(tool, ToolState.REGISTERED, by)
            fields |= {"state": ToolState.REGISTERED, "state_reason": "registered by hand"}
        elif tool.state in OFFERED_STATES and fields["digest"] != tool.digest:
            raise_errors(tool, definition)
        before = tool.digest
        if fields["digest"] != before or "state" in fields:
            write_fields(tool, fields)
            tool_tell(tool, by, "restated", {"digest": [before, tool.digest], "state": tool.state})
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
        _check_fields(tool, fields)
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


def _check_fields(tool: Tool, fields: Mapping[str, Any]) -> None:
    """Hold what a tool would say against the rules of every door.

    What was wrong before keeps nobody from changing something else: an admin may always make a tool stricter.

    Raises:
        ToolInvalidError: places are named by columns.
    """
    held = {column: getattr(tool, column) for column in ("traits", *COLUMNS.values())}
    wanted = {name: fields.get(name, value) for name, value in held.items()}
    says = {column for column in ("traits", "params_schema") if not is_same_json(wanted[column], held[column])}
    as_filled_in = wanted["traits"].get("formats") == held["traits"].get("formats")
    admit = partial(admit_definition, is_described=as_filled_in)
    try:
        definition = (admit if says else read_definition)(_document(wanted))
    except DefinitionInvalidError as exc:
        details = [{**problem, "path": _column(problem["path"], wanted["traits"])} for problem in exc.details]
        raise ToolInvalidError(_("the tool definition is not valid: see details"), details) from exc
    if tool.state in OFFERED_STATES:
        raise_errors(tool, definition, known=_errors_before(tool.name, held))


def _document(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {**columns["traits"], **{member: columns[column] for member, column in COLUMNS.items()}}


def _errors_before(name: str, held: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    try:
        definition = read_definition(_document(held))
    except DefinitionInvalidError:  # somebody wrote to the row past the services
        return frozenset()
    return frozenset((each.path, each.code) for each in error_findings(name, definition))


def _column(path: str, traits: Mapping[str, Any]) -> str:
    """Give the place of a member among the columns: `params_schema.required[0]`, `traits.retry`."""
    member = re.split(r"[.\[]", path, maxsplit=1)[0]
    column = COLUMNS.get(member)
    if column is not None:
        return f"{column}{path[len(member) :]}"
    return f"traits.{path}" if member in traits else path


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
        ToolInvalidError: it would be offered, and its definition has errors.
    """
    with change(by):
        rows = Tool.objects.select_for_update(of=("self",)).select_related("environment", "discovery_source")
        tool = rows.get(pk=tool.pk)
        check_version(tool, expected_version, {"state": state, "state_reason": reason})
        if tool.state != state:
            _check_move(tool, state, by)
            if state in OFFERED_STATES and tool.state not in OFFERED_STATES:
                raise_errors(tool)
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
