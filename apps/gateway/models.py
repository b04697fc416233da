"""What this door must not forget: which call an idempotency key belongs to."""

from typing import ClassVar

from django.db import models

from apps.accounts.models import ApiToken


class CallSlot(models.Model):
    """The call that one token made under one key; the same key is never a second run."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    call_id = models.UUIDField(unique=True)
    body_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["created_at"], name="call_slot_age")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["token", "key"], name="call_slot_key_once_per_token"),
        ]

    def __str__(self) -> str:
        return self.key
