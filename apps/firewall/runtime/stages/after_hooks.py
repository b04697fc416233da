"""Tells plugins what became of a call. They change nothing, and nobody waits for them."""

from collections.abc import Sequence

from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.facts import known_facts
from apps.firewall.runtime.hooks import AfterEvent, Hook, after_tool_call, runtime_rules
from apps.firewall.runtime.ports import Hooks
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.running import ToolOutcome


async def after_hooks_stage(run: Run) -> None:
    """Begin to tell after-hooks of a call that ended. To them a refused one failed, in no time."""
    if run.snapshot is None or run.outcome is None:
        return
    port = run.ports.hooks
    hooks = port.after(run.call.environment, run.tool_name)
    if hooks:
        event = _event(run, port, run.outcome, run.phases.get("execute", 0) if run.is_intended else 0)
        port.later(tell_hooks(port, hooks, run.call, event, release=run.snapshot.dialect))


async def tell_hooks(port: Hooks, hooks: Sequence[Hook], call: Call, event: AfterEvent, *, release: str) -> None:
    """Tell hooks what became of a call, and keep what came of that.

    Args:
        event: masked.
        release: that the call was judged by.
    """
    rules = runtime_rules(release, is_strict=port.is_strict(call.environment))
    await port.report(call, event.tool, await after_tool_call(hooks, event, rules))


def _event(run: Run, port: Hooks, outcome: ToolOutcome, duration_ms: int) -> AfterEvent:
    """Write down what became of the call, masked: whoever observes needs no secret."""
    result = None if outcome.error is not None else dict(outcome.result or {})
    return AfterEvent(
        tool=run.tool_name,
        params=port.masked(dict(run.call.params), run.sensitive),
        duration_ms=duration_ms,
        result=None if result is None else port.masked(result, run.sensitive),
        error=None if outcome.error is None else port.masked(dict(outcome.error), run.sensitive),
        call_id=show_id("call", run.call.id),
        facts=known_facts(run.call),
    )
