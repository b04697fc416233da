"""Reading a tool that somebody registers by hand: its definition, and what is to run it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError, read_definition
from apps.firewall.tools.executors import (
    ExecutorInvalidError,
    HttpExecutor,
    McpExecutor,
    ToolExecutor,
    executor_json,
    read_executor,
)
from apps.registry.errors import ToolInvalidError
from apps.registry.models import Environment, SourceKind
from apps.registry.selectors import source_find

KINDS_OF_SOURCE: Final[Mapping[str, frozenset[str]]] = {
    HttpExecutor.kind: frozenset({SourceKind.REMOTE}),
    McpExecutor.kind: frozenset({SourceKind.MCP_STDIO, SourceKind.MCP_HTTP}),
}
"""Kind of executor -> kinds of source it may name. Code that runs here comes from files and packages only."""


@dataclass(frozen=True, slots=True)
class Order:
    """A tool to register."""

    definition: Definition
    executor: ToolExecutor | None


def read_order(environment: Environment, definition: object, executor: Mapping[str, Any] | None) -> Order:
    """Read a definition and its executor.

    Raises:
        ToolInvalidError: every mistake, `definition.` or `executor.` before its path.
    """
    try:
        read = read_definition(definition, path="definition.")
    except DefinitionInvalidError as exc:
        raise ToolInvalidError(exc.message, exc.details) from exc
    return Order(read, _executor(environment, executor) if executor else None)


def _executor(environment: Environment, document: Mapping[str, Any]) -> ToolExecutor:
    try:
        executor = read_executor(document)
    except ExecutorInvalidError as exc:
        raise _refused(exc.message) from exc
    kinds = KINDS_OF_SOURCE.get(executor.kind)
    if kinds is None:
        raise _refused(_("only `http` and `mcp` executors are registered by hand"))
    source = source_find(environment, executor_json(executor)["source"])
    if source is None or source.kind not in kinds:
        raise _refused(_("no source of this key can run it"))
    return executor


def _refused(message: str) -> ToolInvalidError:
    return ToolInvalidError(message, [{"path": "executor", "code": "bad_executor", "message": message}])
