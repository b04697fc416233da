"""Steps of the clock of the day, on record."""

from datetime import datetime, timedelta

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record


def clock_step_record(step: timedelta, at: datetime) -> None:
    """Put on record that the clock was set, and by how much."""
    changes = {"step_s": round(step.total_seconds(), 1)}
    entry_record(EntryDraft(kind=EntryKind.CLOCK_STEP, actor="system", status="noticed", at=at, changes=changes))
