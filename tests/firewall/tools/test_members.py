"""Members of an object that are known, and what is said of those that are not."""

from typing import Any

import pytest

from apps.firewall.tools.members import Members, members_of, unknown_members

CALL = Members(frozenset({"agent", "context", "steps"}), {"context": Members(frozenset({"sender_id"}))})


def test_an_unknown_member_is_named_with_what_was_meant() -> None:
    (mistake,) = unknown_members({"agnt": "x"}, CALL)

    assert (mistake["path"], mistake["code"]) == ("agnt", "unknown_field")
    assert "did you mean `agent`?" in mistake["message"]


def test_members_inside_are_looked_at_too_also_in_lists() -> None:
    nested = Members(frozenset({"items"}), {"items": CALL})
    value = {"items": [{"agent": "a"}, {"context": {"sender": "7"}, "x": 1}]}

    assert [each["path"] for each in unknown_members(value, nested)] == ["items[1].x", "items[1].context.sender"]


def test_what_is_no_object_is_another_rules_matter() -> None:
    assert unknown_members("text", CALL) == [] and unknown_members({"context": 7}, CALL) == []


def test_a_name_without_end_is_cut_and_answered_soon() -> None:
    (mistake,) = unknown_members({"x" * 1_000_000: 1}, CALL)

    assert len(mistake["message"]) < 1_000


@pytest.mark.parametrize(
    ("schema", "known"),
    [
        ({"type": "object", "properties": {"a": {}}}, Members(frozenset("a"))),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": True}, None),
        ({"type": "object"}, Members(frozenset())),
        ({"type": ["object", "null"], "additionalProperties": {"type": "string"}}, None),
        ({"type": "array", "items": {"$ref": "#/components/schemas/A"}}, Members(frozenset("a"))),
        ({"oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "object"}]}, Members(frozenset("a"))),
        ({"oneOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}]}, None),
        ({"type": "string"}, None),
    ],
)
def test_they_are_read_from_a_schema(schema: Any, known: Members | None) -> None:
    assert members_of(schema, {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}) == known
