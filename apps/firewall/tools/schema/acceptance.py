"""What each provider's endpoint refuses in the parameters of a tool.

Stricter than the normalisation that OpenClaw does: a schema without refusals is one that the endpoint takes. Whoever
writes a tool is told with the provider's name, and `fitting` removes what is left.

Source: the providers' references of function calling, and the errors that their endpoints answer with.
"""

import re
from collections.abc import Iterator
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
GEMINI_ACCEPTED: Final = frozenset(
    {
        *("type", "title", "description", "default", "enum", "nullable", "example"),
        *("properties", "required", "propertyOrdering", "items", "anyOf"),
    }
)
GEMINI_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_TEXTS: Final = ("title", "description")


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
        reason = _gemini_reason(node, keyword, value)
        if reason is not None:
            yield Refusal(path, keyword, reason)
    if node.get("type") == "array" and "items" not in node:
        yield Refusal(path, "items", "an array must describe its items")
    for name, each in (node.get("properties") or {}).items() if isinstance(node.get("properties"), dict) else ():
        yield from _gemini(each, f"{path}/properties/{escape(name)}")
    if isinstance(node.get("items"), dict):
        yield from _gemini(node["items"], f"{path}/items")
    for index, each in enumerate(node["anyOf"]) if isinstance(node.get("anyOf"), list) else ():
        yield from _gemini(each, f"{path}/anyOf/{index}")


def _gemini_reason(node: dict[str, Any], keyword: str, value: Any) -> str | None:
    """Say what is wrong with one keyword of a schema for Gemini; None if nothing is."""
    if keyword not in GEMINI_ACCEPTED:
        return "is not known"
    if keyword == "type" and not (isinstance(value, str) and value in GEMINI_TYPES):
        return "must be one type"
    if keyword in ("properties", "items") and not isinstance(value, dict):
        return "must be an object"
    if keyword in _TEXTS and not isinstance(value, str):
        return "must be text"
    if keyword == "anyOf" and not (isinstance(value, list) and value):
        return "must be a list of schemas"
    if keyword == "enum" and not (isinstance(value, list) and value and all(isinstance(each, str) for each in value)):
        return "must be a list of texts"
    if keyword == "required":
        declared = node.get("properties")
        known = declared if isinstance(declared, dict) else {}
        if not (isinstance(value, list) and value and all(isinstance(each, str) and each in known for each in value)):
            return "must be a list of declared properties"
    return None
