"""Hooks in memory, asked through their runners; what they did is counted, what went wrong with them is kept."""

import asyncio
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import structlog
from django.utils import timezone

from apps.audit.masking import Masker
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.hook_runners.workers import HookWorkers
from apps.firewall.runtime.hooks import AfterEvent, BeforeEvent, Hook, HookReport, Rewrites
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.gateway.database import in_database
from apps.registry.hooks import LiveHook, LiveHooksOf, hook_target, live_hooks, target_ask
from apps.registry.looks import python_tools
from apps.registry.models import HookMoment
from apps.registry.services import FailureDraft, hook_failures_record, hook_tallies_add

log = structlog.get_logger(__name__)

LATER_LIMIT: Final = 512
"""Rounds of after-hooks that may go on at once; calls beyond them are told of nobody, and counted."""
KEPT_A_MINUTE: Final = 60
"""Failures of one hook that are kept one by one; beyond them in one minute they are only counted."""
CLOSING_S: Final = 5.0


class LiveHooks:
    """Fills the port `Hooks`.

    Args:
        load: reads the hooks of every environment.
        known: what was read already.
    """

    def __init__(
        self,
        *,
        load: Callable[[], Mapping[str, LiveHooksOf]] = live_hooks,
        known: Mapping[str, LiveHooksOf] | None = None,
        resolve: Resolve = system_resolve,
    ) -> None:
        self.rewrites = Rewrites()
        self.workers = HookWorkers(python_tools())
        self._load = load
        self._resolve = resolve
        self._hooks = known or {}
        self._reloading = asyncio.Lock()
        self._later: set[asyncio.Task[None]] = set()
        self._counts: dict[uuid.UUID, Counter[str]] = defaultdict(Counter)
        self._kept: Counter[uuid.UUID] = Counter()
        self._minute = -1

    def before(self, environment: str, tool: str) -> Sequence[Hook]:
        return self._hearing(environment, HookMoment.BEFORE, tool)

    def after(self, environment: str, tool: str) -> Sequence[Hook]:
        found = self._hearing(environment, HookMoment.AFTER, tool)
        if len(self._later) < LATER_LIMIT:
            return found
        for each in found:
            self._counts[uuid.UUID(each.name)]["failed"] += 1
        return ()

    def is_strict(self, environment: str) -> bool:
        known = self._hooks.get(environment)
        return known is None or known.is_strict

    def _hearing(self, environment: str, event: str, tool: str) -> Sequence[Hook]:
        known = self._hooks.get(environment)
        if known is None:
            return ()
        return tuple(self._hook(each) for each in known.hearing(event, tool))

    def _hook(self, each: LiveHook) -> Hook:
        async def handler(event: BeforeEvent | AfterEvent) -> Any:
            target = await in_database(hook_target, each.id) if each.target is None else each.target
            return await target_ask(
                target, event, key=each.key, limit_ms=each.limit_ms, workers=self.workers, resolve=self._resolve
            )

        return Hook(
            plugin=each.plugin,
            name=str(each.id),
            handler=handler,
            priority=each.priority,
            limit_ms=each.limit_ms + each.grace_ms,
        )

    async def report(self, call: Call, tool: str, reports: Sequence[HookReport]) -> None:
        at = timezone.now()
        for report in reports:
            self._counts[uuid.UUID(report.hook)][report.status] += 1
        failures = [_failure(call, tool, each, at) for each in reports if each.status == "failed"]
        wanted = [draft for draft in failures if self._is_kept(draft.hook_id, at)]
        if wanted:
            await self._logged(in_database(hook_failures_record, wanted))

    def _is_kept(self, hook_id: uuid.UUID, at: datetime) -> bool:
        minute = int(at.timestamp() // 60)
        if minute != self._minute:
            self._minute, self._kept = minute, Counter()
        self._kept[hook_id] += 1
        return self._kept[hook_id] <= KEPT_A_MINUTE

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(self._logged(work))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    def masked(self, value: Any, sensitive: tuple[str, ...]) -> Any:
        return Masker(sensitive).value("", value)

    async def reload(self) -> None:
        """Read which hooks there are now. A database that does not answer changes nothing."""
        async with self._reloading:
            self._hooks = await in_database(self._load)

    async def flush(self) -> None:
        """Write down how often hooks were asked since the last time."""
        counts, self._counts = self._counts, defaultdict(Counter)
        if not counts:
            return
        try:
            await in_database(lambda: hook_tallies_add(counts, at=timezone.now()))
        except Exception:
            for hook_id, each in counts.items():
                self._counts[hook_id] += each
            raise

    async def close(self) -> None:
        """Give after-hooks some seconds, write down what is counted, and end every process."""
        if self._later:
            _, late = await asyncio.wait(set(self._later), timeout=CLOSING_S)
            for task in late:
                task.cancel()
        await self._logged(self.flush())
        await self.workers.close()

    async def _logged(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as exc:  # noqa: BLE001 - what hooks did must never cost a call
            log.warning("hooks.not_kept", error=type(exc).__name__)


def _failure(call: Call, tool: str, report: HookReport, at: datetime) -> FailureDraft:
    return FailureDraft(
        hook_id=uuid.UUID(report.hook),
        at=at,
        kind=report.kind,
        cause=report.cause,
        said=report.said,
        tool=tool,
        call_id=call.id,
        duration_ms=report.duration_ms,
    )
