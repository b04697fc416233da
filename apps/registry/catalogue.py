"""The tools that a release of OpenClaw brings, as this registry lists them."""

from apps.firewall.engine.dialect import CatalogueTool, Dialect, dialect_named
from apps.firewall.tools.builtin.exec import DEFINITION as EXEC
from apps.firewall.tools.builtin.read import DEFINITION as READ
from apps.firewall.tools.builtin.write import DEFINITION as WRITE
from apps.registry.definitions import OPEN_SCHEMA, ToolDefinition

BUILT_IN = {definition.name: definition for definition in (READ, WRITE, EXEC)}


def catalogue_of(release: str) -> tuple[ToolDefinition, ...]:
    """List the core tools of a release in its order.

    A tool that ships here has its real schema; any other takes whatever object it is sent, because its
    parameters are checked where it runs.
    """
    dialect = dialect_named(release)
    return tuple(_definition(dialect, tool) for tool in dialect.catalogue)


def _definition(dialect: Dialect, tool: CatalogueTool) -> ToolDefinition:
    built_in = BUILT_IN.get(tool.name)
    label = tool.label if tool.label != tool.name else tool.name.replace("_", " ").capitalize()
    return ToolDefinition(
        name=tool.name,
        label=built_in.label if built_in else label,
        description=built_in.description if built_in else "",
        section=tool.section,
        params_schema=dict(built_in.parameters) if built_in else dict(OPEN_SCHEMA),
        owner_only=tool.name in dialect.owner_only,
    )


def groups_of(release: str) -> dict[str, tuple[str, ...]]:
    """List the core groups of a release in its order, each with its tools."""
    return dict(dialect_named(release).groups)
