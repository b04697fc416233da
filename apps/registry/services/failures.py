"""What tools raised, kept for their authors: the newest of each tool, for some weeks, with secrets masked."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from apps.audit.masking import Masker
from apps.registry.models import Tool, ToolFailure

KEPT: Final = 20
KEPT_FOR: Final = timedelta(days=30)
MESSAGE_LETTERS: Final = 1_000
TRACE_LETTERS: Final = 8_100


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailureDraft:
    """One failure as a process saw it, before it is masked."""

    environment: str
    tool: str
    call_id: uuid.UUID
    at: datetime
    code: str
    exception: str
    message: str
    traceback: str


def tool_failure_record(draft: ToolFailureDraft) -> ToolFailure | None:
    """Keep a failure; of a tool that is gone none is kept."""
    masker = Masker()
    with transaction.atomic():
        rows = Tool.objects.select_for_update(no_key=True, of=("self",))
        tool = rows.filter(environment__slug=draft.environment, name__iexact=draft.tool).first()
        if tool is None:
            return None
        failure = ToolFailure.objects.create(
            tool=tool,
            at=draft.at,
            call_id=draft.call_id,
            code=draft.code[:64],
            exception=masker.text(draft.exception)[:200],
            message=masker.text(draft.message)[:MESSAGE_LETTERS],
            traceback=masker.text(draft.traceback)[:TRACE_LETTERS],
        )
        newest = tool.failures.order_by("-at", "-id").values_list("pk", flat=True)[:KEPT]
        tool.failures.exclude(pk__in=list(newest)).delete()
    return failure


def tool_failures_forget(at: datetime) -> int:
    """Delete the failures whose time is over.

    Returns:
        How many.
    """
    return ToolFailure.objects.filter(at__lt=at - KEPT_FOR).delete()[0]
