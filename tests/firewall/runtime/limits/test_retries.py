"""A failure that may pass is tried again, as often as the policy says and no oftener."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.limits.retries import PAUSE_CEILING_S, RETRIES_CEILING, pause_s, run_repeatedly
from apps.firewall.tools.definition import RetryPolicy
from apps.firewall.tools.running import ToolOutcome, failed

BUSY = failed("tool_server_busy", "busy")
FINE = ToolOutcome(result={"n": 1})
DIED = failed("tool_crashed", "signal 11")
WRONG = failed("tool_failed", "no such city")


class Tool:
    """Ends as it is told, then as the last time."""

    def __init__(self, *ends: ToolOutcome) -> None:
        self.ends = list(ends)
        self.runs = 0

    async def __call__(self) -> ToolOutcome:
        self.runs += 1
        return self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]


def policy(retries: int) -> RetryPolicy:
    return RetryPolicy(max_retries=retries, delay_ms=0)


@pytest.mark.parametrize(
    ("ends", "retries", "expected", "runs"),
    [
        ((FINE,), 3, FINE, 1),
        ((BUSY, BUSY, FINE), 3, FINE, 3),
        ((BUSY,), 2, BUSY, 3),
        ((BUSY, WRONG), 3, WRONG, 2),
        ((DIED, FINE), 3, FINE, 2),
        ((WRONG,), 3, WRONG, 1),
        ((BUSY,), 0, BUSY, 1),
        ((BUSY,), 10_000, BUSY, 1 + RETRIES_CEILING),
    ],
)
async def test_it_runs_until_it_ends_otherwise_or_has_run_enough(
    ends: tuple[ToolOutcome, ...], retries: int, expected: ToolOutcome, runs: int
) -> None:
    tool = Tool(*ends)

    outcome, made = await run_repeatedly(tool, policy(retries))

    assert (outcome, made, tool.runs) == (expected, runs, runs)


async def test_what_it_raises_is_raised() -> None:
    async def broken() -> ToolOutcome:
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        await run_repeatedly(broken, policy(3))


@given(st.integers(1, 40), st.integers(0, 10_000))
def test_pauses_grow_up_to_a_ceiling_and_jitter_takes_at_most_half(failed_attempts: int, delay_ms: int) -> None:
    plain = RetryPolicy(max_retries=40, delay_ms=delay_ms, jitter=False)
    pause = pause_s(plain, failed_attempts)
    assert pause == min(delay_ms / 1000 * 2 ** (failed_attempts - 1), PAUSE_CEILING_S)
    assert pause / 2 <= pause_s(RetryPolicy(max_retries=40, delay_ms=delay_ms), failed_attempts) <= pause
    fixed = RetryPolicy(max_retries=40, delay_ms=delay_ms, jitter=False, backoff="fixed")
    assert pause_s(fixed, failed_attempts) == min(delay_ms / 1000, PAUSE_CEILING_S)
