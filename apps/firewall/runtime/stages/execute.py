"""The run itself, after its intent is on record; or the queue, for a call that is run later."""

from functools import partial

from apps.firewall.runtime.call import Action
from apps.firewall.runtime.completion import complete_first
from apps.firewall.runtime.stages.approval import check_drift
from apps.firewall.runtime.stages.perform import perform
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.progress import reported_to


async def execute_stage(run: Run) -> None:
    """Write down that it will run, then run it; hand a call that is run later to the queue instead."""
    assert run.action is not None and run.tool is not None  # noqa: S101 - the stages before
    if run.call.deferral is not None:
        await complete_first(_put(run, run.action))
        return
    await complete_first(_intend(run))
    board = run.ports.progress
    try:
        with reported_to(partial(board.report, run.call)):
            if run.approved is not None and run.approval_id is not None:
                await check_drift(run, run.approved)  # once more: writing the record has taken its time
            run.outcome = await perform(run)
    finally:
        board.ended(run.call)


async def _put(run: Run, action: Action) -> None:
    await run.ports.queue.put(run.call, action, run.sensitive)
    run.is_queued = True


async def _intend(run: Run) -> None:
    await run.ports.ledger.record(run.note("call_intent", "started"))
    run.is_intended = True
