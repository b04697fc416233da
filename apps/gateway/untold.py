"""Calls that end without running here: after-hooks hear of each once, whichever process or person ended it.

What they are to be told lies in a row from the moment in which a call begins to wait for a person, or ends in the
queue. One process takes the row and tells; a call that runs after all is told of by its runner, its row goes unheard.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from apps.approvals.models import Approval
from apps.approvals.running import NOT_RUN
from apps.audit.drafts import EntryKind
from apps.audit.masking import Masker
from apps.audit.models import Entry
from apps.events.notices import announce
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import Action, Call, JsonObject, error_object
from apps.firewall.runtime.facts import known_facts
from apps.firewall.runtime.hooks import AfterEvent
from apps.firewall.runtime.stages.after_hooks import tell_hooks
from apps.gateway.database import in_database
from apps.gateway.hooks import LiveHooks
from apps.gateway.models import UntoldCall
from apps.gateway.refusals import REFUSALS, refusal_of
from apps.keys.errors import KeyFailureError
from apps.keys.seal import seal, unseal

log = structlog.get_logger(__name__)

ENDED: Final = "call.ended_untold"
AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Untold:
    """A call that ended, and what after-hooks hear of it."""

    call: Call
    release: str
    event: AfterEvent


def untold_keep(call: Call, tool: str, *, release: str, sensitive: tuple[str, ...]) -> None:
    """Keep what is to be told if a person, or nobody's answer, ends a call. In the transaction that asks."""
    _keep(call, tool, release=release, sensitive=sensitive, error=None)


def untold_end(action: Action, *, release: str, sensitive: tuple[str, ...], error: JsonObject) -> None:
    """Keep what is to be told of a call that ended in the queue. In the transaction that ends it."""
    _keep(action.call(), action.tool, release=release, sensitive=sensitive, error=error)
    announce(ENDED, id=UUID(action.call_id), environment=action.environment)


def _keep(call: Call, tool: str, *, release: str, sensitive: tuple[str, ...], error: JsonObject | None) -> None:
    masker = Masker(sensitive)
    kept = {
        "environment": call.environment,
        "agent": call.agent,
        "release": release,
        "tool": tool,
        "params": masker.value("", dict(call.params)),
        "facts": known_facts(call),
        "error": None if error is None else masker.value("", dict(error)),
    }
    sealed = seal(json.dumps(kept).encode(), purpose=_purpose(call.id))
    UntoldCall.objects.update_or_create(pk=call.id, defaults={"sealed": sealed, "is_ended": error is not None})


def untold_take() -> list[Untold]:
    """Take what is to be told now: nobody else gets it."""
    asked = Approval.objects.filter(call_id=OuterRef("pk"))
    over = asked.filter(Q(state__in=REFUSALS) | Q(claimed_at__isnull=False) | Q(finished_at__isnull=False))
    with transaction.atomic():
        rows = UntoldCall.objects.select_for_update(skip_locked=True).filter(Q(is_ended=True) | Exists(over))
        found = list(rows.order_by("pk")[:AT_ONCE])
        ids = [row.pk for row in found]
        approvals = {each.call_id: each for each in Approval.objects.filter(call_id__in=ids)}
        told = [_untold(row, approvals.get(row.pk)) for row in found]
        UntoldCall.objects.filter(pk__in=ids).delete()
    return [each for each in told if each is not None]


def _untold(row: UntoldCall, approval: Approval | None) -> Untold | None:
    try:
        kept = json.loads(unseal(bytes(row.sealed), purpose=_purpose(row.pk)))
    except KeyFailureError as exc:  # the key was changed: nobody can tell any more what it was
        log.warning("call.untold", call=str(row.pk), code=exc.code)
        return None
    error = kept["error"] if row.is_ended else _error(approval)
    if error is None:
        return None
    event = AfterEvent(
        tool=kept["tool"],
        params=kept["params"],
        duration_ms=0,
        error={"code": error["code"], "message": error["message"]},
        call_id=show_id("call", row.pk),
        facts=kept["facts"],
    )
    call = Call(environment=kept["environment"], agent=kept["agent"], tool=kept["tool"], params={}, id=row.pk)
    return Untold(call=call, release=kept["release"], event=event)


def _error(approval: Approval | None) -> dict[str, Any] | None:
    """Say how a request ended its call; None for a call whose runner tells, or has told, of it."""
    if approval is None or approval.claimed_at is not None:
        return None
    if Entry.objects.filter(call_id=approval.call_id, kind=EntryKind.CALL_OUTCOME).exists():
        return None
    return refusal_of(approval) or error_object("approval_not_run", NOT_RUN)


async def untold_tell(hooks: LiveHooks) -> None:
    """Tell after-hooks of what ended without running; nobody waits for them."""
    while found := await in_database(untold_take):
        for each in found:
            hearing = hooks.after(each.call.environment, each.event.tool)
            if hearing:
                hooks.later(tell_hooks(hooks, hearing, each.call, each.event, release=each.release))
        await asyncio.sleep(0)


def _purpose(call_id: UUID) -> str:
    return f"untold.call {call_id}"
