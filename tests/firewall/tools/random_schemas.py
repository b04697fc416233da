"""Random JSON Schemas, and values that look as models write them: right, in the wrong type, or wrong."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

NAMES = st.sampled_from(["a", "b", "c.d", "e[0]", 'f"', "id", "tags"])
TEXTS = st.sampled_from(
    [
        *("", " ", "x", "abc", "1", "0", "-5", "3.0", "3.7", "1e2", "0.1", "true", "No", "yes", "a,b", "1;2", "1,x"),
        *("null", "[1,2]", '["1","2"]', '{"a":1}', '{"a":"1","b":"yes"}', "{", "[", "2026-01-31", "0x10", "1_0"),
        *("９", "NaN"),
    ]
)
NUMBERS = st.integers(-3, 12) | st.sampled_from([0.0, 1.0, 0.5, 3.7, 2.0, 1e20])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS | st.text(max_size=4)
VALUES: SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
PARAMS = st.dictionaries(NAMES, VALUES, max_size=5)


def _with(required: dict[str, Any], **optional: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.fixed_dictionaries({name: st.just(value) for name, value in required.items()}, optional=optional)


LEAVES: SearchStrategy[Any] = st.one_of(
    _with({"type": "string"}, minLength=st.integers(0, 2), maxLength=st.integers(1, 4), pattern=st.just("^[a-z0-9]*$")),
    _with({"type": "integer"}, minimum=st.integers(-3, 3), maximum=st.integers(3, 12), multipleOf=st.integers(1, 3)),
    _with({"type": "number"}, exclusiveMinimum=st.integers(-3, 1), exclusiveMaximum=st.integers(3, 120)),
    _with({"type": "boolean"}),
    _with({"type": "null"}),
    st.lists(st.sampled_from(["string", "integer", "number", "boolean", "null"]), min_size=1, unique=True).map(
        lambda types: {"type": types}
    ),
    st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr).map(lambda options: {"enum": options}),
    SCALARS.map(lambda value: {"const": value}),
    st.just({"$ref": "#/$defs/shared"}),
    st.booleans(),
)


def _object(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "minProperties": st.integers(0, 1),
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        },
    )


def _array(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.integers(0, 2), "maxItems": st.integers(1, 3), "uniqueItems": st.booleans()},
    )


def _combined(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    keywords = st.sampled_from(["anyOf", "oneOf", "allOf"])
    return st.builds(lambda keyword, parts: {keyword: parts}, keywords, st.lists(inner, min_size=1, max_size=3))


SCHEMAS: SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: _object(inner) | _array(inner) | _combined(inner), max_leaves=8
)
ROOTS: SearchStrategy[dict[str, Any]] = st.builds(
    lambda root, shared: {**root, "$defs": {"shared": shared}},
    _object(SCHEMAS),
    LEAVES.filter(lambda leaf: leaf != {"$ref": "#/$defs/shared"}),
)
"""Schemas with an object at the root, and one shared part that they may refer to."""


def _defaulted(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    plain = inner.filter(lambda schema: isinstance(schema, dict))
    return st.builds(lambda schema, default: {**schema, "default": default}, plain, VALUES)


FILLED: SearchStrategy[dict[str, Any]] = st.builds(
    lambda root, shared: {**root, "$defs": {"shared": shared}},
    _object(st.recursive(LEAVES | _defaulted(LEAVES), lambda inner: _object(inner) | _array(inner) | _combined(inner))),
    _defaulted(LEAVES.filter(lambda leaf: leaf != {"$ref": "#/$defs/shared"})),
)
"""The same with defaults here and there, right and wrong ones."""
