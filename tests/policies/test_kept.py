"""What is worked out of a draft is worked out once, however many ask at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from apps.policies.kept import Kept


def test_several_that_ask_at_once_wait_for_the_one_that_makes() -> None:
    kept: Kept[int] = Kept(2)
    together, going, made = Barrier(4), Event(), []

    def make() -> int:
        going.wait(10)
        made.append(1)
        return 7

    def ask() -> int:
        together.wait(10)
        return kept.get("key", make)

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(ask) for _ in range(4)]
        going.set()
        assert [answer.result(10) for answer in answers] == [7] * 4
    assert made == [1]


def test_the_last_few_values_are_kept() -> None:
    kept: Kept[int] = Kept(2)
    for number in (1, 2, 1, 3):
        assert kept.get(number, lambda number=number: number) == number  # type: ignore[misc]
    assert [kept.knows(number) for number in (1, 2, 3)] == [True, False, True]


def test_what_failed_is_made_again() -> None:
    kept: Kept[int] = Kept(2)

    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kept.get("key", fail)
    assert not kept.knows("key")
    assert kept.get("key", lambda: 1) == 1
