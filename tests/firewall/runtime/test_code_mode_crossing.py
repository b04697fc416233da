"""Whatever a process says, the server's side of the bridge hears it, refuses it, or is told of an end."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.code_mode.crossing import Crossing, MisspokeError, OverflowedError
from tests.firewall.runtime.coding import Desk

WORD = "w" * 64
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["search", "describe", "call", "log", "dropped", "returned", "threw", "no_json", "no_code", "too_large", "ready"]
)
TEXTS = st.sampled_from(['{"query":"x"}', '{"id":"x","args":{}}', "{", "", "1", "\ud83d", "\0", '{"id":1}']) | VALUES
LINES = st.fixed_dictionaries(
    {"word": st.just(WORD) | VALUES, "do": KINDS | VALUES},
    optional={
        "text": TEXTS,
        "id": st.sampled_from([1, 2, 0, -1, True, 1.0, "1", None]),
        "level": st.sampled_from(["log", "warn", "error"]) | VALUES,
        "bytes": VALUES,
    },
)


def crossing_of(desk: Desk) -> Crossing:
    async def take(line: bytes) -> None:
        json.loads(line)

    return Crossing(desk, WORD, take)


async def hear(lines: list[bytes]) -> list[Any]:
    desk = Desk(search=[], call={})
    crossing = crossing_of(desk)
    heard: list[Any] = []
    try:
        for line in lines:
            try:
                heard.append(crossing.hear(line))
            except (MisspokeError, OverflowedError) as exc:
                heard.append(exc)
    finally:
        await crossing.cancel()
    assert all(
        operation in {"search", "describe", "call"} and isinstance(params, dict) for operation, params in desk.asked
    )
    return heard


@given(st.lists(LINES, max_size=6))
async def test_lines_of_its_form_have_an_answer(lines: list[dict[str, Any]]) -> None:
    await hear([json.dumps(each).encode() for each in lines])


@given(st.lists(st.binary(max_size=200), max_size=4))
async def test_bytes_are_refused(lines: list[bytes]) -> None:
    assert all(isinstance(each, MisspokeError) for each in await hear(lines))


@pytest.mark.parametrize("word", ["", "w" * 63, "w" * 65, "v" * 64, None, 1, ["w" * 64], "你" * 64])
async def test_a_line_with_another_word_is_refused(word: Any) -> None:
    heard = await hear([json.dumps({"word": word, "do": "returned", "text": "1"}).encode()])

    assert isinstance(heard[0], MisspokeError)


async def test_too_much_is_refused_though_each_line_may_be_said() -> None:
    line = json.dumps({"word": WORD, "do": "threw", "text": "x" * 900_000}).encode()

    assert [type(each) for each in (await hear([line] * 20))[-2:]] == [OverflowedError] * 2
