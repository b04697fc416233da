"""Sources of tools, and looks at them made of plain values."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.firewall.tools.executors import McpExecutor
from apps.registry import services
from apps.registry.models import DiscoveryRun, DiscoverySource, Environment

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


@pytest.fixture
def source(environment: Environment) -> DiscoverySource:
    """An MCP server whose tools are offered as soon as they are found."""
    return services.source_create(environment, key="files", kind="mcp_stdio", settings={"command": ["/bin/true"]})


def found(name: str, **members: Any) -> Found:
    """A tool that is ready; members of its definition may be given."""
    members.setdefault("parameters", SCHEMA)
    members.setdefault("description", f"Does {name}.")
    executor = McpExecutor(source="files", tool=name)
    return Found(key=name, definition=Definition(name=name, **members), executor=executor)


def broken(key: str, *, stage: Any = "load", code: str = "import_failed", message: str = "no module `x`") -> Found:
    """A place that brought no definition."""
    return Found(key=key, failure=Failure(stage=stage, code=code, message=message))


@pytest.fixture
def look(source: DiscoverySource) -> Callable[..., DiscoveryRun]:
    """Take over what a look at the source brought home: `look(found("a"), broken("b.py"))`."""

    def take(*each: Found, of: DiscoverySource = source, **more: Any) -> DiscoveryRun:
        return services.run_take(services.run_start(of), Look(found=each, **more))

    return take
