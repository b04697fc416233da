"""What other rooms keep of a subject: each registers one eraser when it is ready; nothing here imports upwards."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Model, Q, QuerySet

from apps.audit.models import Entry


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose contents are erased: a sender of a channel, and the sessions that nobody else wrote in."""

    channel: str
    sender: str
    sessions: tuple[str, ...] = ()

    def calls(self) -> QuerySet[Entry, Any]:
        """Give the ids of the subject's calls, for rows that carry nothing else of it."""
        own = Q(channel=self.channel, sender=self.sender) | Q(session_key__in=self.sessions)
        return Entry.objects.filter(own, call_id__isnull=False).order_by().values("call_id")

    def rows(self, *, session: str = "session_key") -> Q:
        """Give the condition for rows that carry channel, sender and session."""
        return Q(channel=self.channel, sender=self.sender) | Q(**{f"{session}__in": self.sessions})


def nothing_open(_subject: Subject) -> int:
    return 0


def no_sessions(_subject: Subject) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """What one room does.

    Args:
        label: what it keeps, for people.
        count: how many rows of the subject still hold content.
        models: where it keeps that; their tables are vacuumed.
        erase: take the content out of them, at most a bounded number; returns how many. Called until it says 0.
        open: how many still wait or run, which an erasure does not cut off.
        sessions: further sessions of the subject, such as those of its sub-agents.
    """

    name: str
    label: Any
    models: tuple[type[Model], ...]
    count: Callable[[Subject], int]
    erase: Callable[[Subject, datetime], int]
    open: Callable[[Subject], int] = field(default=nothing_open)
    sessions: Callable[[Subject], Iterable[str]] = field(default=no_sessions)


ERASERS: dict[str, Eraser] = {}


def eraser_register(eraser: Eraser) -> None:
    """Have a room asked whenever a subject is erased."""
    ERASERS[eraser.name] = eraser
