"""Running a tool again that failed for a reason that may pass."""

import random
from collections.abc import Awaitable, Callable
from typing import Final

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt

from apps.firewall.runtime.limits.breaker import may_pass
from apps.firewall.tools.definition import RetryPolicy
from apps.firewall.tools.running import ToolOutcome

RETRIES_CEILING: Final = 10
PAUSE_CEILING_S: Final = 60.0


async def run_repeatedly(attempt: Callable[[], Awaitable[ToolOutcome]], policy: RetryPolicy) -> tuple[ToolOutcome, int]:
    """Run something until it ends otherwise than by a failure that may pass, or the policy's runs are used up.

    Only for what may run twice. At most `RETRIES_CEILING` further runs, whatever the policy says.

    Returns:
        How the last run ended, and how many there were.
    """
    made = 0

    async def counted() -> ToolOutcome:
        nonlocal made
        made += 1
        return await attempt()

    retrying = AsyncRetrying(
        stop=stop_after_attempt(1 + min(policy.max_retries, RETRIES_CEILING)),
        wait=lambda state: pause_s(policy, state.attempt_number),
        retry=retry_if_result(may_pass),
        retry_error_callback=_last,
    )
    return await retrying(counted), made


def pause_s(policy: RetryPolicy, failed_attempts: int) -> float:
    """Tell how long to wait after so many failed runs."""
    pause = policy.delay_ms / 1000
    if policy.backoff == "exponential":
        pause *= 2 ** (failed_attempts - 1)
    pause = min(pause, PAUSE_CEILING_S)
    return pause * random.uniform(0.5, 1) if policy.jitter else pause  # noqa: S311 - spreads load, hides nothing


def _last(state: RetryCallState) -> ToolOutcome:
    assert state.outcome is not None  # noqa: S101 - it has run
    outcome: ToolOutcome = state.outcome.result()
    return outcome
