"""Whether plugins let the call pass, with which params, and whether they want a person asked."""

from collections.abc import Iterable
from typing import Any

from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import RefusedError
from apps.firewall.runtime.facts import known_facts
from apps.firewall.runtime.hooks import BeforeEvent, BeforeOutcome, Rewrite, before_tool_call, runtime_rules
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.remote_json import plain_text

REASON_LETTERS = 2_000
CODES = {"veto": "hook_blocked", "failure": "hook_failed"}


async def before_hooks_stage(run: Run) -> None:
    """Ask before-hooks about the call, once: what they decided of an approved one lies in its action."""
    assert run.tool is not None and run.snapshot is not None  # noqa: S101 - the stages before
    if run.approved is not None:
        run.hook_changes = list(run.approved.hook_changes)
        return
    port = run.ports.hooks
    hooks = port.before(run.call.environment, run.tool.name)
    if not hooks:
        return
    event = BeforeEvent(
        tool=run.tool.name,
        params=dict(run.call.params),
        call_id=show_id("call", run.call.id),
        facts=known_facts(run.call),
    )
    rules = runtime_rules(run.snapshot.dialect, is_strict=port.is_strict(run.call.environment))
    outcome = await before_tool_call(hooks, event, rules)
    await port.report(run.call, run.tool.name, outcome.reports)
    if outcome.blocked:
        raise _refusal(run, outcome)
    run.wish = outcome.wish
    if outcome.rewrites:
        port.rewrites.put(str(run.call.id), outcome.params)
        run.hook_changes = changes_of(outcome)
        run.is_rewritten = True


def changes_of(outcome: BeforeOutcome) -> list[dict[str, Any]]:
    """Write what hooks rewrote as a diff: `{"plugin", "member", "kind"}`, with `before` and `after` where there is one.

    The last returned params count as a whole, so all of it is the doing of one hook.
    """
    plugin = next((each.plugin for each in reversed(outcome.reports) if each.status == "rewrote"), "")
    return [{"plugin": plugin, **change} for change in _changes(outcome.rewrites)]


def _changes(rewrites: Iterable[Rewrite]) -> Iterable[dict[str, Any]]:
    for each in rewrites:
        change = {"member": each.member, "kind": each.kind}
        if each.kind != "added":
            change["before"] = each.before
        if each.kind != "removed":
            change["after"] = each.after
        yield change


def _refusal(run: Run, outcome: BeforeOutcome) -> RefusedError:
    reason = plain_text(outcome.reason, REASON_LETTERS)
    return run.refuse(CODES[outcome.kind], reason, layer="hooks", rule=outcome.by)
