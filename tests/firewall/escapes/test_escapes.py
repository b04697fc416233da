"""Every attempt through every door is held, and the page in docs/ lists them all."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from apps.firewall.sandbox.levels import offer
from tests.firewall.escapes.attempts import ATTEMPTS, Attempt
from tests.firewall.escapes.doors import DOORS, NEEDS, Outside, outside, through
from tests.firewall.escapes.files_and_addresses import (
    ADDRESSES,
    FILES,
    AddressAttempt,
    FileAttempt,
    through_connector,
    through_files,
)
from tests.firewall.escapes.page import families, listed


@pytest.fixture
async def around(tmp_path: Path) -> AsyncIterator[Outside]:
    async with outside(tmp_path) as made:
        yield made


@pytest.mark.unhurried
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
async def test_a_program_is_held(attempt: Attempt, door: str, around: Outside) -> None:
    problem = offer().lacks(NEEDS[door])
    if problem:
        pytest.skip(problem)

    assert await through(door, attempt, around) == ""


@pytest.mark.unhurried
@pytest.mark.parametrize("attempt", FILES, ids=lambda attempt: attempt.name)
async def test_a_path_is_held(attempt: FileAttempt, around: Outside) -> None:
    assert await through_files(attempt, around) == ""


@pytest.mark.unhurried
@pytest.mark.parametrize("attempt", ADDRESSES, ids=lambda attempt: attempt.name)
async def test_an_address_is_refused_before_any_packet(attempt: AddressAttempt, around: Outside) -> None:
    assert await through_connector(attempt, around) == ""


def test_the_page_lists_every_attempt_and_nothing_else() -> None:
    names = [name for _, name, _ in families()]

    assert len(set(names)) == len(names) >= 80
    assert listed() == names
