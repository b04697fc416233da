"""Which calls of a turn run side by side, and that one which fails keeps no other from its end."""

import asyncio
from functools import partial

import pytest

from apps.gateway.runtime_api.together import groups, side_by_side


@pytest.mark.parametrize(
    ("alone", "expected"),
    [
        ("", []),
        ("...", [[0, 1, 2]]),
        ("!", [[0]]),
        ("..!.", [[0, 1], [2], [3]]),
        ("!!..", [[0], [1], [2, 3]]),
    ],
)
def test_what_runs_alone_parts_the_others(alone: str, expected: list[list[int]]) -> None:
    assert [list(places) for places in groups([each == "!" for each in alone])] == expected


async def test_no_more_run_at_once_than_may_and_answers_keep_their_order() -> None:
    running, most = 0, 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20 - number):
            await asyncio.sleep(0)
        running -= 1
        return number

    answers = await side_by_side([partial(work, number) for number in range(20)], limit=8)

    assert answers == list(range(20)) and most == 8


async def test_the_first_failure_is_told_when_all_have_ended() -> None:
    ended: list[int] = []

    async def work(number: int) -> int:
        await asyncio.sleep(0)
        if number in {1, 2}:
            raise RuntimeError(str(number))
        await asyncio.sleep(0.01)
        ended.append(number)
        return number

    with pytest.raises(RuntimeError, match="1"):
        await side_by_side([partial(work, number) for number in range(5)], limit=8)
    assert ended == [0, 3, 4]
