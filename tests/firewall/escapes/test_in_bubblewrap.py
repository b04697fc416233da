"""Every attempt of a command in bubblewrap is held."""

import pytest

from apps.firewall.sandbox.levels import offer
from tests.firewall.escapes.attempts import ATTEMPTS, Attempt
from tests.firewall.escapes.doors import NEEDS, Outside, through

DOOR = "isolated"
pytestmark = [
    pytest.mark.unhurried,
    pytest.mark.skipif(bool(offer().lacks(NEEDS[DOOR])), reason=offer().lacks(NEEDS[DOOR]) or "-"),
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
async def test_it_is_held(attempt: Attempt, around: Outside) -> None:
    assert await through(DOOR, attempt, around) == ""
