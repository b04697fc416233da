"""Fills the port `Limits`: rules and breakers in memory, counters and kept results in the database."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

import structlog
from django.db import DatabaseError
from django.utils import timezone

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.source import ToolEntry
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.executors.dispatch import executor_of
from apps.firewall.runtime.limits.breaker import REMOTE, Breaker, BreakerRule, may_pass
from apps.firewall.runtime.limits.port import Counting, Limited, Remembered
from apps.firewall.runtime.limits.rates import Share, shares_of
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.running import ToolOutcome
from apps.gateway.database import in_database
from apps.gateway.people import environment_named
from apps.limits.breaking import breaker_settle, breaker_try
from apps.limits.counting import Refused, shares_look, shares_take
from apps.limits.keeping import Kept, result_keep, result_recall
from apps.limits.selectors import InForce

log = structlog.get_logger(__name__)


class LiveLimits:
    """Limits of this installation.

    Args:
        load: reads what holds in every environment, by slug.
    """

    def __init__(self, load: Callable[[], Mapping[str, InForce]]) -> None:
        self._load = load
        self._held: Mapping[str, InForce] = {}
        self._reloading = asyncio.Lock()

    async def reload(self) -> None:
        """Read what holds now. A database that does not answer changes nothing."""
        async with self._reloading:
            self._held = await in_database(self._load)

    async def admit(
        self, call: Call, tool: ToolEntry, definition: Definition, *, counting: Counting = "take"
    ) -> Limited | None:
        held, at = self._held[call.environment], timezone.now()
        left_alone = self._left_alone(held, tool, at)
        if left_alone is not None:
            return left_alone
        shares = tuple(shares_of(call, definition, held.rates, dialect_named(held.release)))
        if shares and counting != "skip":
            refused = await in_database(_take if counting == "take" else _look, call.environment, shares, at)
            if refused is not None:
                return _rate_refusal(refused)
        return None if counting == "look" else await self._try(held, call, tool, at)

    async def settle(self, call: Call, tool: ToolEntry, outcome: ToolOutcome) -> None:
        held = self._held[call.environment]
        is_failure = may_pass(outcome)
        if held.rule is None or not _has_breaker(tool) or outcome.ended == "cancelled":
            return
        if is_failure or tool.name in held.breakers:
            code = "" if outcome.error is None else outcome.error["code"]
            try:
                await in_database(_settle, call.environment, tool.name, held.rule, is_failure, code)
                await self.reload()
            except DatabaseError as exc:  # the call has run: what it answered stays
                log.warning("limits.not_counted", call=str(call.id), error=type(exc).__name__)

    async def recall(self, call: Call, key: str) -> Remembered | None:
        try:
            kept = await in_database(result_recall, key, at=timezone.now())
        except DatabaseError as exc:  # the call runs as one whose result nobody kept
            log.warning("limits.not_recalled", call=str(call.id), error=type(exc).__name__)
            return None
        return None if kept is None else Remembered(kept.result, _origin(kept))

    async def keep(self, call: Call, key: str, definition: Definition, outcome: ToolOutcome) -> None:
        try:
            await in_database(_keep, call, key, definition, outcome)
        except DatabaseError as exc:  # the call has run and has its answer
            log.warning("limits.not_kept", call=str(call.id), error=type(exc).__name__)

    def _left_alone(self, held: InForce, tool: ToolEntry, at: datetime) -> Limited | None:
        breaker = held.breakers.get(tool.name)
        if breaker is None or held.rule is None or not _has_breaker(tool):
            return None
        return _alone(tool, breaker, held.rule, at) if breaker.state(held.rule, at) == "open" else None

    async def _try(self, held: InForce, call: Call, tool: ToolEntry, at: datetime) -> Limited | None:
        """Let one call try a tool whose pause is over; the others of all processes wait."""
        breaker = held.breakers.get(tool.name)
        if breaker is None or held.rule is None or not _has_breaker(tool) or breaker.opened_at is None:
            return None
        if await in_database(_try_once, call.environment, tool.name, held.rule, at):
            return None
        return _alone(tool, breaker.tried(at), held.rule, at)


def _has_breaker(tool: ToolEntry) -> bool:
    executor = executor_of(tool)
    return executor is not None and executor.kind in REMOTE


def _alone(tool: ToolEntry, breaker: Breaker, rule: BreakerRule, at: datetime) -> Limited:
    wait_s = max(1, round((breaker.next_try(rule) - at).total_seconds()))
    message = f"`{tool.name}` failed {breaker.failures} times in a row and is left alone; try again in {wait_s} s"
    return Limited("tool_unavailable", message, wait_s, "breaker")


def _rate_refusal(refused: Refused) -> Limited:
    share, wait_s = refused.share, refused.wait_s
    calls = "1 call" if share.per_minute == 1 else f"{share.per_minute} calls"
    message = f"too many calls: {share.name} allows {calls} a minute; try again in {wait_s} s"
    return Limited("rate_limited", message, wait_s, share.name)


def _origin(kept: Kept) -> str:
    seconds = max(0, int((timezone.now() - kept.kept_at).total_seconds()))
    return f"the result of {show_id('call', kept.call_id)}, {seconds} s ago: an equal call is not run again so soon"


def _take(environment: str, shares: tuple[Share, ...], at: datetime) -> Refused | None:
    return shares_take(environment_named(environment), shares, at=at)


def _look(environment: str, shares: tuple[Share, ...], at: datetime) -> Refused | None:
    return shares_look(environment_named(environment), shares, at=at)


def _try_once(environment: str, tool: str, rule: BreakerRule, at: datetime) -> bool:
    return breaker_try(environment_named(environment), tool, rule, at=at)


def _settle(environment: str, tool: str, rule: BreakerRule, is_failure: bool, code: str) -> None:
    breaker_settle(
        environment_named(environment), tool, rule, is_failure=is_failure, error_code=code, at=timezone.now()
    )


def _keep(call: Call, key: str, definition: Definition, outcome: ToolOutcome) -> None:
    assert definition.cache is not None  # noqa: S101 - the stage looked
    result_keep(
        environment_named(call.environment),
        key,
        tool=definition.name,
        result=outcome.result,
        call_id=call.id,
        ttl_ms=definition.cache.ttl_ms,
        at=timezone.now(),
    )
