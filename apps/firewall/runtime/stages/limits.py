"""Whether the call may run now: its size, its rates, and the breaker of its tool; and what its end tells of these."""

from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.limits.port import Counting
from apps.firewall.runtime.limits.rates import estimated_tokens
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.running import failed

LAYER = "limits"


async def limits_stage(run: Run) -> None:
    """Refuse what is too large or too often; what waited for a person was counted when it was asked for."""
    assert run.tool is not None and run.snapshot is not None  # noqa: S101 - the stages before
    await size_check(run)
    definition = definition_of(run.tool)
    counting: Counting = "take" if run.approved is None else "skip"
    limited = await run.ports.limits.admit(run.call, run.tool, definition, counting=counting)
    if limited is not None:
        wait = {"path": "", "code": "retry_after", "message": f"try again in {limited.wait_s} s"}
        raise run.refuse(limited.code, limited.message, [wait], layer=LAYER, rule=limited.rule)


async def size_check(run: Run) -> None:
    """Refuse params that are larger than one call of the tool may be."""
    assert run.tool is not None  # noqa: S101 - the stages before
    definition = definition_of(run.tool)
    most = _tokens_limit(definition)
    tokens = 0 if most is None else estimated_tokens(run.call.params)
    if most is not None and tokens > most:
        message = f"the parameters come to about {tokens} tokens, `{definition.name}` takes {most} a call"
        raise run.refuse("tokens_exceeded", message, layer=LAYER)


def _tokens_limit(definition: Definition) -> int | None:
    return None if definition.rate_limit is None else definition.rate_limit.tokens_per_request


async def limits_end_stage(run: Run) -> None:
    """Withhold a result that is too large; tell the breaker how the tool did, unless it did not run for this call."""
    outcome = run.outcome
    if outcome is None or run.tool is None or not run.is_intended:
        return
    if not run.is_remembered:
        await run.ports.limits.settle(run.call, run.tool, outcome)
    definition = definition_of(run.tool)
    most = _tokens_limit(definition)
    if most is None or outcome.result is None:
        return
    tokens = estimated_tokens(run.call.params) + estimated_tokens(outcome.result)
    if tokens > most:
        message = f"parameters and result come to about {tokens} tokens, `{definition.name}` may use {most} a call"
        run.outcome = failed("tokens_exceeded", f"{message}: the call ran, its result is withheld")
