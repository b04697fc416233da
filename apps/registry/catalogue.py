"""The tools that a release of OpenClaw brings, as this registry lists them."""

from dataclasses import replace

from apps.firewall.engine.dialect import CatalogueTool, Dialect, dialect_named
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.definition import OPEN_SCHEMA, Definition
from apps.firewall.tools.executors import BuiltinExecutor


def catalogue_of(release: str) -> tuple[Definition, ...]:
    """List the core tools of a release in its order.

    A tool that ships here has its real schema; any other takes whatever object it is sent, because its
    parameters are checked where it runs.
    """
    dialect = dialect_named(release)
    return tuple(_definition(dialect, tool) for tool in dialect.catalogue)


def _definition(dialect: Dialect, tool: CatalogueTool) -> Definition:
    built_in = BUILTINS.get(tool.name)
    is_owners = tool.name in dialect.owner_only
    if built_in is not None:
        return replace(built_in.definition_in(dialect.release), section=tool.section, owner_only=is_owners)
    label = tool.label if tool.label != tool.name else tool.name.replace("_", " ").capitalize()
    return Definition(
        name=tool.name, label=label, section=tool.section, parameters=dict(OPEN_SCHEMA), owner_only=is_owners
    )


def executor_of_core(name: str) -> BuiltinExecutor | None:
    """Name what runs a core tool here; None for those that only OpenClaw itself runs."""
    return BuiltinExecutor() if name in BUILTINS else None


def groups_of(release: str) -> dict[str, tuple[str, ...]]:
    """List the core groups of a release in its order, each with its tools."""
    return dict(dialect_named(release).groups)
