"""The core catalogue: tools and groups as a release brings them."""

from collections.abc import Iterable
from typing import Final

from apps.events.notices import announce
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.executors import BuiltinExecutor
from apps.registry.catalogue import catalogue_of, executor_of_core, groups_of
from apps.registry.models import Environment, Tool, ToolGroup, ToolSource, ToolState
from apps.registry.selectors import tools_offered
from apps.registry.services.changing import change, write_fields
from apps.registry.services.lists import Origin, list_plan, list_save

CORE: Final = Origin(source=ToolSource.CORE)


def registry_fill(environment: Environment, *, dialect: str | None = None) -> int:
    """Bring the core tools and groups of an environment to what its release brings; idempotent.

    States that people set on core tools stay. Core tools that the release does not know are unregistered.

    Args:
        dialect: the release to fill from; the environment's own when not given.
    Returns:
        How many rows changed.
    """
    definitions = catalogue_of(dialect or environment.dialect)
    with change(None):
        outcome = list_save(environment, definitions, CORE, state=ToolState.ACTIVE, executors=_executors(definitions))
        changed = outcome.changed
        changed += _groups_save(environment, groups_of(dialect or environment.dialect))
        if changed:
            announce("registry.changed", id=environment.pk, environment=environment.slug)
    return changed


def offered_in(environment: Environment, release: str) -> list[Tool]:
    """List what policies would decide about if the environment spoke a release; nothing is written.

    Raises:
        ToolInvalidError: a tool of somebody else's has the name of one that the release brings.
    """
    offered = {tool.pk for tool in tools_offered(environment)}
    rows = list(Tool.objects.select_related("plugin").filter(environment=environment))
    definitions = catalogue_of(release)
    plan = list_plan(
        environment, definitions, CORE, tools=rows, state=ToolState.ACTIVE, executors=_executors(definitions)
    )
    gone = {tool.pk for tool in plan.gone}
    for tool, fields in plan.known:
        if fields.get("state") == ToolState.ACTIVE:  # it was unregistered, and comes back
            offered.add(tool.pk)
        for name, value in fields.items():
            setattr(tool, name, value)
    kept = [tool for tool in rows if tool.pk in offered and tool.pk not in gone]
    return sorted([*kept, *plan.new], key=lambda tool: (tool.position, tool.name))


def _executors(definitions: Iterable[Definition]) -> dict[str, BuiltinExecutor | None]:
    return {definition.name: executor_of_core(definition.name) for definition in definitions}


def _groups_save(environment: Environment, groups: dict[str, tuple[str, ...]]) -> int:
    known = {group.name: group for group in ToolGroup.objects.select_for_update().filter(environment=environment)}
    changed = 0
    for position, (name, members) in enumerate(groups.items()):
        group = known.pop(name, None)
        if group is None:
            ToolGroup.objects.create(environment=environment, name=name, members=list(members), position=position)
            changed += 1
        else:
            changed += write_fields(group, {"members": list(members), "position": position})
    for group in known.values():
        group.delete()
        changed += 1
    return changed
