"""A call of a gateway: asked, told to run, reported; or refused. Who runs it is the gateway, exactly as it was told."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.selectors import call_record
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.tools.running import ToolOutcome
from apps.keys.seal import seal, unseal
from apps.openclaw_gateways.errors import AskConflictError, GatewayCallNotFoundError, ReportRefusedError
from apps.openclaw_gateways.models import SILENT_AFTER, GatewayCall, OpenClawGateway
from apps.openclaw_gateways.spawned import spawned_keep

CHANGED: Final = "gateway_call.changed"
OUTCOME_LIMIT: Final = timedelta(hours=1)
"""A report that did not come by then does not come any more."""
SILENCE_LIMIT: Final = SILENT_AFTER * 4
KEPT: Final = timedelta(days=7)
SETTLE_AFTER: Final = timedelta(minutes=1)
SETTLE_LIMIT: Final = 500
OPEN: Final = frozenset({"awaiting_approval", "approved", "running"})
KNOWN: Final = frozenset({"completed", "failed", "cancelled"})
NOT_RUN: Final = {"code": "not_run", "message": "the gateway stopped waiting and blocked the call"}
STOPPED: Final = "stopped by {} with the kill switch: the gateway ended it"
State = GatewayCall.State


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call as a gateway asks about it.

    Args:
        key: the gateway's own, made anew for each call.
        boot, run, tool_call: its names for its process, the agent's run and the model's call.
        members: names of the params.
        context: what it says of the call, and what of that it knows: `{"context", "known"}`.
    """

    key: str
    body_digest: str
    boot: str
    run: str
    tool_call: str
    tool: str
    agent: str
    session_key: str
    channel: str = ""
    members: tuple[str, ...]
    context: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How a call ended, as the gateway says."""

    is_error: bool
    result: Mapping[str, Any] | None = None
    error: str = ""


def call_open(gateway: OpenClawGateway, asked: Question, *, call_id: UUID, at: datetime) -> tuple[GatewayCall, bool]:
    """Keep a question; the same key again finds the call it belongs to.

    Returns:
        The call, and whether it is new.
    Raises:
        AskConflictError: the key belongs to another question.
    """
    row, is_new = GatewayCall.objects.get_or_create(
        gateway=gateway,
        key=asked.key,
        defaults={
            "id": call_id,
            "body_digest": asked.body_digest,
            "boot": asked.boot,
            "run": asked.run,
            "tool_call": asked.tool_call,
            "tool": asked.tool,
            "agent": asked.agent,
            "session_key": asked.session_key,
            "channel": asked.channel,
            "members": list(asked.members),
            "context": asked.context,
            "asked_at": at,
        },
    )
    if row.body_digest != asked.body_digest:
        raise AskConflictError("the key was used for another question")
    if is_new and gateway.proven_at is None:
        OpenClawGateway.objects.filter(pk=gateway.pk, proven_at=None).update(proven_at=at)
    return row, is_new


def call_of_gateway(gateway_id: UUID, call_id: UUID) -> GatewayCall:
    """Find a call that this gateway asked about.

    Raises:
        GatewayCallNotFoundError: it asked about none with this id.
    """
    row = GatewayCall.objects.filter(pk=call_id, gateway_id=gateway_id).first()
    if row is None:
        raise GatewayCallNotFoundError("no such call")
    return row


def is_elsewhere(call_id: UUID) -> bool:
    """Say whether a call is one that a gateway runs."""
    return GatewayCall.objects.filter(pk=call_id).exists()


def call_tell(call_id: UUID, params: Mapping[str, Any], *, at: datetime) -> ToolOutcome | None:
    """Let the gateway run a call whose intent is on record, with the params as they were judged.

    Returns:
        None when it is told; else why it does not run: its gateway went away, or cannot run what became of it.
    """
    with transaction.atomic():
        row = GatewayCall.objects.select_for_update(of=("self",)).select_related("gateway__environment").get(pk=call_id)
        lost = sorted(set(row.members) - params.keys())
        if row.is_withdrawn:
            return ToolOutcome(ended="failed", error=NOT_RUN)
        if lost:  # a gateway lays params over those it has, and can take none away
            message = f"a hook removed {', '.join(f'`{name}`' for name in lost)}, which a gateway cannot do"
            return ToolOutcome(ended="failed", error={"code": "rewrite_impossible", "message": message})
        row.state, row.told_at = State.TOLD, at
        row.sealed_params = seal(json.dumps(dict(params)).encode(), purpose=f"gateway.params {call_id}")
        row.save(update_fields=["state", "told_at", "sealed_params"])
        _announce(row)
    return None


def params_told(row: GatewayCall) -> dict[str, Any]:
    """Give the params with which a call may run."""
    assert row.sealed_params is not None  # noqa: S101 - it was told
    opened: dict[str, Any] = json.loads(unseal(bytes(row.sealed_params), purpose=f"gateway.params {row.pk}"))
    return opened


def call_report(gateway: OpenClawGateway, call_id: UUID, report: Report, *, at: datetime) -> GatewayCall:
    """Take the gateway's report; the first one counts, the same report again is harmless.

    What comes after the outcome `unknown` is one more outcome: what is known counts.

    Raises:
        GatewayCallNotFoundError: it asked about none with this id.
        ReportRefusedError: it was never told to run, or is said not to have run; that it came is recorded.
    """
    with transaction.atomic():
        row = _locked(gateway.pk, call_id)
        is_taken = row.state == State.ENDED and row.outcome in KNOWN and not row.is_withdrawn
        if row.state == State.REPORTED or is_taken:
            return row
        if row.state == State.TOLD:
            report_keep(row, report)
            spawned_keep(row, report.result, at=at)
            _settle(row, at)  # where the process that waited for it is gone
            return row
        if row.state == State.ENDED and row.outcome == "unknown" and not row.is_withdrawn:
            spawned_keep(row, report.result, at=at)
            return _known_late(row, report, at)
        entry_record(_late(row, gateway, report, at))
    raise ReportRefusedError(f"the call is {row.state} already: {row.outcome or 'it was not told to run'}")


def _known_late(row: GatewayCall, report: Report, at: datetime) -> GatewayCall:
    """Record what a gateway tells of a call of which nobody knew how it ended: while we were away, or it was."""
    outcome, gateway = _outcome_of(row, report), row.gateway
    entry_record(
        EntryDraft(
            kind=EntryKind.CALL_OUTCOME,
            actor=gateway.token.actor,
            environment=gateway.environment.slug,
            agent=row.agent,
            session_key=row.session_key,
            channel=row.channel,
            tool=row.tool,
            call_id=row.pk,
            status=outcome.ended,
            result=outcome.result,
            error=outcome.error,
            changes={"gateway": gateway.shown_id, "told_later": True},
            at=at,
        )
    )
    row.outcome, row.error = outcome.ended, _shown(outcome.error)
    row.save(update_fields=["outcome", "error"])
    _announce(row)
    return row


def report_keep(row: GatewayCall, report: Report) -> None:
    """Keep what a gateway says of a call that it was told to run, for the process that waits for it."""
    row.state = State.REPORTED
    kept = {"is_error": report.is_error, "result": report.result, "error": report.error}
    row.sealed_report = seal(json.dumps(kept).encode(), purpose=f"gateway.report {row.pk}")
    row.save(update_fields=["state", "sealed_report"])
    _announce(row)


def call_id_of_key(gateway: OpenClawGateway, key: str) -> UUID:
    """Find the call that a gateway asked about with a key of its own: it may not have heard the id.

    Raises:
        GatewayCallNotFoundError: it asked nothing with this key.
    """
    found = GatewayCall.objects.filter(gateway=gateway, key=key).values_list("pk", flat=True).first()
    if found is None:
        raise GatewayCallNotFoundError("no such call")
    return found


def call_withdraw(gateway: OpenClawGateway, call_id: UUID) -> GatewayCall:
    """Hear that the gateway stopped waiting and blocks the call itself."""
    with transaction.atomic():
        row = _locked(gateway.pk, call_id)
        if not row.is_open or row.is_withdrawn or row.state == State.REPORTED:
            return row
        row.is_withdrawn = True
        row.save(update_fields=["is_withdrawn"])
        _announce(row)
    return row


def call_end_of(call_id: UUID, *, at: datetime) -> ToolOutcome | None:
    """Give the outcome of a call that was told, as soon as there is one; None while it may still come."""
    row = GatewayCall.objects.select_related("gateway").get(pk=call_id)
    if row.state == State.REPORTED:
        return _outcome_of(row, _report_of(row))
    if row.is_withdrawn:
        return ToolOutcome(ended="failed", error=NOT_RUN)
    why = _lost(row, at)
    return None if why is None else ToolOutcome(ended="unknown", error={"code": "not_reported", "message": why})


def call_close(call_id: UUID, status: str, error: Mapping[str, Any] | None, *, at: datetime) -> None:
    """Keep how a call ended, once that is on record: what was sealed is destroyed. Harmless to repeat."""
    with transaction.atomic():
        row = GatewayCall.objects.select_for_update(of=("self",)).select_related("gateway__environment").get(pk=call_id)
        if not row.is_open:
            return
        is_refusal = row.told_at is None
        row.state = State.REFUSED if is_refusal else State.ENDED
        row.outcome, row.error, row.ended_at = status, _shown(error), at
        row.sealed_params = row.sealed_report = None
        row.save(update_fields=["state", "outcome", "error", "ended_at", "sealed_params", "sealed_report"])
        _announce(row)


def calls_settle(at: datetime) -> int:
    """Close calls that the ledger has ended: the process that waited for their reports died.

    Returns:
        How many were closed.
    """
    left = GatewayCall.objects.filter(ended_at=None, asked_at__lt=at - SETTLE_AFTER).values_list("pk", flat=True)
    closed = 0
    for call_id in left[:SETTLE_LIMIT]:
        with transaction.atomic():
            rows = GatewayCall.objects.select_for_update(of=("self",))
            row = rows.select_related("gateway__environment", "gateway__token").get(pk=call_id)
            closed += row.is_open and _settle(row, at)
    return closed


def _settle(row: GatewayCall, at: datetime) -> bool:
    """Close a call that the ledger has ended. A report that nobody took then is one more outcome, where it is known."""
    record = call_record(row.pk)
    if record is None or record.status in OPEN:
        return False
    reported = _report_of(row) if row.state == State.REPORTED and record.status == "unknown" else None
    call_close(row.pk, record.status, record.error if isinstance(record.error, dict) else None, at=at)
    row.refresh_from_db(fields=["state", "outcome", "error", "ended_at", "sealed_params", "sealed_report"])
    if reported is not None and not row.is_withdrawn:
        _known_late(row, reported, at)
    return True


def calls_forget(at: datetime) -> int:
    """Forget calls that ended a week ago; the ledger keeps them."""
    return GatewayCall.objects.filter(ended_at__lt=at - KEPT).delete()[0]


def _lost(row: GatewayCall, at: datetime) -> str | None:
    """Say why no report will come."""
    told_at, gateway = row.told_at or row.asked_at, row.gateway
    if row.boot and gateway.boot and row.boot != gateway.boot and (gateway.booted_at or at) > told_at:
        return "the gateway's process ended before it reported how the call went"
    if at - told_at > OUTCOME_LIMIT:
        return "the gateway did not report in time"
    heard_at = max(filter(None, (gateway.last_seen_at, told_at)))
    if at - heard_at > SILENCE_LIMIT:
        return "the gateway went silent before it reported how the call went"
    return None


def _report_of(row: GatewayCall) -> Report:
    assert row.sealed_report is not None  # noqa: S101 - its state says so
    return Report(**json.loads(unseal(bytes(row.sealed_report), purpose=f"gateway.report {row.pk}")))


def _outcome_of(row: GatewayCall, report: Report) -> ToolOutcome:
    result = None if report.result is None else dict(report.result)
    if not report.is_error:
        return ToolOutcome(result=result or {})
    if row.ending:
        message = STOPPED.format(row.ending_by.rpartition(":")[2] or "the system")
        return ToolOutcome(ended="cancelled", result=result, error={"code": "stopped", "message": message})
    message = report.error or "the gateway reports that it failed"
    return ToolOutcome(ended="failed", result=result, error={"code": "gateway_reported", "message": message})


def _late(row: GatewayCall, gateway: OpenClawGateway, report: Report, at: datetime) -> EntryDraft:
    """Draft the entry of a report that changes no outcome. It is no entry of the call, which has its end already."""
    return EntryDraft(
        kind=EntryKind.GATEWAY_CHANGE,
        actor=gateway.token.actor,
        environment=gateway.environment.slug,
        agent=row.agent,
        session_key=row.session_key,
        tool=row.tool,
        status="report_refused",
        result=report.result,
        error={"code": "gateway_reported", "message": report.error} if report.is_error else None,
        changes={"gateway": gateway.shown_id, "call": row.shown_id, "outcome": row.outcome},
        at=at,
    )


def _shown(error: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Keep what the gateway is told of a refusal; the details are in the ledger."""
    return None if error is None else {"code": str(error.get("code", "")), "message": str(error.get("message", ""))}


def _locked(gateway_id: UUID, call_id: UUID) -> GatewayCall:
    locked = GatewayCall.objects.select_for_update(of=("self",)).select_related("gateway__environment")
    row = locked.filter(pk=call_id, gateway_id=gateway_id).first()
    if row is None:
        raise GatewayCallNotFoundError("no such call")
    return row


def _announce(row: GatewayCall) -> None:
    announce(CHANGED, id=row.pk, environment=row.gateway.environment.slug)
