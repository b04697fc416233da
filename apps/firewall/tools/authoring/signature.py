"""A JSON Schema out of a signature, and arguments out of checked parameters."""

import copy
import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, make_dataclass
from typing import Any, Final, get_type_hints

from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.docstrings import read_docstring
from apps.firewall.tools.authoring.errors import SignatureError, ToolError

Schema = dict[str, Any]
_NULL: Final = {"type": "null"}
_OF_SCHEMAS: Final = ("properties", "$defs", "patternProperties")
_OF_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_OF_ONE: Final = ("items", "additionalProperties", "contains", "propertyNames", "not")


class Signature:
    """The parameters of one function or method, read with pydantic.

    Args:
        function: plain or bound; its annotations are the types, its docstring describes them.
    Raises:
        SignatureError: a parameter is positional only, repeats, or has a type that no JSON has.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        self._function = function
        members = self._members()
        extra = "allow" if self._is_open else "forbid"
        shape = make_dataclass("Params", members, kw_only=True, namespace={"__pydantic_config__": {"extra": extra}})
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(shape)
            schema = self._adapter.json_schema()
        except PydanticUserError as exc:
            raise SignatureError(f"`{self._name}`: {str(exc).splitlines()[0]}") from exc
        self._names = [name for name, *_ in members]
        self.parameters = self._described(_plain(schema))

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Turn parameters into the types of the signature: a date from its text, an object into its model.

        Raises:
            ToolError: with every parameter that does not fit.
        """
        from pydantic import ValidationError

        known = {name: value for name, value in params.items() if name in self._names}
        further = {name: value for name, value in params.items() if name not in self._names}
        if further and not self._is_open:
            raise ToolError(f"unknown parameters: {', '.join(sorted(further))}", code="parameter_validation_failed")
        try:
            filled = self._adapter.validate_python(known)
        except ValidationError as exc:
            told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors())
            raise ToolError(told, code="parameter_validation_failed") from exc
        return {name: getattr(filled, name) for name in self._names} | further

    @property
    def _name(self) -> str:
        return getattr(self._function, "__qualname__", repr(self._function))

    def _members(self) -> list[tuple[str, Any, Any]]:
        try:
            hints = get_type_hints(self._function, include_extras=True)
        except (NameError, TypeError, AttributeError) as exc:
            raise SignatureError(f"`{self._name}`: its annotations cannot be read: {exc}") from exc
        self._is_open = False
        members = []
        for parameter in inspect.signature(self._function).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                self._is_open = True
            elif parameter.kind in {parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL}:
                raise SignatureError(f"`{self._name}`: `{parameter.name}` cannot be given by name")
            elif hints.get(parameter.name) is not ToolContext:
                members.append((parameter.name, hints.get(parameter.name, Any), _default(parameter)))
        return members

    def _described(self, schema: Schema) -> Schema:
        said = read_docstring(inspect.getdoc(self._function) or "").params
        for name, property_schema in schema.get("properties", {}).items():
            if name in said and "description" not in property_schema:
                property_schema["description"] = said[name]
        schema.setdefault("properties", {})
        schema.pop("description", None)
        return schema


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Name the parameter that wants the context; None when there is none."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.annotation is ToolContext or str(parameter.annotation).endswith(ToolContext.__name__):
            return parameter.name
    return None


def _default(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if default is parameter.empty:
        return field()
    if isinstance(default, Hashable):
        return field(default=default)
    return field(default_factory=lambda: copy.deepcopy(default))


def _plain(schema: Schema, *, is_optional: bool = False) -> Schema:
    """Leave out titles made of names, and the null of an optional parameter: providers dislike unions."""
    schema = {name: value for name, value in schema.items() if name != "title"}
    choices = [each for each in schema.get("anyOf", ()) if each != _NULL]
    if is_optional and len(choices) == 1 and len(choices) < len(schema["anyOf"]):
        schema.pop("anyOf")
        schema = {**choices[0], **schema}
    if schema.get("default", ...) is None:
        schema.pop("default")
    for name in _OF_SCHEMAS:
        if isinstance(schema.get(name), dict):
            schema[name] = {
                key: _plain(each, is_optional=name == "properties" and key not in schema.get("required", ()))
                for key, each in schema[name].items()
            }
    for name in _OF_LISTS:
        if isinstance(schema.get(name), list):
            schema[name] = [_plain(each) for each in schema[name]]
    for name in _OF_ONE:
        if isinstance(schema.get(name), dict):
            schema[name] = _plain(schema[name])
    schema.pop("title", None)
    return schema
