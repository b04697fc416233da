"""The round after a call: hooks are told at the same time what became of it, and change nothing."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from apps.firewall.runtime.hooks.handlers import AfterEvent, Hook, HookFailedError, HookReport, ask, in_order, since_ms
from apps.firewall.runtime.hooks.json_copy import NotJsonError, json_copy
from apps.firewall.runtime.hooks.rules import HookRules


async def after_tool_call(hooks: Sequence[Hook], event: AfterEvent, rules: HookRules) -> tuple[HookReport, ...]:
    """Tell hooks what became of a call; return what each did, in the order of their priority.

    A handler that fails is reported and nothing else: neither the result nor the other handlers know of it.
    """
    if not rules.own_copy:
        # one copy for all of them: they may write into it, the caller's own stays as it is
        shared = _copied(event)
        return tuple(await asyncio.gather(*(_tell(hook, shared, rules) for hook in in_order(hooks))))
    return tuple(await asyncio.gather(*(_tell(hook, _copied(event), rules) for hook in in_order(hooks))))


async def _tell(hook: Hook, event: AfterEvent | NotJsonError, rules: HookRules) -> HookReport:
    started = time.monotonic()
    try:
        if isinstance(event, NotJsonError):
            raise HookFailedError(f"it could not be told: {event.message}")
        await ask(hook, event, limit_ms=rules.after_limit_ms)
    except HookFailedError as exc:
        return HookReport.of_failure(hook, exc, started=started)
    return HookReport(plugin=hook.plugin, hook=hook.name, status="passed", duration_ms=since_ms(started))


def _copied(event: AfterEvent) -> AfterEvent | NotJsonError:
    try:
        return replace(
            event,
            params=json_copy(event.params),
            result=json_copy(event.result),
            error=json_copy(event.error),
            facts=json_copy(dict(event.facts)),
        )
    except NotJsonError as exc:
        return exc
