"""What each provider's endpoint refuses in the parameters of a tool.

Stricter than the normalisation that OpenClaw does: a schema without refusals is one that the endpoint takes. Whoever
writes a tool is told with the provider's name, and `fitting` removes what is left.

Source: the providers' references of function calling, and the errors that their endpoints answer with.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import jsonschema_rs

from apps.firewall.tools.schema.limits import escape
from apps.firewall.tools.schema.references import leads_somewhere
from apps.firewall.tools.schema.releases import LISTS, LITERAL, MAPS, SCHEMAS


class Family(StrEnum):
    """Providers that accept the same schemas."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One place that an endpoint refuses; `path` is a JSON Pointer to the schema that holds the keyword."""

    path: str
    keyword: str
    reason: str


ROOT_REFUSED: Final = ("anyOf", "oneOf", "allOf", "enum", "const", "not")
PROPERTY_NAME: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def refusals(schema: Any, family: Family) -> tuple[Refusal, ...]:
    """List what an endpoint refuses in the parameters of a tool; an accepted schema gives an empty list.

    Args:
        schema: within the limits of this package.
    """
    root = tuple(_root(schema))
    if not isinstance(schema, dict):
        return root
    if family is Family.GEMINI:
        return (*root, *_gemini(schema, ""))
    found = [*root, *_vocabulary(schema), *unresolved(schema, schema)]
    if family is Family.OPENAI:
        found += _arrays(schema, "")
    elif isinstance(schema.get("properties"), dict):
        found += [
            Refusal("/properties", name, "names of parameters are 1 to 64 letters, digits, `_`, `.` and `-`")
            for name in schema["properties"]
            if not PROPERTY_NAME.fullmatch(name)
        ]
    return tuple(found)


def _root(schema: Any) -> Iterator[Refusal]:
    if not isinstance(schema, dict):
        yield Refusal("", "type", "parameters must be a schema that describes an object")
        return
    if schema.get("type") != "object":
        yield Refusal("", "type", "parameters must be of the type object")
    if not isinstance(schema.get("properties"), dict):
        yield Refusal("", "properties", "the object must name its properties, even none")
    for keyword in ROOT_REFUSED:
        if keyword in schema:
            yield Refusal("", keyword, "is not accepted at the root")


def _vocabulary(schema: dict[str, Any]) -> Iterator[Refusal]:
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as exc:
        steps = [f"/{escape(str(step))}" for step in exc.instance_path]
        keyword = str(exc.instance_path[-1]) if steps else ""
        yield Refusal("".join(steps[:-1]), keyword, exc.message[:200])
    except (ValueError, jsonschema_rs.ReferencingError) as exc:
        yield Refusal("", "$schema", f"is no JSON Schema that is known: {str(exc)[:200]}")


def places(node: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Yield the schemas that stand directly in a schema, each with its JSON Pointer."""
    for key, value in node.items():
        if key in LITERAL:
            continue
        if isinstance(value, dict) and key in MAPS:
            yield from ((f"{path}/{key}/{escape(name)}", each) for name, each in value.items())
        elif isinstance(value, dict) and key in SCHEMAS:
            yield f"{path}/{key}", value
        elif isinstance(value, list) and key in LISTS:
            yield from ((f"{path}/{key}/{index}", each) for index, each in enumerate(value))


def unresolved(node: Any, root: dict[str, Any], path: str = "") -> Iterator[Refusal]:
    """List the references below a schema that lead to nothing inside the document."""
    if not isinstance(node, dict):
        return
    reference = node.get("$ref")
    if "$ref" in node and not (isinstance(reference, str) and leads_somewhere(reference, root)):
        yield Refusal(path, "$ref", "references must lead to a definition inside the schema")
    for place, each in places(node, path):
        yield from unresolved(each, root, place)


def _arrays(node: Any, path: str) -> Iterator[Refusal]:
    if not isinstance(node, dict):
        return
    if node.get("type") == "array" and "items" not in node:
        yield Refusal(path, "items", "an array must describe its items")
    for place, each in places(node, path):
        yield from _arrays(each, place)


def _gemini(node: Any, path: str) -> Iterator[Refusal]:
    if not isinstance(node, dict):
        yield Refusal(path, "", "must be an object")
        return
    for keyword, value in node.items():
        reason = gemini_problem(keyword, value)
        if reason is not None:
            yield Refusal(path, keyword, reason)
    if node.get("type") == "array" and "items" not in node:
        yield Refusal(path, "items", "an array must describe its items")
    if not is_declared(node):
        yield Refusal(path, "required", "must name declared properties")
    properties = node.get("properties")
    for name, each in properties.items() if isinstance(properties, dict) else ():
        yield from _gemini(each, f"{path}/properties/{escape(name)}")
    if isinstance(node.get("items"), dict):
        yield from _gemini(node["items"], f"{path}/items")
    for index, each in enumerate(node["anyOf"]) if isinstance(node.get("anyOf"), list) else ():
        yield from _gemini(each, f"{path}/anyOf/{index}")


def is_declared(node: dict[str, Any]) -> bool:
    """Say whether every required name is a property."""
    required, properties = node.get("required"), node.get("properties")
    if not isinstance(required, list):
        return True
    declared = properties if isinstance(properties, dict) else {}
    return all(isinstance(name, str) and name in declared for name in required)


def gemini_problem(keyword: str, value: Any) -> str | None:
    """Say what is wrong with one keyword of a schema for Gemini; None if nothing is."""
    rule = GEMINI_RULES.get(keyword)
    if rule is None:
        return "is not known"
    words, holds = rule
    return None if holds(value) else f"must be {words}"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


GEMINI_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_ANYTHING: Final = ("anything", lambda _: True)
_TEXT: Final = ("text", lambda value: isinstance(value, str))
_OBJECT: Final = ("an object", lambda value: isinstance(value, dict))
_TEXTS: Final = ("a list of texts", _are_texts)
GEMINI_RULES: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "type": ("one type", lambda value: isinstance(value, str) and value in GEMINI_TYPES),
    "title": _TEXT,
    "description": _TEXT,
    "default": _ANYTHING,
    "example": _ANYTHING,
    "nullable": ("true or false", lambda value: isinstance(value, bool)),
    "enum": _TEXTS,
    "properties": _OBJECT,
    "required": _TEXTS,
    "propertyOrdering": _TEXTS,
    "items": _OBJECT,
    "anyOf": ("a list of schemas", lambda value: isinstance(value, list) and bool(value)),
}
"""Keyword that Gemini knows -> what its value must be, in words and as a test."""
