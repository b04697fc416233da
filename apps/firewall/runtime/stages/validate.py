"""The params, made ready for the tool."""

import asyncio
from dataclasses import replace
from functools import partial

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.facts import facts_of
from apps.firewall.runtime.stages.at_host import check_at_host
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.mistakes import in_order
from apps.firewall.tools.own_formats import FormatUncheckedError, format_problems
from apps.firewall.tools.parameters import FAILED, Prepared, may_take_long, needs_folders, prepare_params


async def validate_stage(run: Run) -> None:
    """Make the params ready for the tool: what comes out is what is approved, run and recorded."""
    assert run.tool is not None  # noqa: S101 - the stage before
    if run.call.unreadable:
        problem = {"path": "", "code": "malformed_arguments", "message": run.call.unreadable}
        message = f"the parameters of `{run.tool.name}` cannot be read"
        raise run.refuse(FAILED, message, [problem], layer="parameters")
    if run.call.host is not None:
        check_at_host(run)
        return
    prepared = await _prepare(run, run.tool)
    if definition_of(run.tool).formats and not prepared.problems:
        prepared = await _with_own_formats(run, run.tool, prepared)
    if prepared.problems:
        count = len(prepared.problems)
        message = f"the parameters of `{run.tool.name}` have {count} mistake{'s' * (count > 1)}"
        # An unknown field is often what a missing one was meant to be.
        unknown = [warning for warning in prepared.warnings if warning["code"] == "unknown_field"]
        raise run.refuse(FAILED, message, in_order([*prepared.problems, *unknown]), layer="parameters")
    earlier = [] if run.approved is None else run.approved.warnings
    run.warnings += [each for each in (*earlier, *prepared.warnings) if each not in run.warnings]
    run.call = replace(run.call, params=prepared.params)


async def _prepare(run: Run, tool: ToolEntry) -> Prepared:
    assert run.snapshot is not None  # noqa: S101 - the stage before
    definition = definition_of(tool)
    facts = facts_of(run.call) if definition.context_mappings else None
    prepare = partial(prepare_params, definition, run.call.params, release=run.snapshot.dialect, facts=facts)
    has_paths = needs_folders(definition)
    if not has_paths and not may_take_long(run.call.params):
        return prepare()
    # In a thread: neither looking at files nor a list of thousands may hold up other calls.
    folders = (run.ports.executor.workspace(run.call),) if has_paths else ()
    return await asyncio.to_thread(prepare, folders=folders)


async def _with_own_formats(run: Run, tool: ToolEntry, prepared: Prepared) -> Prepared:
    """Hold params that are ready against formats of the tool's author."""
    try:
        ask = partial(run.ports.executor.check_formats, run.call, tool)
        problems = await format_problems(definition_of(tool), prepared.params, ask)
    except FormatUncheckedError as exc:
        raise run.refuse(exc.code, exc.message, layer="parameters") from exc
    return prepared._replace(problems=problems)
