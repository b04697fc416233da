"""No system call of a tool reaches other processes, the machine or the kernel, at any level."""

import pytest

from apps.firewall.sandbox.levels import offer
from tests.firewall.escapes.doors import Outside
from tests.firewall.escapes.system_calls import CALL_DOORS, CALLS, LEVELS, through_calls

pytestmark = [
    pytest.mark.unhurried,
    pytest.mark.skipif(bool(offer().seccomp.problem), reason=offer().seccomp.problem or "-"),
]


@pytest.mark.parametrize("door", CALL_DOORS)
async def test_every_attempt_is_held(door: str, around: Outside) -> None:
    if offer().lacks(LEVELS[door]):
        pytest.skip(offer().lacks(LEVELS[door]))

    problems = await through_calls(door, around)

    assert {name: problem for name, problem in problems.items() if problem} == {}
    assert len(problems) >= 60


def test_every_attempt_has_a_name_of_its_own() -> None:
    assert len({attempt.name for attempt in CALLS}) == len(CALLS)
