"""Content filters, on what goes to the tool and on what comes back."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from apps.firewall.engine.content import LAYER, ContentRules, Filtered, Hit, Side
from apps.firewall.runtime.stages.permissions import permissions_stage
from apps.firewall.runtime.stages.run import Run
from apps.firewall.runtime.stages.validate import validate_stage
from apps.firewall.tools.parameters import may_take_long
from apps.firewall.tools.running import ToolOutcome

BLOCKED = "content_blocked"
PARAMS_LIMIT_S = 0.5
RESULT_LIMIT_S = 3.0


async def content_stage(run: Run) -> None:
    """Mask, refuse or warn, as the filters say; what a mask has changed must pass the stages before once more."""
    assert run.tool is not None and run.snapshot is not None  # noqa: S101 - the stages before
    rules = run.snapshot.content
    if run.approved is not None:
        run.filtered = list(run.approved.filtered)
    if not rules.concerns(run.tool.name, "params"):
        return
    found = await _search(rules, run.tool.name, "params", dict(run.call.params), limit_s=PARAMS_LIMIT_S)
    _remember(run, found, "params")
    block = found.block
    if block is not None:
        covered = rules.covered(run.tool.name, "params", dict(run.call.params), limit_s=PARAMS_LIMIT_S)
        run.call = replace(run.call, params=covered)  # the record says where it was, not what
        details = [{"path": place, "code": BLOCKED, "message": _told(block)} for place in block.places]
        raise run.refuse(BLOCKED, _told(block), details, layer=LAYER, rule=block.filter.key)
    if found.is_masked:
        run.call = replace(run.call, params=found.value)
        await validate_stage(run)
        await permissions_stage(run)


async def content_result_stage(run: Run) -> None:
    """Mask what came back, or put an error in its place."""
    assert run.tool is not None and run.snapshot is not None and run.outcome is not None  # noqa: S101
    rules, outcome = run.snapshot.content, run.outcome
    if not rules.concerns(run.tool.name, "result"):
        return
    said = {"result": outcome.result, "error": outcome.error}
    found = await _search(rules, run.tool.name, "result", said, limit_s=RESULT_LIMIT_S)
    _remember(run, found, "result")
    block = found.block
    if block is not None:
        run.outcome = ToolOutcome(ended=outcome.ended, error={"code": BLOCKED, "message": _told(block)})
        if outcome.ended == "completed":
            run.outcome = replace(run.outcome, ended="failed")
    elif found.is_masked:
        run.outcome = replace(outcome, **found.value)


async def _search(rules: ContentRules, tool: str, side: Side, value: Any, *, limit_s: float) -> Filtered:
    search = partial(rules.search, tool, side, value, limit_s=limit_s)
    # In a thread: a long text must not hold up other calls.
    return await asyncio.to_thread(search) if may_take_long(value) else search()


def _remember(run: Run, found: Filtered, side: Side) -> None:
    for hit in found.hits:
        run.filtered.append({"side": side, **hit.to_json()})
        if hit.filter.action == "warn":
            warning = {"path": hit.places[0], "code": "content_warning", "message": _told(hit)}
            if warning not in run.warnings:
                run.warnings.append(warning)


def _told(hit: Hit) -> str:
    return hit.filter.message or f"the filter `{hit.filter.key}` found what it looks for"
