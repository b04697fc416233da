"""What tools raised, on its way from calls to where their authors read it."""

import uuid
from collections import Counter
from typing import Final

import structlog
from django.utils import timezone

from apps.firewall.runtime.ports import ToolFailure
from apps.gateway.database import in_database
from apps.registry.services import ToolFailureDraft, tool_failure_record

log = structlog.get_logger(__name__)

KEPT_A_MINUTE: Final = 20
"""Failures of one tool that are kept one by one; a tool that always raises must not keep the database busy."""
TOOLS_LIMIT: Final = 2_000


class FailuresOfTools:
    """Fills the port `ToolFailures`."""

    def __init__(self) -> None:
        self._kept: Counter[tuple[str, str]] = Counter()
        self._minute = -1

    async def raised(self, failure: ToolFailure) -> None:
        if not self._is_kept(failure):
            return
        draft = ToolFailureDraft(
            environment=failure.environment,
            tool=failure.tool,
            call_id=uuid.UUID(failure.call_id),
            at=timezone.now(),
            code=failure.code,
            exception=failure.cause.exception,
            message=failure.cause.message,
            traceback=failure.cause.traceback,
        )
        try:
            await in_database(tool_failure_record, draft)
        except Exception as exc:  # noqa: BLE001 - what an author reads must never cost a call
            log.warning("tool_failures.not_kept", tool=failure.tool, error=type(exc).__name__)

    def _is_kept(self, failure: ToolFailure) -> bool:
        minute = int(timezone.now().timestamp() // 60)
        if minute != self._minute or len(self._kept) > TOOLS_LIMIT:
            self._minute, self._kept = minute, Counter()
        self._kept[failure.environment, failure.tool] += 1
        return self._kept[failure.environment, failure.tool] <= KEPT_A_MINUTE
