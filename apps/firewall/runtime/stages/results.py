"""What a tool returned, made fit for whoever gets it and safe to store."""

import asyncio
from functools import partial
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.results import settle
from apps.firewall.runtime.results.settling import no_way_on
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.model_calls import CUT_ADVICE
from apps.firewall.tools.parameters import may_take_long
from apps.firewall.tools.schema_walk import properties

STARTS: Final = ("offset", "cursor", "next_offset", "page", "page_token", "start", "skip", "after", "from_line")
SIZES: Final = ("limit", "count", "page_size", "per_page", "lines", "max_results")
"""Params by which tools give their results part by part."""


async def results_stage(run: Run) -> None:
    """Mask the outcome and cut it to its tool's limit; the record gets a copy of its own."""
    outcome = run.outcome
    assert outcome is not None  # noqa: S101 - the run ended
    rules = run.ports.results
    definition = _definition(run)
    work = partial(
        settle,
        outcome,
        rules,
        limit=rules.limit_for(None if definition is None else definition.result_limit),
        sensitive=run.sensitive,
        go_on=no_way_on if definition is None else partial(how_to_go_on, definition.parameters),
    )
    # In a thread: a result that takes long to mask must not hold up other calls.
    run.settled = await asyncio.to_thread(work) if may_take_long(outcome.result) else work()
    run.outcome = run.settled.sent


def _definition(run: Run) -> Definition | None:
    if run.tool is None:
        return None
    try:
        return definition_of(run.tool)
    except FirewallError:  # such a tool was refused before it ran
        return None


def how_to_go_on(schema: JsonObject) -> str:
    """Say how a model gets what a cut leaves out: by the params that the tool has for it, else by asking for less."""
    known = properties(schema)
    start = next((f"`{name}`" for name in STARTS if name in known), "")
    if not start:
        return CUT_ADVICE
    size = next((f" and `{name}`" for name in SIZES if name in known), "")
    return f"For what follows, call it again with {start}{size}."
