"""A JSON Schema out of a signature, and arguments out of checked parameters."""

import contextlib
import copy
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, cast, get_args, get_origin, get_type_hints

from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.docstrings import read_docstring
from apps.firewall.tools.authoring.errors import SignatureError, ToolError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

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
        self._function = function
        self._defaults: dict[str, Any] = {}
        self._is_open = False
        self._members = self._read_members()
        self.parameters = self._described(self._schema())

    def arguments(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Turn parameters into the types of the signature: a date from its text, an object into its model.

        Raises:
            ToolError: with every parameter that does not fit.
        """
        from pydantic import ValidationError

        try:
            filled: dict[str, Any] = self._adapter().validate_python(dict(params))
        except ValidationError as exc:
            told = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors())
            raise ToolError(told, code="parameter_validation_failed") from exc
        return {name: copy.deepcopy(value) for name, value in self._defaults.items() if name not in filled} | filled

    @property
    def _name(self) -> str:
        return getattr(self._function, "__qualname__", repr(self._function))

    def _adapter(self) -> "TypeAdapter[Any]":
        import typing_extensions
        from pydantic import TypeAdapter

        # A TypedDict, for it is made and read several times as fast as a model or a dataclass, and takes any name.
        shape = cast(Any, typing_extensions).TypedDict("Params", self._members)
        shape.__pydantic_config__ = {"extra": "allow" if self._is_open else "forbid"}
        return TypeAdapter(shape)

    def _schema(self) -> Schema:
        """Make the schema, out of known parts where each parameter has a plain type of its own."""
        from pydantic.errors import PydanticUserError

        try:
            parts = {name: _known_schema(hint) for name, hint in self._members.items()}
            if any(part is None for part in parts.values()):
                return _plain(self._adapter().json_schema())
        except PydanticUserError as exc:
            raise SignatureError(f"`{self._name}`: {str(exc).splitlines()[0]}") from exc
        required = [name for name in parts if name not in self._defaults]
        whole = {"type": "object", "properties": parts, "additionalProperties": self._is_open}
        return _plain({**whole, "required": required} if required else whole)

    def _read_members(self) -> dict[str, Any]:
        from typing import NotRequired

        try:
            hints = get_type_hints(self._function, include_extras=True)
        except (NameError, TypeError, AttributeError) as exc:
            raise SignatureError(f"`{self._name}`: its annotations cannot be read: {exc}") from exc
        members: dict[str, Any] = {}
        for parameter in inspect.signature(self._function).parameters.values():
            hint = hints.get(parameter.name, Any)
            if parameter.kind is parameter.VAR_KEYWORD:
                self._is_open = True
            elif parameter.kind in {parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL}:
                raise SignatureError(f"`{self._name}`: `{parameter.name}` cannot be given by name")
            elif hint is ToolContext:
                continue
            elif parameter.default is parameter.empty:
                members[parameter.name] = hint
            else:
                members[parameter.name] = NotRequired[hint]
                self._defaults[parameter.name] = parameter.default
        return members

    def _described(self, schema: Schema) -> Schema:
        said = read_docstring(inspect.getdoc(self._function) or "").params
        for name, of_property in schema.setdefault("properties", {}).items():
            if name in said and "description" not in of_property:
                of_property["description"] = said[name]
            if self._defaults.get(name) is not None and "default" not in of_property:
                with contextlib.suppress(ValueError):  # a default that no JSON has is not shown
                    of_property["default"] = _json(self._defaults[name])
        schema.pop("description", None)
        return schema


def _known_schema(hint: Any) -> Schema | None:
    """Describe a type on its own; None where the whole has to be read together: definitions, names from outside."""
    inner = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
    if get_origin(inner) is Annotated:
        return None
    try:
        hash(inner)
    except TypeError:
        return None
    schema = _schema_of(inner)
    return None if "$defs" in schema or "$ref" in schema else schema


@lru_cache(maxsize=2048)
def _schema_of(hint: Any) -> Schema:
    from pydantic import TypeAdapter

    return TypeAdapter(hint).json_schema()


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Name the parameter that wants the context; None when there is none."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.annotation is ToolContext or str(parameter.annotation).endswith(ToolContext.__name__):
            return parameter.name
    return None


def _json(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | bool):
        return value.value if isinstance(value, Enum) else value
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        return to_jsonable_python(value)
    except PydanticSerializationError as exc:
        raise ValueError(str(exc)) from exc


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
