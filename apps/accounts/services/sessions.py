"""Ending sessions. Sockets hear `session.ended` with the person's id and close."""

from django.db import transaction

from apps.accounts.models import Session, User
from apps.events.notices import announce


@transaction.atomic
def session_end(user: User, *, session_key: str) -> bool:
    """End one session of a person; ending it twice is harmless.

    Returns:
        Whether there was one.
    """
    removed, _ = Session.objects.filter(user=user, session_key=session_key).delete()
    if removed:
        announce("session.ended", id=user.pk)
    return bool(removed)


@transaction.atomic
def sessions_end(user: User, *, keep: str | None = None) -> int:
    """End every session of a person.

    Args:
        keep: key of the one session that stays, the one the person is using now.
    Returns:
        How many ended.
    """
    removed, _ = Session.objects.filter(user=user).exclude(session_key=keep or "").delete()
    if removed:
        announce("session.ended", id=user.pk)
    return removed
