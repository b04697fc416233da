"""Tells plugins what became of a call. They change nothing, and nobody waits for them."""

from collections.abc import Sequence

from apps.firewall.identifiers import show_id
from apps.firewall.runtime.facts import known_facts
from apps.firewall.runtime.hooks import AfterEvent, Hook, HookRules, after_tool_call, runtime_rules
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
        rules = runtime_rules(run.snapshot.dialect, is_strict=port.is_strict)
        duration_ms = run.phases.get("execute", 0) if run.is_intended else 0
        port.later(_tell(run, hooks, rules, run.outcome, duration_ms))


async def _tell(run: Run, hooks: Sequence[Hook], rules: HookRules, outcome: ToolOutcome, duration_ms: int) -> None:
    event = _event(run, run.ports.hooks, outcome, duration_ms)
    reports = await after_tool_call(hooks, event, rules)
    await run.ports.hooks.report(run.call, event.tool, reports)


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
