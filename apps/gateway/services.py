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


def slots_forget(at: datetime) -> int:
    """Forget keys older than a week; harmless to repeat.

    Returns:
        How many were forgotten.
    """
    return CallSlot.objects.filter(created_at__lt=at - KEPT).delete()[0]
