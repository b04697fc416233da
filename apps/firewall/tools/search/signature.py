"""The form of a schema in a few words, as TypeScript writes types: `{ id: string; mode?: "drip" | "flood" }`.

A model that reads it may call the tool without asking for the schema. Whatever a schema holds, it stays one line of
printable characters and of bounded size.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

UNKNOWN: Final = "unknown"
MORE: Final = "…"
TYPES: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
LITERALS: Final = 12
"""Values of an enumeration that are named."""
LITERAL_LIMIT: Final = 40
NAME_LIMIT: Final = 64
NODES: Final = 400
"""Schemas inside a schema that are looked at."""
NESTED: Final = 30
"""Schemas around a schema that is looked at."""
DEPTHS: Final = ((5, True), (3, True), (2, True), (2, False), (1, False))
"""How deep objects are opened, and whether values are named: tried in turn until the text is short enough."""
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_POINTER: Final = re.compile(r"#/(\$defs|definitions)/([^/]+)")


def signature(schema: object, *, limit: int = 400, is_whole: bool = False) -> str:
    """Write the form of a schema in at most so many characters; `unknown` when it cannot be said.

    Args:
        limit: at least 10.
        is_whole: nothing may be left out: a form that is open, too long, or said in part only is `unknown`.
    """
    for depth, has_values in DEPTHS[:1] if is_whole else DEPTHS:
        writer = _Writer(root=schema, has_values=has_values)
        text = writer.form(schema, depth)
        if len(text) <= limit:
            return text if writer.is_whole or not is_whole else UNKNOWN
    return UNKNOWN if is_whole else _shortened(schema, limit)


def _shortened(schema: object, limit: int) -> str:
    """Write as many members as fit, those that are required first."""
    members = _Writer(root=schema, has_values=False).members(schema, 1) if isinstance(schema, Mapping) else []
    members.sort(key=lambda member: "?:" in member)
    while members:
        text = f"{{ {'; '.join([*members, MORE])} }}"
        if len(text) <= limit:
            return text
        members.pop()
    return UNKNOWN


@dataclass
class _Writer:
    root: object
    has_values: bool
    is_whole: bool = True
    left: int = NODES
    nested: int = 0

    def form(self, schema: object, depth: int) -> str:
        self.left -= 1
        if schema is False:
            return "never"
        if not isinstance(schema, Mapping) or self.left < 0 or self.nested >= NESTED:
            return self._part(UNKNOWN)
        self.nested += 1
        text = self._form(schema, depth)
        self.nested -= 1
        return text

    def _form(self, schema: Mapping[str, Any], depth: int) -> str:
        if "$ref" in schema:
            return self._referred(schema["$ref"], depth)
        for word in ("const", "enum"):
            if word in schema:
                return self._values([schema["const"]] if word == "const" else schema["enum"])
        for word, sign in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
            if isinstance(schema.get(word), Sequence) and schema[word]:
                return _joined([self.form(each, depth) for each in schema[word][: self.left + 1]], sign)
        return self._typed(schema, depth)

    def members(self, schema: Mapping[str, Any], depth: int) -> list[str]:
        properties = schema.get("properties")
        required = schema.get("required")
        needed = set(filter(_is_text, required)) if isinstance(required, Sequence) else set()
        written = []
        for name, each in properties.items() if isinstance(properties, Mapping) else ():
            if self.left <= 0:
                self.is_whole = False
                break
            written.append(f"{self._name(name)}{':' if name in needed else '?:'} {self.form(each, depth - 1)}")
        return written

    def _part(self, text: str) -> str:
        self.is_whole = False
        return text

    def _typed(self, schema: Mapping[str, Any], depth: int) -> str:
        kinds = schema.get("type")
        if isinstance(kinds, str):
            kinds = [kinds]
        if not isinstance(kinds, Sequence) or not kinds:
            kinds = ["object"] if "properties" in schema else ["array"] if "items" in schema else []
        forms = [self._kind(kind, schema, depth) for kind in kinds[:8]]
        if schema.get("nullable") is True:
            forms.append("null")
        return _joined(forms, " | ") if forms else self._part(UNKNOWN)

    def _kind(self, kind: object, schema: Mapping[str, Any], depth: int) -> str:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        return TYPES.get(kind, "") if isinstance(kind, str) and kind in TYPES else self._part(UNKNOWN)

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        others = schema.get("additionalProperties")
        if depth <= 0:
            return self._part("object")
        if members := self.members(schema, depth):
            self.is_whole = self.is_whole and (others is None or others is False)
            return f"{{ {'; '.join(members)} }}"
        if isinstance(others, Mapping):
            return f"Record<string, {self.form(others, depth - 1)}>"
        return "{}" if others is False else self._part("object")

    def _array(self, schema: Mapping[str, Any], depth: int) -> str:
        items = schema.get("items")
        if not isinstance(items, Mapping):
            return self._part(f"{UNKNOWN}[]")
        form = self.form(items, depth)
        return f"{form}[]" if form.isalpha() else f"Array<{form}>"

    def _values(self, values: object) -> str:
        if isinstance(values, list) and self.has_values and 0 < len(values) <= LITERALS:
            literals = [_literal(each) for each in values]
            if UNKNOWN not in literals and all(len(each) <= LITERAL_LIMIT for each in literals):
                return _joined(literals, " | ")
        kinds = {type(each) for each in values} if isinstance(values, list) else set()
        plain = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}
        return self._part(_joined(sorted(plain.get(kind, UNKNOWN) for kind in kinds), " | ") or UNKNOWN)

    def _referred(self, pointer: object, depth: int) -> str:
        found = _POINTER.fullmatch(pointer) if isinstance(pointer, str) else None
        if found is None or not isinstance(self.root, Mapping) or depth <= 0:
            return self._part(UNKNOWN)
        shelf = self.root.get(found[1])
        target = shelf.get(found[2]) if isinstance(shelf, Mapping) else None
        return self.form(target, depth - 1)

    def _name(self, name: object) -> str:
        text = str(name)
        if len(text) > NAME_LIMIT:
            return self._part(_literal(text[:NAME_LIMIT] + MORE))
        return text if _IDENTIFIER.fullmatch(text) else _literal(text)


def _joined(forms: Sequence[str], sign: str) -> str:
    return sign.join(dict.fromkeys(forms))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _literal(value: object) -> str:
    """Write a value as JSON, nothing in it unseen; anything but a plain value is `unknown`."""
    if not isinstance(value, str | int | float | bool | None) or (isinstance(value, int) and abs(value) > 2**63):
        return UNKNOWN
    text = json.dumps(value[: LITERAL_LIMIT * 2] if isinstance(value, str) else value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(json.loads(text))
