"""Random schemas: what tools publish, what they should not publish, and what nobody would.

Those that keep the rules are grown from a seed, which is quick and gives large ones; the broken ones are drawn, so that
they shrink.
"""

from random import Random
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "mode", "format", "items", "properties", "required", "a/b", "c~d", "名前", "with space", "")
TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
DEFINED = ("A", "B", "a/b")
REFERENCES = (
    *("#/$defs/A", "#/$defs/B", "#/definitions/A", "#/$defs/a~1b", "#/definitions/B") * 4,
    *("#/$defs/A/properties/a", "#/properties/a", "#/properties/mode/items", "#/anyOf/0", "#", "#/"),
    *("#/$defs/missing", "#anchor", "https://example.org/schema.json"),
)
LITERALS = (None, True, False, 0, 1, 1.0, -3, 0.5, 1e21, -1e-7, "", "x", "y", "text", {"k": 1}, [1])
LIMITS: dict[str, dict[str, Any]] = {
    "string": {"minLength": 1, "maxLength": 2000, "pattern": "^x", "format": "uri", "examples": ["x"]},
    "number": {"minimum": 0, "maximum": 9, "multipleOf": 2, "exclusiveMinimum": 0},
    "integer": {"minimum": 1, "exclusiveMaximum": 9},
    "boolean": {"default": True},
    "null": {},
}
SIDES: dict[str, Any] = {
    "title": "t",
    "description": "d",
    "default": "x",
    "nullable": True,
    "readOnly": True,
    "example": {"$ref": "#/$defs/A"},
    "deprecated": True,
    "~optional": True,
    "$comment": "c",
    "x-own": {"nullable": True},
    "sensitive": True,
}


class Grower:
    """Grows one schema that keeps the rules of JSON Schema 2020-12."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.forms = (
            *(self.scalar, self.array, self.object_, self.union) * 3,
            self.values,
            self.all_of,
            self.reference,
        )

    def root(self) -> Any:
        form = self.random.choice((self.object_, self.object_, self.union, self.all_of, self.reference, self.place))
        schema = form(3)
        for table in ("$defs", "definitions"):
            if isinstance(schema, dict) and self.random.random() < 0.6:
                schema[table] = {name: self.place(2) for name in self.random.sample(DEFINED, 2)}
        return schema

    def place(self, depth: int) -> Any:
        if self.random.random() < 0.05:
            return self.random.choice((True, False, {}))
        schema = (self.scalar if depth <= 0 else self.random.choice(self.forms))(depth)
        for key in self.random.sample(sorted(SIDES), self.random.choice((0, 0, 1, 2))):
            schema.setdefault(key, SIDES[key])
        return schema

    def scalar(self, depth: int) -> dict[str, Any]:
        kind = self.random.choice(sorted(LIMITS))
        limits = self.random.sample(sorted(LIMITS[kind]), min(len(LIMITS[kind]), self.random.choice((0, 1, 2))))
        schema: dict[str, Any] = {"type": kind, **{key: LIMITS[kind][key] for key in limits}}
        if self.random.random() < 0.25:
            schema["type"] = self.random.sample(TYPES, self.random.choice((1, 2, 3)))
        return schema

    def values(self, depth: int) -> dict[str, Any]:
        if self.random.random() < 0.5:
            return {"const": self.random.choice(LITERALS), **self.random.choice(({}, {"type": "string"}))}
        return {"enum": self.random.choices(LITERALS, k=self.random.randint(1, 4)), "type": "string"}

    def array(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "minItems": 1}
        if self.random.random() < 0.7:
            schema[self.random.choice(("items", "items", "items", "contains"))] = self.place(depth - 1)
        if self.random.random() < 0.2:
            schema["prefixItems"] = [self.place(depth - 1)]
        return schema

    def object_(self, depth: int) -> dict[str, Any]:
        names = self.random.sample(NAMES, self.random.randint(0, 3))
        schema: dict[str, Any] = {"type": "object", "properties": {name: self.place(depth - 1) for name in names}}
        for key in self.random.sample(("type", "properties"), self.random.choice((0, 0, 1))):
            del schema[key]
        if self.random.random() < 0.5:
            schema["required"] = self.random.sample([*names, "ghost"], self.random.randint(0, len(names) + 1))
        for key in ("additionalProperties", "not", "propertyNames", "if", "then"):
            if self.random.random() < 0.1:
                schema[key] = self.place(depth - 1)
        for key in ("patternProperties", "dependentSchemas", "$defs"):
            if self.random.random() < 0.1:
                schema[key] = {"A": self.place(depth - 1)}
        return schema

    def union(self, depth: int) -> dict[str, Any]:
        key = self.random.choice(("anyOf", "anyOf", "oneOf"))
        count = self.random.randint(1, 3)
        form = self.random.choice((self.place, self.place, self.object_, self.values))
        variants = [form(depth - 1) for _ in range(count)]
        if self.random.random() < 0.5:
            null = self.random.choice(({"type": "null"}, {"const": None}, {"enum": [None]}))
            variants = [null] if self.random.random() < 0.2 else [*variants, null]
        beside = self.object_(depth - 1) if self.random.random() < 0.3 else {}
        return {**beside, key: variants}

    def all_of(self, depth: int) -> dict[str, Any]:
        beside = self.object_(depth - 1) if self.random.random() < 0.5 else {}
        return {**beside, "allOf": [self.place(depth - 1) for _ in range(self.random.randint(1, 3))]}

    def reference(self, depth: int) -> dict[str, Any]:
        return {"$ref": self.random.choice(REFERENCES)}


def grown(seed: int) -> Any:
    """Return the schema of a seed."""
    return Grower(seed).root()


valid_schemas = st.integers(0, 2**32 - 1).map(grown)

_keys = st.sampled_from(
    [
        *SIDES,
        *(key for limits in LIMITS.values() for key in limits),
        *("$ref", "$defs", "definitions", "$schema", "type", "properties", "required", "items"),
        *("anyOf", "oneOf", "allOf", "not", "enum", "const", "prefixItems", "propertyOrdering"),
    ]
)
_scalars = st.sampled_from(LITERALS[:-2]) | st.sampled_from(REFERENCES + TYPES + NAMES)


def _broken(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(_keys, inner, max_size=5) | st.lists(inner, max_size=3)


broken_schemas = st.recursive(_scalars, _broken, max_leaves=15)
"""JSON that looks like a schema, with anything in any place."""
