"""What runs a tool, as its record and the snapshot hold it. Addresses and secrets stay with the tool's source."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, TypeAlias

from apps.firewall.errors import FirewallError


class ExecutorInvalidError(FirewallError):
    """A record that names no executor we know."""

    code = "executor_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinExecutor:
    """The firewall's own code, for core tools only."""

    kind: ClassVar[str] = "builtin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredExecutor:
    """One of the firewall's own tools (`tool`) under the settings of a source: `tools/configured.py` has them."""

    kind: ClassVar[str] = "configured"
    tool: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonExecutor:
    """An attribute of a module (`module`) or of a file (`file`, absolute path), run in a process of its own.

    Args:
        attribute: a decorated function, a class, or a factory.
        folder: absolute path of where modules are searched besides the installed ones.
        source: key of the source whose secrets its settings may name.
        code: digest of the code that was accepted (`tools/code.py`); empty where the source's code is trusted.
    """

    kind: ClassVar[str] = "python"
    attribute: str
    module: str = ""
    file: str = ""
    folder: str = ""
    source: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpExecutor:
    """An address that takes a signed request; `source` is the key of the registry that brought it."""

    kind: ClassVar[str] = "http"
    url: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class McpExecutor:
    """A tool of an MCP server; `source` is the key of the server, `tool` its own name there."""

    kind: ClassVar[str] = "mcp"
    source: str
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchExecutor:
    """A control of tool search; it works within a run only."""

    kind: ClassVar[str] = "tool_search"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientExecutor:
    """Whoever made the run, who offered the tool for it and runs it itself."""

    kind: ClassVar[str] = "client"


ToolExecutor: TypeAlias = (
    BuiltinExecutor | ConfiguredExecutor | PythonExecutor | HttpExecutor | McpExecutor | SearchExecutor | ClientExecutor
)

KINDS: Final[Mapping[str, type[ToolExecutor]]] = {
    each.kind: each
    for each in (
        BuiltinExecutor,
        ConfiguredExecutor,
        PythonExecutor,
        HttpExecutor,
        McpExecutor,
        SearchExecutor,
        ClientExecutor,
    )
}


def read_executor(document: Mapping[str, Any]) -> ToolExecutor:
    """Read what `executor_json` wrote.

    Raises:
        ExecutorInvalidError: an unknown kind, or members that do not fit it.
    """
    members = dict(document)
    kind = KINDS.get(members.pop("kind", ""))
    if kind is None:
        raise ExecutorInvalidError(f"unknown kind of executor `{document.get('kind', '')}`")
    if not all(isinstance(value, str) for value in members.values()):
        raise ExecutorInvalidError(f"an executor of kind `{kind.kind}` has texts only")
    try:
        return kind(**members)
    except TypeError as exc:
        raise ExecutorInvalidError(f"an executor of kind `{kind.kind}` has other members") from exc


def executor_json(executor: ToolExecutor) -> dict[str, str]:
    """Write an executor as JSON."""
    members = {each.name: getattr(executor, each.name) for each in fields(executor)}
    return {"kind": executor.kind} | {name: value for name, value in members.items() if value}
