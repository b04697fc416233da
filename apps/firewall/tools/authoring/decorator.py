"""Tools as functions, and functions that make tools."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, Unpack, overload

from apps.firewall.tools.authoring.members import Members, checked_members

Function = TypeVar("Function", bound=Callable[..., Any])

TOOL_MARK: Final = "__openclaw_tool__"
FACTORY_MARK: Final = "__openclaw_factory__"


@dataclass(frozen=True, slots=True)
class Marked:
    """What a decorator left on a function."""

    members: dict[str, Any] = field(default_factory=dict)


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(**members: Unpack[Members]) -> Callable[[Function], Function]: ...
def tool(function: Any = None, /, **members: Any) -> Any:
    """Make a function a tool, as `@tool` or `@tool(name=…, permissions=[…])`; it stays callable as before.

    What is not given is read: the name and description from the function, the schema from its type hints, what it
    says of each parameter from its docstring. With `parameters` given the function gets the checked parameters as
    they are; otherwise in the types of its signature.

    Raises:
        AuthoringError: a member that no definition has.
    """
    if function is not None:
        setattr(function, TOOL_MARK, Marked())
        return function

    def mark(marked: Function) -> Function:
        setattr(marked, TOOL_MARK, Marked(checked_members(members, marked.__qualname__)))
        return marked

    return mark


def tool_factory(function: Function) -> Function:
    """Mark a function that makes tools, so that a scan of its module finds it.

    It is called with those of `config`, `session` and `sandboxed` that it names, each time tools are described or
    called, and returns a tool, several, or None: not offered here. A tool is a decorated function, an instance or
    class of `BaseTool`, or a mapping of definition members with `execute`.
    """
    setattr(function, FACTORY_MARK, True)
    return function
