"""Processes say which stops they hold to, once they do."""

from datetime import datetime
from uuid import UUID

from apps.events.notices import announce
from apps.halts.models import HeardHalts


def halts_heard(boot: UUID, *, kind: str, digest: str, at: datetime) -> None:
    """Note that a process holds to the stops of a digest from now on.

    Args:
        boot: of the process, in the ledger.
        kind: `server` or `worker`.
    """
    HeardHalts.objects.update_or_create(boot=boot, defaults={"kind": kind, "digest": digest, "heard_at": at})
    announce("halts.heard", id=boot)


def heard_forget(boots: set[UUID]) -> int:
    """Drop the notes of processes that are gone.

    Args:
        boots: those that are alive.
    Returns:
        How many were dropped.
    """
    return HeardHalts.objects.exclude(pk__in=boots).delete()[0]
