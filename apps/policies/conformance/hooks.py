"""Adapter of the area `hooks`: the releases as recorded, without what our own runtime insists on."""

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.runtime.hooks import BeforeEvent, BeforeOutcome, Hook, before_tool_call, hook_rules


class _RecordedHandlerError(Exception):
    """What a recorded handler throws."""


def before(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `before_tool_call`."""
    called: list[str] = []
    seen: list[Any] = []

    def hook_of(recorded: Mapping[str, Any]) -> Hook:
        async def handler(event: BeforeEvent) -> Any:
            called.append(recorded["pluginId"])
            seen.append(deepcopy(event.params))
            event.params.update(recorded.get("mutate") or {})
            if "throws" in recorded:
                raise _RecordedHandlerError(recorded["throws"])
            return recorded.get("returns")

        return Hook(plugin=recorded["pluginId"], handler=handler, priority=recorded.get("priority") or 0)

    event = BeforeEvent(tool=given["toolName"], params=given["params"])
    rules = hook_rules(dialect, strict=False)
    outcome = asyncio.run(before_tool_call([hook_of(each) for each in given["hooks"]], event, rules))
    return {"called": called, "paramsSeen": seen, "outcome": _shown(outcome)}


def _shown(outcome: BeforeOutcome) -> dict[str, Any]:
    if outcome.blocked:
        return {"blocked": True, "reason": outcome.reason}
    return {"blocked": False, "params": outcome.params}
