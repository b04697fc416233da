"""What a tool returned, made fit for whoever gets it and safe to store."""

import asyncio
from functools import partial

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.results import settle
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.parameters import may_take_long


async def results_stage(run: Run) -> None:
    """Mask the outcome and cut it to its tool's limit; the record gets a copy of its own."""
    outcome = run.outcome
    assert outcome is not None  # noqa: S101 - the run ended
    rules = run.ports.results
    work = partial(settle, outcome, rules, limit=rules.limit_for(_stated_limit(run)), sensitive=run.sensitive)
    # In a thread: a result that takes long to mask must not hold up other calls.
    run.settled = await asyncio.to_thread(work) if may_take_long(outcome.result) else work()
    run.outcome = run.settled.sent


def _stated_limit(run: Run) -> int | None:
    if run.tool is None:
        return None
    try:
        return definition_of(run.tool).result_limit
    except FirewallError:  # such a tool was refused before it ran
        return None
