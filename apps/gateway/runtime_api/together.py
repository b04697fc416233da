"""Several calls of one turn: side by side as far as their tools let them, the answers in the order of the calls."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def groups(alone: Sequence[bool]) -> Iterator[range]:
    """Part places into groups that follow one another: each that runs alone is one, what lies between is another."""
    begin = 0
    for place, is_alone in enumerate(alone):
        if is_alone:
            if begin < place:
                yield range(begin, place)
            yield range(place, place + 1)
            begin = place + 1
    if begin < len(alone):
        yield range(begin, len(alone))


async def side_by_side(works: Sequence[Callable[[], Awaitable[T]]], *, limit: int) -> list[T]:
    """Do pieces of work, at most `limit` at the same time; one that fails does not keep the others from their end.

    Returns:
        What each gave, in their order.
    Raises:
        BaseException: what the first that failed raised, when all have ended.
    """
    room = asyncio.Semaphore(limit)

    async def in_turn(work: Callable[[], Awaitable[T]]) -> T:
        async with room:
            return await work()

    ended = await asyncio.gather(*map(in_turn, works), return_exceptions=True)
    for each in ended:
        if isinstance(each, BaseException):
            raise each
    return [each for each in ended if not isinstance(each, BaseException)]
