"""What providers accept as the parameters of a tool, written down a second time and as strictly as they are said to be.

Independent of `apps.firewall.tools.schema`: nothing is imported from there.
"""

import re
from typing import Any, Literal, Self

import jsonschema
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

DRAFTS = {
    None: jsonschema.Draft202012Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
}
NOT_AT_THE_ROOT = {"anyOf", "oneOf", "allOf", "enum", "not"}


class GeminiSchema(BaseModel):
    """The message `Schema` of the Gemini API, without the limits of values that older models refuse."""

    model_config = ConfigDict(extra="forbid", strict=True)

    type: Literal["string", "number", "integer", "boolean", "array", "object", "null"] | None = None
    title: str = ""
    description: str = ""
    nullable: bool = False
    enum: list[str] | None = Field(None, min_length=1)
    default: Any = None
    example: Any = None
    properties: dict[str, "GeminiSchema"] | None = None
    required: list[str] | None = Field(None, min_length=1)
    property_ordering: list[str] | None = Field(None, alias="propertyOrdering")
    items: "GeminiSchema | None" = None
    any_of: list["GeminiSchema"] | None = Field(None, alias="anyOf", min_length=1)

    @model_validator(mode="after")
    def _members_agree(self) -> Self:
        if not set(self.required or ()) <= set(self.properties or ()):
            raise ValueError("required names what is no property")
        if self.type == "array" and self.items is None:
            raise ValueError("items are missing")
        return self


def openai_refuses(schema: Any) -> str | None:
    """Say why OpenAI's endpoints refuse a schema; None if they take it."""
    reason = _root_refused(schema) or _no_json_schema(schema)
    if reason is None and any(each.get("type") == "array" and "items" not in each for each in _schemas(schema)):
        return "array schema missing items"
    return reason


def anthropic_refuses(schema: Any) -> str | None:
    """Say why Anthropic's endpoint refuses a schema; None if it takes it."""
    reason = _root_refused(schema) or _no_json_schema(schema)
    if reason is None and not all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in schema["properties"]):
        return "property keys should match the pattern"
    return reason


def gemini_refuses(schema: Any) -> str | None:
    """Say why Gemini's endpoint refuses a schema; None if it takes it."""
    reason = _root_refused(schema)
    if reason is not None:
        return reason
    try:
        GeminiSchema.model_validate(schema)
    except ValidationError as exc:
        return str(exc)
    return None


def _root_refused(schema: Any) -> str | None:
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "the root must be of the type object"
    if not isinstance(schema.get("properties"), dict):
        return "object schema missing properties"
    return "not at the root" if NOT_AT_THE_ROOT & schema.keys() else None


def _no_json_schema(schema: dict[str, Any]) -> str | None:
    draft = DRAFTS.get(schema.get("$schema"))
    if draft is None:
        return "unknown draft"
    try:
        draft.check_schema(schema)
    except jsonschema.SchemaError as exc:
        return exc.message
    for each in _schemas(schema):
        if "$ref" in each and not _resolves(each["$ref"], schema):
            return "unresolvable reference"
    return None


def _resolves(reference: str, root: Any) -> bool:
    if reference == "#":
        return True
    if not reference.startswith("#/"):
        return False
    value = root
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False
    return True


def _schemas(node: Any) -> list[dict[str, Any]]:
    """List a schema and those below it."""
    if not isinstance(node, dict):
        return []
    found = [node]
    for key, value in node.items():
        if key in ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas"):
            found += [each for member in value.values() for each in _schemas(member)]
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems") or (key == "items" and isinstance(value, list)):
            found += [each for member in value for each in _schemas(member)]
        elif key in ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"):
            found += _schemas(value)
    return found
