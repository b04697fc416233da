"""Whatever authors wrote, in one shape: a definition and what answers a call."""

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from apps.firewall.tools.authoring.base import BaseTool, definition_of_class
from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.decorator import FACTORY_MARK, TOOL_MARK
from apps.firewall.tools.authoring.docstrings import read_docstring
from apps.firewall.tools.authoring.errors import AuthoringError, NotOfferedError
from apps.firewall.tools.authoring.members import checked_members
from apps.firewall.tools.authoring.signature import Signature, context_parameter

Hook = Callable[[], Any]
FACTORY_LIMIT = 100


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One tool, ready to be described and called.

    Args:
        definition: as JSON, unchecked.
        execute: takes checked parameters and the context of the call; what it returns may have to be awaited.
        initialise, close: as in `BaseTool`.
        is_for_session: a factory made it for the session of the context that it was given.
    """

    definition: dict[str, Any]
    execute: Callable[[Mapping[str, Any], ToolContext], Any]
    initialise: Hook = _nothing
    close: Hook = _nothing
    is_for_session: bool = False


def offers_of(target: Any, context: ToolContext, *, shown: str = "") -> list[Offer]:
    """Make offers of what an attribute holds.

    Args:
        target: a decorated function, a class or instance of `BaseTool`, a mapping with `execute`, or a factory.
        context: that factories and classes are made in.
        shown: how to call it in messages.
    Raises:
        AuthoringError: it is no tool.
        NotOfferedError: a factory returned None.
    """
    shown = shown or getattr(target, "__qualname__", type(target).__name__)
    if hasattr(target, TOOL_MARK):
        return [_of_function(target)]
    if inspect.isclass(target) and issubclass(target, BaseTool):
        if inspect.isabstract(target):
            raise AuthoringError(f"`{shown}` has no `execute`")
        return [_of_instance(target(), context)]
    if isinstance(target, BaseTool):
        return [_of_instance(target, context)]
    if isinstance(target, Mapping):
        return [_of_mapping(target, shown)]
    if inspect.isroutine(target):
        return _of_factory(target, context, shown)
    raise AuthoringError(f"`{shown}` is no tool: neither decorated, nor of `BaseTool`, nor a factory")


def public_tools(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Give what a module offers by name: what `__all__` lists, else what it defines itself under a public name."""
    listed = getattr(module, "__all__", None)
    names = list(listed) if listed is not None else [name for name in vars(module) if not name.startswith("_")]
    seen: set[int] = set()
    for name in names:
        target = getattr(module, name, None)
        is_own = listed is not None or getattr(target, "__module__", None) == module.__name__
        if is_own and id(target) not in seen and _is_tool(target):
            seen.add(id(target))
            yield name, target


def _is_tool(target: Any) -> bool:
    if inspect.isclass(target):
        return issubclass(target, BaseTool) and not inspect.isabstract(target)
    return isinstance(target, BaseTool) or hasattr(target, TOOL_MARK) or hasattr(target, FACTORY_MARK)


def _of_function(function: Callable[..., Any]) -> Offer:
    members = getattr(function, TOOL_MARK).members
    words = read_docstring(inspect.getdoc(function) or "").description
    definition = {"name": getattr(function, "__name__", ""), "description": words, **members}
    if definition["name"] == "<lambda>":
        raise AuthoringError("a lambda needs a `name`")
    return _of_callable(definition, function)


def _of_mapping(members: Mapping[str, Any], shown: str) -> Offer:
    execute = members.get("execute")
    if not callable(execute):
        raise AuthoringError(f"`{shown}` has no `execute`")
    definition = checked_members({name: each for name, each in members.items() if name != "execute"}, shown)
    return _of_callable(definition, execute)


def _of_callable(definition: dict[str, Any], function: Callable[..., Any]) -> Offer:
    arguments_of = _completed(definition, function)
    wants_context = context_parameter(function)

    def execute(params: Mapping[str, Any], context: ToolContext) -> Any:
        return function(**arguments_of(params), **({wants_context: context} if wants_context else {}))

    return Offer(definition=definition, execute=execute)


def _of_instance(instance: BaseTool, context: ToolContext) -> Offer:
    instance.context = context
    definition = definition_of_class(instance)
    arguments_of = _completed(definition, instance.execute)
    wants_context = context_parameter(instance.execute)

    def execute(params: Mapping[str, Any], context: ToolContext) -> Any:
        answering = copy.copy(instance)  # calls may overlap: each sees its own context and shares what was initialised
        answering.context = context
        return answering.execute(**arguments_of(params), **({wants_context: context} if wants_context else {}))

    return Offer(definition=definition, execute=execute, initialise=instance.initialise, close=instance.close)


def _completed(
    definition: dict[str, Any], function: Callable[..., Any]
) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Complete a definition by the function's signature, unless it has a schema; return what makes its arguments."""
    if any(definition.get(name) is not None for name in ("parameters", "inputSchema", "input_schema")):
        return dict
    signature = Signature(function)
    definition["parameters"] = signature.parameters
    return signature.arguments


def _of_factory(factory: Callable[..., Any], context: ToolContext, shown: str) -> list[Offer]:
    known = {"config": context.config, "session": context.session, "sandboxed": context.sandboxed}
    parameters = inspect.signature(factory).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    arguments = {name: value for name, value in known.items() if takes_all or name in parameters}
    wants_context = context_parameter(factory)
    made = factory(**arguments, **({wants_context: context} if wants_context else {}))
    if made is None:
        raise NotOfferedError(f"the factory `{shown}` offers no tool here")
    many = list(made) if isinstance(made, Sequence) and not isinstance(made, str | bytes) else [made]
    if len(many) > FACTORY_LIMIT:
        raise AuthoringError(f"the factory `{shown}` made {len(many)} tools, {FACTORY_LIMIT} are allowed")
    offers: list[Offer] = []
    for each in many:
        if inspect.isroutine(each) and not hasattr(each, TOOL_MARK):
            raise AuthoringError(f"the factory `{shown}` made something that is no tool")
        offers += offers_of(each, context, shown=shown)
    return [replace(offer, is_for_session=True) for offer in offers]
