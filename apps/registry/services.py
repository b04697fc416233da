"""Everything that changes environments, plugins and tools.

Each change is one row of the change log (pghistory, written by triggers) with the actor in its context.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pghistory
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, require
from apps.accounts.models import User
from apps.events.notices import announce
from apps.firewall.engine.dialect import DEFAULT_RELEASE, dialect_named
from apps.registry.catalogue import catalogue_of, groups_of
from apps.registry.definitions import ToolDefinition, raise_mistakes
from apps.registry.errors import RecordChangedError, RegistryError, ToolInvalidError, ToolStateError
from apps.registry.models import Environment, Plugin, Tool, ToolGroup, ToolSource, ToolState

DEFAULT_SLUG = "production"
_DEFINED_FIELDS = ("label", "description", "section", "params_schema", "owner_only", "sensitive_fields")

# Any state may be left for one that offers less; what was withdrawn comes back only through `registered`.
TRANSITIONS: dict[str, frozenset[str]] = {
    ToolState.REGISTERED: frozenset({"initialised", "active", "quarantined", "disabled", "unregistered"}),
    ToolState.INITIALISED: frozenset({"active", "quarantined", "disabled", "unregistered"}),
    ToolState.ACTIVE: frozenset({"quarantined", "deprecated", "disabled", "unregistered"}),
    ToolState.DEPRECATED: frozenset({"active", "quarantined", "disabled", "unregistered"}),
    ToolState.QUARANTINED: frozenset({"active", "disabled", "unregistered"}),
    ToolState.DISABLED: frozenset({"active", "quarantined", "unregistered"}),
    ToolState.UNREGISTERED: frozenset({"registered"}),
}


@contextmanager
def _change(by: User | None) -> Iterator[None]:
    """Check the right to change, and do it in one transaction that the change log signs with the actor."""
    if by is not None:
        require(by, Permission.POLICY_WRITE)
    with transaction.atomic(), pghistory.context(actor="system" if by is None else by.actor):
        yield


def environment_create(
    *, slug: str, name: str = "", dialect: str = DEFAULT_RELEASE, by: User | None = None
) -> Environment:
    """Add an environment with the core catalogue of its dialect.

    Raises:
        PermissionDeniedError, RegistryError: the slug is taken or not one; UnknownDialectError.
    """
    dialect_named(dialect)
    with _change(by):
        last = Environment.objects.aggregate(last=Max("position"))["last"]
        position = 0 if last is None else last + 1
        environment = Environment(slug=slug, name=name or slug.capitalize(), dialect=dialect, position=position)
        try:
            environment.full_clean()
        except ValidationError as exc:
            details = [
                {"path": field, "code": "invalid", "message": message}
                for field, messages in exc.message_dict.items()
                for message in messages
            ]
            raise RegistryError(
                _("the environment `%(slug)s` cannot be made: see details") % {"slug": slug}, details
            ) from exc
        environment.save(force_insert=True)
        registry_fill(environment)
        announce("environment.changed", id=environment.pk, environment=slug)
    return environment


@transaction.atomic
def environment_default() -> Environment:
    """Give the first environment, making `production` when there is none."""
    first = Environment.objects.order_by("position", "slug").first()
    if first is not None:
        return first
    # Two processes that start together: the second waits here and finds the row of the first.
    with transaction.get_connection().cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('openclaw_admin environment_default'))")
    return Environment.objects.order_by("position", "slug").first() or environment_create(slug=DEFAULT_SLUG)


def environment_set_dialect(environment: Environment, *, dialect: str, by: User | None = None) -> Environment:
    """Speak another release: its catalogue is filled in, core tools it does not know are unregistered.

    Raises:
        PermissionDeniedError, UnknownDialectError.
    """
    dialect_named(dialect)
    with _change(by):
        environment = Environment.objects.select_for_update().get(pk=environment.pk)
        if environment.dialect != dialect:
            environment.dialect = dialect
            environment.save(update_fields=["dialect"])
            registry_fill(environment)
            announce("environment.changed", id=environment.pk, environment=environment.slug)
    return environment


def registry_fill(environment: Environment, *, dialect: str | None = None) -> int:
    """Bring the core tools and groups of an environment to what its release brings; idempotent.

    States that people set on core tools stay. Core tools that the release does not know are unregistered.

    Args:
        dialect: the release to fill from; the environment's own when not given.
    Returns:
        How many rows changed.
    """
    release = dialect or environment.dialect
    with _change(None):
        changed = _definitions_save(
            environment, catalogue_of(release), source=ToolSource.CORE, state=ToolState.ACTIVE, plugin=None, server=""
        ).changed
        changed += _groups_save(environment, groups_of(release))
        if changed:
            announce("registry.changed", id=environment.pk, environment=environment.slug)
    return changed


def _groups_save(environment: Environment, groups: dict[str, tuple[str, ...]]) -> int:
    known = {group.name: group for group in ToolGroup.objects.select_for_update().filter(environment=environment)}
    changed = 0
    for position, (name, members) in enumerate(groups.items()):
        group = known.pop(name, None)
        if group is None:
            ToolGroup.objects.create(environment=environment, name=name, members=list(members), position=position)
            changed += 1
        elif group.members != list(members) or group.position != position:
            group.members, group.position, group.version = list(members), position, group.version + 1
            group.save(update_fields=["members", "position", "version", "updated_at"])
            changed += 1
    for group in known.values():
        group.delete()
        changed += 1
    return changed


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """Names of the tools that an import added, changed, or found gone and unregistered."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def changed(self) -> int:
        return len(self.created) + len(self.updated) + len(self.removed)


def tools_import(
    environment: Environment,
    definitions: Sequence[ToolDefinition],
    *,
    source: str,
    plugin: Plugin | None = None,
    server_name: str = "",
    state: str = ToolState.ACTIVE,
    by: User | None = None,
) -> ImportOutcome:
    """Take over the whole list of tools that one plugin, server, client or channel brings.

    A known tool keeps its state; one that came back after it was unregistered is new again; one that is no longer
    in the list is unregistered.

    Args:
        source: `plugin` (needs `plugin`), `mcp` (needs `server_name`), `client` or `channel`.
        state: of new tools.
    Raises:
        PermissionDeniedError, ToolInvalidError: every mistake of all definitions; nothing is changed.
    """
    if source == ToolSource.CORE or source not in ToolSource.values:
        raise ToolInvalidError(_("tools cannot be imported as `%(source)s`") % {"source": source})
    if (source == ToolSource.PLUGIN) != (plugin is not None) or (source == ToolSource.MCP) != bool(server_name):
        raise ToolInvalidError(_("plugin tools need their plugin, MCP tools their server, others neither"))
    raise_mistakes(definitions)
    with _change(by):
        outcome = _definitions_save(
            environment, definitions, source=source, state=state, plugin=plugin, server=server_name
        )
        if outcome.changed:
            announce("registry.changed", id=environment.pk, environment=environment.slug)
    return outcome


def _definitions_save(
    environment: Environment,
    definitions: Sequence[ToolDefinition],
    *,
    source: str,
    state: str,
    plugin: Plugin | None,
    server: str,
) -> ImportOutcome:
    everything = {tool.name.lower(): tool for tool in Tool.objects.select_for_update().filter(environment=environment)}
    ours = {"source": source, "plugin_id": plugin.pk if plugin else None, "server_name": server}
    known = {name: tool for name, tool in everything.items() if all(getattr(tool, k) == v for k, v in ours.items())}
    _check_names(environment, definitions, taken=everything.keys() - known.keys(), source=source)
    # Core tools keep the order of the catalogue; what others bring follows, in the order it came.
    start = 0 if source == ToolSource.CORE else max((tool.position for tool in everything.values()), default=-1) + 1
    new, updated = [], []
    for offset, definition in enumerate(definitions):
        tool = known.pop(definition.name.lower(), None)
        fields = _fields_of(definition)
        if tool is None:
            new.append(Tool(environment=environment, state=state, position=start + offset, **ours, **fields))
            continue
        if source == ToolSource.CORE:
            fields["position"] = offset
        if tool.state == ToolState.UNREGISTERED:
            fields |= {"state": state, "state_reason": ""}
        if _apply(tool, fields):
            updated.append(definition.name)
    Tool.objects.bulk_create(new)
    removed = [tool for tool in known.values() if tool.state != ToolState.UNREGISTERED]
    for tool in removed:
        _apply(tool, {"state": ToolState.UNREGISTERED, "state_reason": "no longer offered"})
    return ImportOutcome(tuple(tool.name for tool in new), tuple(updated), tuple(sorted(tool.name for tool in removed)))


def _fields_of(definition: ToolDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "label": definition.label[:200],
        "description": definition.description,
        "section": definition.section[:64],
        "params_schema": dict(definition.params_schema),
        "owner_only": definition.owner_only,
        "sensitive_fields": list(definition.sensitive_fields),
    }


def _apply(tool: Tool, fields: dict[str, Any]) -> bool:
    changed = {name: value for name, value in fields.items() if getattr(tool, name) != value}
    if not changed:
        return False
    for name, value in changed.items():
        setattr(tool, name, value)
    tool.version += 1
    tool.save(update_fields=[*changed, "version", "updated_at"])
    return True


def _check_names(
    environment: Environment, definitions: Sequence[ToolDefinition], *, taken: set[str], source: str
) -> None:
    aliases = dialect_named(environment.dialect).aliases if source != ToolSource.CORE else {}
    details = []
    for definition in definitions:
        name = definition.name.lower()
        if name in taken:
            details.append(
                {
                    "path": "name",
                    "code": "taken",
                    "message": _("another tool is named `%(name)s`") % {"name": definition.name},
                }
            )
        elif name in aliases:
            message = _("`%(name)s` is another name of the core tool `%(tool)s`") % {
                "name": definition.name,
                "tool": aliases[name],
            }
            details.append({"path": "name", "code": "alias", "message": message})
    if details:
        raise ToolInvalidError(_("some tools cannot have their names: see details"), details)


def tool_save(tool: Tool, *, fields: dict[str, Any], expected_version: int, by: User | None = None) -> Tool:
    """Change what a tool's record says.

    Args:
        fields: of `label`, `description`, `section`, `params_schema`, `owner_only`, `sensitive_fields`.
        expected_version: the version that was shown to whoever changes it.
    Raises:
        PermissionDeniedError, ToolInvalidError, RecordChangedError.
    """
    unknown = sorted(fields.keys() - set(_DEFINED_FIELDS))
    if unknown:
        raise ToolInvalidError(_("a tool has no field to change named %(names)s") % {"names": ", ".join(unknown)})
    with _change(by):
        tool = Tool.objects.select_for_update(of=("self",)).select_related("environment").get(pk=tool.pk)
        _check_version(tool, expected_version, fields)
        current = {name: getattr(tool, name) for name in _DEFINED_FIELDS} | fields
        current["sensitive_fields"] = tuple(current["sensitive_fields"])
        raise_mistakes([ToolDefinition(name=tool.name, **current)])
        if _apply(tool, {**fields}):
            announce("registry.changed", id=tool.pk, environment=tool.environment.slug)
    return tool


def tool_set_state(
    tool: Tool, *, state: str, reason: str = "", expected_version: int | None = None, by: User | None = None
) -> Tool:
    """Move a tool to another state; to the one it has is harmless.

    Raises:
        PermissionDeniedError, RecordChangedError, ToolStateError: no way leads from its state to this one.
    """
    with _change(by):
        tool = Tool.objects.select_for_update(of=("self",)).select_related("environment").get(pk=tool.pk)
        if expected_version is not None:
            _check_version(tool, expected_version, {"state": state, "state_reason": reason})
        if tool.state != state and state not in TRANSITIONS[tool.state]:
            raise ToolStateError(
                _("a tool that is %(from)s cannot become `%(to)s`") % {"from": tool.state, "to": state}
            )
        if _apply(tool, {"state": state, "state_reason": reason[:500]}):
            announce("registry.changed", id=tool.pk, environment=tool.environment.slug)
    return tool


def plugin_save(
    environment: Environment,
    *,
    key: str,
    name: str = "",
    description: str = "",
    release: str = "",
    is_enabled: bool = True,
    expected_version: int | None = None,
    by: User | None = None,
) -> Plugin:
    """Add a plugin, or change the one with this key.

    Args:
        key: the id that policies name; kept as written, found in any case.
        expected_version: of the one that was shown; None takes whatever is there.
    Raises:
        PermissionDeniedError, ToolInvalidError: not a key; RecordChangedError.
    """
    raise_mistakes([ToolDefinition(name=key)])
    fields = {"name": name or key, "description": description, "release": release, "is_enabled": is_enabled}
    with _change(by):
        plugin = Plugin.objects.select_for_update().filter(environment=environment, key__iexact=key).first()
        if plugin is None:
            plugin = Plugin.objects.create(environment=environment, key=key, **fields)
        else:
            if expected_version is not None:
                _check_version(plugin, expected_version, fields)
            changed = [field for field, value in fields.items() if getattr(plugin, field) != value]
            if not changed:
                return plugin
            for field in changed:
                setattr(plugin, field, fields[field])
            plugin.version += 1
            plugin.save(update_fields=[*changed, "version", "updated_at"])
        announce("registry.changed", id=plugin.pk, environment=environment.slug)
    return plugin


def _check_version(record: Tool | Plugin, expected: int, fields: dict[str, Any]) -> None:
    if record.version != expected:
        theirs = {name: getattr(record, name) for name in fields} | {"version": record.version}
        raise RecordChangedError(mine=dict(fields), theirs=theirs)
