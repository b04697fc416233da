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
