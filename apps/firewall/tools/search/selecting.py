"""Which tool of a catalogue a model means, and with what arguments.

Nothing here knows a tool outside the catalogue, so no answer tells whether one exists.

Source: OpenClaw, "Tool Search", section "API".
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from apps.firewall.errors import FirewallError
from apps.firewall.tools.mistakes import Problem, shown
from apps.firewall.tools.near import did_you_mean
from apps.firewall.tools.schema_walk import forms, properties, resolved
from apps.firewall.tools.search.descriptors import Descriptor, JsonObject

Arguments: TypeAlias = dict[str, Any]

ARGS: Final = "args"
SELECTORS: Final = ("id", "name")
"""Params that may name the tool, the first that does wins; the other may be a param of the tool itself."""
OTHER_WORDS: Final = ("arguments", "parameters", "params")
"""What else models call `args`, where it holds an object and the tool has no such param."""
NAMED_LIMIT: Final = 10


class ToolUnknownError(FirewallError):
    """The catalogue has no such tool: it never had, or the tool is gone or denied by now."""

    code = "tool_unknown"

    def __init__(self, selector: str, hint: str = "") -> None:
        super().__init__(f"no tool {shown(selector)} can be called here{hint}")
        self.selector = selector


class SelectorAmbiguousError(FirewallError):
    """More than one tool may be meant; `ids` lists them."""

    code = "tool_selector_ambiguous"

    def __init__(self, message: str, ids: Sequence[str]) -> None:
        named = ", ".join(f"`{each}`" for each in ids[:NAMED_LIMIT])
        super().__init__(f"{message}: {named}{', …' * (len(ids) > NAMED_LIMIT)}")
        self.ids = tuple(ids)


class CallRequestError(FirewallError):
    """A request to call a tool that cannot be read; `details` lists every mistake."""

    code = "tool_call_invalid"

    def __init__(self, details: Sequence[Problem]) -> None:
        super().__init__("; ".join(each["message"] for each in details))
        self.details = list(details)


class Catalogue:
    """The tools of a run, to be found by id and by exact name."""

    def __init__(self, descriptors: Iterable[Descriptor]) -> None:
        self.descriptors = tuple(descriptors)
        self._by_id = {each.id: each for each in self.descriptors}
        self._by_name: dict[str, list[Descriptor]] = {}
        for each in self.descriptors:
            self._by_name.setdefault(each.name, []).append(each)

    def meant(self, selector: object) -> tuple[Descriptor, ...]:
        """Return every tool that goes by an id or an exact name; an id is nobody's name."""
        if not isinstance(selector, str):
            return ()
        wanted = selector.strip()
        exact = self._by_id.get(wanted)
        return (exact,) if exact is not None else tuple(self._by_name.get(wanted, ()))

    def find(self, selector: str) -> Descriptor:
        """Return the one tool that goes by an id or an exact name.

        Raises:
            ToolUnknownError: none does.
            SelectorAmbiguousError: several have this name.
        """
        found = self.meant(selector)
        if not found:
            raise ToolUnknownError(selector, did_you_mean(selector.strip(), (*self._by_name, *self._by_id)))
        if len(found) > 1:
            raise SelectorAmbiguousError(
                f"several tools are named {shown(selector)}, call one by its id", [each.id for each in found]
            )
        return found[0]


def find(catalogue: Catalogue | Iterable[Descriptor], selector: str) -> Descriptor:
    """Return the one tool of a catalogue that goes by an id or an exact name; errors as of `Catalogue.find`."""
    return _catalogue(catalogue).find(selector)


def read_call(params: JsonObject, catalogue: Catalogue | Iterable[Descriptor]) -> tuple[Descriptor, Arguments]:
    """Read which tool is to be called with what, also where a model laid the tool's own params beside `id`.

    A field that names no tool, or that the tool's own schema asks for, stays a param of the tool.

    Raises:
        CallRequestError: no tool is named, or `args` cannot be read.
        ToolUnknownError: the catalogue has no such tool.
        SelectorAmbiguousError: several tools are named, or a field may be either a name or a param.
    """
    tools = _catalogue(catalogue)
    selector = _selector(params, tools)
    tool = tools.find(params[selector])
    own = _param_names(tool.parameters)
    holder = _holder(params, own)
    nested = {} if holder is None else _object(holder, params[holder])
    beside = {name: value for name, value in params.items() if name not in (selector, holder)}
    for name in SELECTORS:
        if name in beside and _is_selector_too(name, beside[name], tool, own, tools):
            del beside[name]
    _refuse_conflicts(nested, beside)
    return tool, {**beside, **nested}


def describe(descriptor: Descriptor) -> dict[str, Any]:
    """Return all that a model may know of a tool: the schema in full; that of its result where it can be relied on."""
    told: dict[str, Any] = {"id": descriptor.id, "name": descriptor.name, "source": descriptor.source}
    if descriptor.label:
        told["label"] = descriptor.label
    told["description"] = descriptor.description
    if not descriptor.is_trusted:
        told["trusted"] = False
    told["parameters"] = dict(descriptor.parameters)
    if descriptor.is_trusted and descriptor.output is not None:
        told["outputSchema"] = dict(descriptor.output)
    return told


def _catalogue(catalogue: Catalogue | Iterable[Descriptor]) -> Catalogue:
    return catalogue if isinstance(catalogue, Catalogue) else Catalogue(catalogue)


def _selector(params: JsonObject, tools: Catalogue) -> str:
    """Name the param that names the tool: the first that leads to one, else the first that could."""
    given = [name for name in SELECTORS if isinstance(params.get(name), str) and params[name].strip()]
    if not given:
        message = "`id` is required: the id of a tool as a search gave it, or its exact name"
        raise CallRequestError([{"path": "id", "code": "required_field_missing", "message": message}])
    return next((name for name in given if tools.meant(params[name])), given[0])


def _param_names(schema: JsonObject) -> frozenset[str]:
    """Name the params of a tool, wherever its schema says them: at its root, behind a reference, in a form of it."""
    whole = list(resolved(schema, schema))
    whole += [part for each in tuple(whole) for form in forms(each) for part in resolved(schema, form)]
    return frozenset(name for part in whole for name in properties(part))


def _holder(params: JsonObject, own: frozenset[str]) -> str | None:
    """Name the param that holds the arguments; None where they lie beside the selector.

    `args` may be a param of the tool itself: then only an object is taken for the arguments.
    """
    if params.get(ARGS) is not None and (ARGS not in own or _is_object(params[ARGS])):
        return ARGS
    others = (name for name in OTHER_WORDS if name not in own and _is_object(params.get(name)))
    return next(others, ARGS if ARGS in params and ARGS not in own else None)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, str) and _parsed(value) is not None)


def _object(name: str, value: object) -> Arguments:
    if value is None:
        return {}
    found = value if isinstance(value, Mapping) else _parsed(value) if isinstance(value, str) else None
    if found is None:
        message = f"`{name}` must be an object with the tool's parameters, got {shown(value)}"
        raise CallRequestError([{"path": name, "code": "type_mismatch", "message": message}])
    return dict(found)


def _parsed(text: str) -> dict[str, Any] | None:
    """Read the text of a JSON object, which some models send in place of the object."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_selector_too(name: str, value: object, tool: Descriptor, own: frozenset[str], tools: Catalogue) -> bool:
    """Say whether a second selector only repeats the first.

    Raises:
        SelectorAmbiguousError: it names another tool, or this one and is a param of it besides.
    """
    meant = tools.meant(value)
    if not meant:
        return False
    if meant != (tool,):
        ids = list(dict.fromkeys([tool.id, *(each.id for each in meant)]))
        message = f"`{name}` names another tool than the one that is called; put params of the tool into `args`"
        raise SelectorAmbiguousError(message, ids)
    if name in own:
        message = f"`{name}` may name the tool or be a param of it; put params of the tool into `args`"
        raise SelectorAmbiguousError(message, [tool.id])
    return True


def _refuse_conflicts(nested: Arguments, beside: Arguments) -> None:
    twice = [name for name in beside if name in nested and nested[name] != beside[name]]
    if twice:
        raise CallRequestError(
            [
                {
                    "path": name,
                    "code": "given_twice",
                    "message": f"`{name}` is given beside `args` and in it, with different values",
                }
                for name in twice
            ]
        )
