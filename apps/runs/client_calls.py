"""Calls of tools that the run's own caller runs: told once their intent is on record, reported, closed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from apps.events.notices import announce
from apps.firewall.identifiers import read_id
from apps.firewall.tools.running import ToolOutcome, failed
from apps.keys.seal import seal, unseal
from apps.runs.errors import ClientCallNotFoundError, ReportRefusedError
from apps.runs.models import ClientCall, ToolRun

CHANGED: Final = "client_call.changed"
OUTCOME_LIMIT: Final = timedelta(minutes=10)
"""A report that did not come by then does not come any more."""
State = ClientCall.State


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How a call ended, as the caller says."""

    is_error: bool
    result: Mapping[str, Any] | None = None
    error: str = ""


def client_call_tell(run: ToolRun, call_id: UUID, *, tool: str, params: Mapping[str, Any], at: datetime) -> None:
    """Let the caller run a call whose intent is on record."""
    with transaction.atomic():
        ClientCall.objects.get_or_create(
            call_id=call_id,
            defaults={
                "run": run,
                "tool": tool,
                "told_at": at,
                "sealed_params": seal(json.dumps(dict(params)).encode(), purpose=f"client.params {call_id}"),
            },
        )
        announce(CHANGED, id=call_id, environment=run.environment.slug)


def client_call_waiting(call_id: UUID) -> dict[str, Any] | None:
    """Give the tool and the params of a call that waits for its caller; None for any other call."""
    row = ClientCall.objects.filter(pk=call_id, state=State.TOLD).first()
    if row is None or row.sealed_params is None:
        return None
    params = json.loads(unseal(bytes(row.sealed_params), purpose=f"client.params {call_id}"))
    return {"tool": row.tool, "params": params}


def client_call_report(run: ToolRun, shown_id: str, report: Report) -> ClientCall:
    """Take the caller's report; the first one counts, and repeating it is harmless.

    Raises:
        ClientCallNotFoundError: no call of this run was handed to its caller under this id.
        ReportRefusedError: its outcome is on record already.
    """
    try:
        call_id = read_id("call", shown_id)
    except ValueError:
        raise ClientCallNotFoundError("no such call") from None
    with transaction.atomic():
        row = ClientCall.objects.select_for_update(of=("self",)).filter(pk=call_id, run=run).first()
        if row is None:
            raise ClientCallNotFoundError("no such call")
        if row.state == State.ENDED:
            raise ReportRefusedError("the outcome of this call is on record already")
        if row.state == State.TOLD:
            kept = {"is_error": report.is_error, "result": report.result, "error": report.error}
            row.state = State.REPORTED
            row.sealed_report = seal(json.dumps(kept).encode(), purpose=f"client.report {call_id}")
            row.save(update_fields=["state", "sealed_report"])
            announce(CHANGED, id=call_id, environment=run.environment.slug)
    return row


def client_call_outcome(call_id: UUID, *, at: datetime) -> ToolOutcome | None:
    """Give the outcome of a call that was told, as soon as there is one; None while it may still come."""
    row = ClientCall.objects.get(pk=call_id)
    if row.state == State.REPORTED and row.sealed_report is not None:
        return _reported(json.loads(unseal(bytes(row.sealed_report), purpose=f"client.report {call_id}")))
    if at - row.told_at > OUTCOME_LIMIT:
        return ToolOutcome(
            ended="unknown", error={"code": "not_reported", "message": "the caller did not report in time how it ended"}
        )
    return None


def client_call_close(call_id: UUID, *, at: datetime) -> None:
    """Keep that the outcome is on record, and destroy what was sealed. Harmless to repeat."""
    ClientCall.objects.filter(pk=call_id).exclude(state=State.ENDED).update(
        state=State.ENDED, ended_at=at, sealed_params=None, sealed_report=None
    )


def _reported(kept: Mapping[str, Any]) -> ToolOutcome:
    if kept["is_error"]:
        return failed("client_error", kept["error"] or "the caller says that it failed")
    return ToolOutcome(result=kept["result"] or {})
