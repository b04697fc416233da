"""Idempotency keys are kept for a week and then forgotten."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.firewall.identifiers import new_id
from apps.gateway.models import CallSlot
from apps.gateway.services import KEPT, slot_take, slots_forget
from tests.gateway.test_decisions import Token


def take(token: Any, key: str, *, days: int = 0) -> None:
    at = timezone.now() - timedelta(days=days)
    slot_take(token.pk, key=key, call_id=new_id(), body_digest="0" * 64, at=at)


def test_only_keys_older_than_a_week_are_forgotten(db: None, token: Token) -> None:
    row, _ = token("calls_make")
    take(row, "old", days=KEPT.days + 1)
    take(row, "new")

    assert slots_forget(timezone.now()) == 1
    assert slots_forget(timezone.now()) == 0
    assert [slot.key for slot in CallSlot.objects.all()] == ["new"]
