"""The core catalogue: tools and groups as a release brings them."""

from apps.events.notices import announce
from apps.registry.catalogue import catalogue_of, executor_of_core, groups_of
from apps.registry.models import Environment, ToolGroup, ToolSource, ToolState
from apps.registry.services.changing import change, write_fields
from apps.registry.services.lists import Origin, list_save


def registry_fill(environment: Environment, *, dialect: str | None = None) -> int:
    """Bring the core tools and groups of an environment to what its release brings; idempotent.

    States that people set on core tools stay. Core tools that the release does not know are unregistered.

    Args:
        dialect: the release to fill from; the environment's own when not given.
    Returns:
        How many rows changed.
    """
    definitions = catalogue_of(dialect or environment.dialect)
    executors = {definition.name: executor_of_core(definition.name) for definition in definitions}
    origin = Origin(source=ToolSource.CORE)
    with change(None):
        changed = list_save(environment, definitions, origin, state=ToolState.ACTIVE, executors=executors).changed
        changed += _groups_save(environment, groups_of(dialect or environment.dialect))
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
        else:
            changed += write_fields(group, {"members": list(members), "position": position})
    for group in known.values():
        group.delete()
        changed += 1
    return changed
