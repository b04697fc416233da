"""Writing what this door keeps."""

from datetime import datetime, timedelta
from uuid import UUID

from apps.gateway.errors import IdempotencyConflictError
from apps.gateway.models import CallSlot

KEPT = timedelta(days=7)


def slot_take(token_id: UUID, *, key: str, call_id: UUID, body_digest: str, at: datetime) -> UUID:
    """Bind an idempotency key to a call, or find the call it is bound to.

    Returns:
        The call of this key: `call_id` when the key is new.
    Raises:
        IdempotencyConflictError: the key was used with another body.
    """
    slot, _ = CallSlot.objects.get_or_create(
        token_id=token_id, key=key, defaults={"call_id": call_id, "body_digest": body_digest, "created_at": at}
    )
    if slot.body_digest != body_digest:
        raise IdempotencyConflictError("the idempotency key was used for a call with another body")
    return slot.call_id


def slot_keep(token_id: UUID, *, key: str, call_id: UUID, at: datetime) -> None:
    """Bind a key to a call that is under way, for whoever asks for it again; a call has one key at most."""
    slot = CallSlot(token_id=token_id, key=key, call_id=call_id, body_digest="", created_at=at)
    CallSlot.objects.bulk_create([slot], ignore_conflicts=True)


def slot_find(token_id: UUID, key: str) -> UUID | None:
    """Find the call that a key is bound to."""
    return CallSlot.objects.filter(token_id=token_id, key=key).values_list("call_id", flat=True).first()


def slot_free(token_id: UUID, key: str) -> None:
    """Forget a key: the same again is a new call. Harmless to repeat."""
    CallSlot.objects.filter(token_id=token_id, key=key).delete()


def slots_forget(at: datetime) -> int:
    """Forget keys older than a week; harmless to repeat.

    Returns:
        How many were forgotten.
    """
    return CallSlot.objects.filter(created_at__lt=at - KEPT).delete()[0]
