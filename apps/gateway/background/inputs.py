"""What is written to a command that another process holds: sealed on its way, taken once, and answered."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from apps.events.notices import announce
from apps.gateway.models import CommandInput
from apps.keys.seal import seal, unseal

ASKED: Final = "command.asked"
LEFT_BEHIND: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Written:
    """Something to hand to a command."""

    id: UUID
    command_id: UUID
    content: bytes
    is_last: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of an input: `code` is empty when it was taken."""

    code: str = ""
    message: str = ""


def input_put(command_id: UUID, content: bytes, *, is_last: bool, environment: str, at: datetime) -> UUID:
    """Leave something for whoever holds a command."""
    with transaction.atomic():
        row = CommandInput(command_id=command_id, is_last=is_last, asked_at=at)
        row.sealed = seal(content, purpose=_purpose(row.pk))
        row.save(force_insert=True)
        announce(ASKED, id=command_id, environment=environment)
    return row.pk


def inputs_take(command_ids: list[UUID], *, at: datetime) -> list[Written]:
    """Take what waits for commands that this process holds, in the order in which it was written.

    Raises:
        UnsealError: the installation's key was changed meanwhile.
    """
    with transaction.atomic():
        rows = CommandInput.objects.select_for_update(skip_locked=True)
        waiting = list(rows.filter(command__in=command_ids, taken_at=None).order_by("id")[:100])
        CommandInput.objects.filter(pk__in=[row.pk for row in waiting]).update(taken_at=at)
    return [
        Written(row.pk, row.command_id, unseal(bytes(row.sealed), purpose=_purpose(row.pk)), row.is_last)
        for row in waiting
    ]


def input_done(input_id: UUID, answer: Answer, *, at: datetime) -> None:
    """Say what became of an input; nothing of it is kept."""
    CommandInput.objects.filter(pk=input_id).update(
        done_at=at, sealed=b"", error_code=answer.code, error_message=answer.message
    )


def input_answer(input_id: UUID) -> Answer | None:
    """Read what became of an input, and forget it; None while nobody said."""
    row = CommandInput.objects.filter(pk=input_id).values("done_at", "error_code", "error_message").first()
    if row is None:
        return Answer("command_not_kept", "the command is not kept any more")
    if row["done_at"] is None:
        return None
    CommandInput.objects.filter(pk=input_id).delete()
    return Answer(row["error_code"], row["error_message"])


def input_withdraw(input_id: UUID) -> bool:
    """Take back an input that nobody took; False when somebody did, so that it may have been handed on."""
    return CommandInput.objects.filter(pk=input_id, taken_at=None).delete()[0] > 0


def inputs_forget(at: datetime) -> int:
    """Forget inputs whose writers went away."""
    return CommandInput.objects.filter(asked_at__lt=at - LEFT_BEHIND).delete()[0]


def _purpose(input_id: UUID) -> str:
    return f"command.input {input_id}"
