"""The run itself, after its intent is on record."""

from apps.firewall.runtime.stages.run import Run


async def execute_stage(run: Run) -> None:
    """Write down that it will run, then run it."""
    assert run.action is not None and run.tool is not None  # noqa: S101 - the stages before
    await run.ports.ledger.record(run.note("call_intent", "started"))
    run.is_intended = True
    run.outcome = await run.ports.executor.run(run.action, run.tool)
