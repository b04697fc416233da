"""What is refused before it costs anything, and what is answered from memory."""

import time
from typing import Any

import pytest

from apps.firewall.tools.definition_json import DefinitionInvalidError, read_definition
from apps.firewall.tools.schema import Family, SchemaRefusedError, clean_for_gemini, normalize_schema, normalized
from apps.firewall.tools.schema.limits import DEPTH_LIMIT, SIZE_LIMIT, VALUES_LIMIT
from apps.firewall.tools.schema.normalize import Normalized, NormalizedCache

SOON_S = 5.0


def nested(levels: int, schema: Any = True) -> Any:
    for _ in range(levels):
        schema = {"items": schema}
    return schema


def doubling(generations: int) -> dict[str, Any]:
    """Return a small schema that describes two to the power of so many places."""
    definitions: dict[str, Any] = {str(generations): {"type": "string"}}
    for n in range(generations):
        definitions[str(n)] = {"properties": {side: {"$ref": f"#/$defs/{n + 1}"} for side in "ab"}}
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/0"}}, "$defs": definitions}


def chained(links: int) -> dict[str, Any]:
    """Return a flat schema that is as deep as it has definitions."""
    definitions = {str(n): {"items": {"$ref": f"#/$defs/{n + 1}"}} for n in range(links)}
    return {"type": "object", "properties": {"p": {"$ref": "#/$defs/0"}}, "$defs": definitions}


HOSTILE = {
    "5 MB of text": {"type": "object", "properties": {"p": {"description": "x" * 5_000_000}}},
    "5 MB of places": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(120_000)}},
    "a name of 5 MB": {"type": "object", "properties": {"x" * 5_000_000: {}}},
    "a million values": {"enum": list(range(1_000_000))},
    "100,000 levels": nested(100_000),
    "references that double": doubling(30),
    "references in a chain": chained(5_000),
    "no JSON": {"type": "object", "properties": {"p": {1, 2}}},
    "a name that is no text": {"type": "object", "properties": {1: {}}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_are_refused_soon(name: str) -> None:
    started = time.perf_counter()
    for release in ("2026.9", "2026.2"):
        for family in (None, *Family):
            with pytest.raises(SchemaRefusedError):
                normalize_schema(HOSTILE[name], release=release, provider="google", family=family)
        with pytest.raises(SchemaRefusedError):
            clean_for_gemini(HOSTILE[name], release=release)
    assert time.perf_counter() - started < SOON_S


def test_a_definition_of_5_mb_is_refused_soon() -> None:
    started = time.perf_counter()
    with pytest.raises(DefinitionInvalidError, match="see details") as refused:
        read_definition({"name": "large", "parameters": HOSTILE["5 MB of text"]})
    assert refused.value.details[0]["code"] == "too_large"
    assert time.perf_counter() - started < SOON_S


def test_a_hostile_expression_is_never_searched() -> None:
    schema = {
        "type": "object",
        "properties": {"p": {"type": "string", "pattern": "^(a+)+$", "default": "a" * 50 + "!"}},
    }
    started = time.perf_counter()
    for family in Family:
        normalize_schema(schema, provider=family.value, family=family)
    assert time.perf_counter() - started < SOON_S


def test_a_refusal_says_where() -> None:
    with pytest.raises(SchemaRefusedError, match=f"over {VALUES_LIMIT} places") as refused:
        normalize_schema(doubling(20))
    assert refused.value.path.startswith("/properties/p/properties/a")
    with pytest.raises(SchemaRefusedError, match=f"deeper than {DEPTH_LIMIT} levels"):
        normalize_schema(chained(500))


def test_schemas_just_inside_the_limits_pass() -> None:
    assert normalize_schema(nested(DEPTH_LIMIT - 1), provider="google", family=Family.GEMINI).schema
    assert normalize_schema(chained(DEPTH_LIMIT // 2 - 2)).schema
    assert normalize_schema({"type": "object", "properties": {}, "description": "x" * (SIZE_LIMIT - 100)}).schema
    wide = {"type": "object", "properties": {f"p{n}": {"type": "array"} for n in range(5_000)}}
    assert len(normalize_schema(wide, provider="google", family=Family.GEMINI).schema["properties"]) == 5_000


def test_the_same_question_is_answered_from_memory() -> None:
    schema = {"type": "object", "properties": {"p": {"type": "string", "format": "uri"}}}
    first = normalized(schema, provider="google")
    assert normalized(dict(schema), provider="google") is first
    assert normalized(schema, provider="openai") is not first
    assert normalized(schema, provider="google", family=Family.GEMINI) is not first
    assert normalized({**schema, "title": "other"}, provider="google") is not first
    assert first == normalize_schema(schema, provider="google")


def test_a_name_for_the_schema_saves_writing_it_down() -> None:
    first = normalized({"title": "t"}, digest="digest-of-this-test")
    assert normalized({}, digest="digest-of-this-test") is first


def test_a_refusal_is_not_remembered_and_no_json_is_refused_there_too() -> None:
    for _ in range(2):
        with pytest.raises(SchemaRefusedError):
            normalized(HOSTILE["references that double"])
    for name in ("no JSON", "a name that is no text", "100,000 levels"):
        with pytest.raises(SchemaRefusedError):
            normalized(HOSTILE[name])


def test_memory_is_bounded_by_size_and_keeps_what_was_used_last() -> None:
    cache = NormalizedCache(size_limit=30)
    kept = [Normalized({"title": str(number)}, ()) for number in range(4)]
    for number in range(3):
        cache.put((number,), kept[number], 10)
    assert cache.get((0,)) is kept[0]
    cache.put((3,), kept[3], 10)
    cache.put((3,), kept[0], 10)
    assert [cache.get((number,)) for number in range(4)] == [kept[0], None, kept[2], kept[3]]
    cache.put((4,), kept[0], 31)
    assert len(cache) == 0
