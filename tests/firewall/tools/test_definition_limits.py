"""What a definition may not hold, wherever it comes from: it would break whoever stores or walks it."""

from typing import Any

import pytest

from apps.firewall.tools.definition_json import DEPTH_LIMIT, DefinitionInvalidError, definition_json, read_definition


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"not": schema}
    return {"type": "object", **schema}


def test_a_definition_as_deep_as_may_be_goes_there_and_back() -> None:
    definition = read_definition({"name": "deep", "parameters": nested(DEPTH_LIMIT - 5)})

    assert read_definition(definition_json(definition)).digest == definition.digest


@pytest.mark.parametrize("levels", [DEPTH_LIMIT, 400, 100_000])
def test_a_deeper_one_is_refused_before_anything_walks_it(levels: int) -> None:
    with pytest.raises(DefinitionInvalidError) as refusal:
        read_definition({"name": "deep", "parameters": nested(levels)}, path="tools[3].")

    assert refusal.value.details == [
        {"path": "tools[3]", "code": "too_deep", "message": f"it is deeper than {DEPTH_LIMIT} levels"}
    ]


@pytest.mark.parametrize(
    ("members", "path", "code"),
    [
        ({"sandbox": {"memory_bytes": -1}}, "sandbox.memory_bytes", "minimum_violation"),
        ({"sandbox": {"file_bytes": 0}}, "sandbox.file_bytes", "minimum_violation"),
        ({"timeout_ms": -5}, "timeout_ms", "minimum_violation"),
        ({"timeout": -0.1}, "timeout_ms", "minimum_violation"),
        ({"timeout": float("nan")}, "timeout_ms", "bad_type"),
        ({"timeout": float("inf")}, "timeout_ms", "bad_type"),
        ({"timeout": 1e300}, "", "bad_number"),
        ({"retry": {"max_retries": -1}}, "retry.max_retries", "minimum_violation"),
        ({"rate_limit": {"requests_per_minute": 0}}, "rate_limit.requests_per_minute", "minimum_violation"),
        ({"parameters": {"type": "object", "maximum": 1e25}}, "", "bad_number"),
        ({"parameters": {"type": "object", "maximum": -1e300}}, "", "bad_number"),
        ({"description": "x" * 1_100_000}, "", "too_large"),
        ({"examples": [{"parameters": {"q": "x" * 1_100_000}}]}, "", "too_large"),
    ],
    ids=str,
)
def test_numbers_and_sizes_that_break_what_reads_them_are_refused(members: Any, path: str, code: str) -> None:
    with pytest.raises(DefinitionInvalidError) as refusal:
        read_definition({"name": "odd", **members})
    assert (path, code) in {(each["path"], each["code"]) for each in refusal.value.details}
