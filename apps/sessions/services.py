"""What people do to sessions: end, reopen, bound them; and what time does."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q

from apps.accounts.access import Principal, actor_of, require_agents
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.masking import Masker
from apps.audit.services import entries_record, entry_record
from apps.events.notices import announce
from apps.firewall.runtime.sessions import Budgets
from apps.sessions.errors import BudgetError, SessionNotFoundError
from apps.sessions.keeping import PARENT_ENDED, RUN_QUIET
from apps.sessions.models import Session, SessionRun
from apps.sessions.tree import descendants

KEPT: Final = timedelta(days=30)
"""A session without a call for so long is forgotten, and so is a run; the ledger keeps their calls."""

CHILDREN_KEPT: Final = timedelta(days=365)
"""So long it is remembered who spawned a session: one whose parent is forgotten may do more than it might."""

ENDED: Final = "agent_session.ended"
CHANGED: Final = "agent_session.changed"
REASON_LIMIT: Final = 500
BUDGETS: Final = ("max_calls", "max_denied", "max_duration_s")
_LARGEST: Final = 2**53


def session_end(session: Session, *, by: Principal, at: datetime, reason: str = "") -> Session:
    """End a session and those that it started: their calls are refused from now on, their connections closed.

    Ending one that was ended changes nothing.

    Args:
        reason: told to the agent.
    Raises:
        SessionNotFoundError: it was forgotten meanwhile.
        AuditUnavailableError: the ledger refuses; nothing was ended.
    """
    said = Masker().text(reason.strip())[:REASON_LIMIT]
    with transaction.atomic():
        session = _locked(session)
        require_agents(by, [session.agent])
        if not session.is_open:
            return session
        ended = [session, *(each for each in descendants(session, lock=True) if each.is_open)]
        for each in ended:
            each.ended_at, each.ended_by_label = at, actor_of(by)
            each.end_reason = said if each is session else PARENT_ENDED
            each.save(update_fields=["ended_at", "ended_by_label", "end_reason"])
            announce(ENDED, id=each.pk, environment=each.environment.slug)
        SessionRun.objects.filter(session__in=ended, ended_at=None).update(ended_at=at)
        entries_record([_entry(each, "ended", {"reason": each.end_reason}, by=by, at=at) for each in ended])
    return session


def session_reopen(session: Session, *, by: Principal, at: datetime) -> Session:
    """Let calls into an ended session again, with its history of loops forgotten; its sub-sessions stay ended.

    Raises:
        SessionNotFoundError: it was forgotten meanwhile.
        AuditUnavailableError: the ledger refuses; nothing was changed.
    """
    with transaction.atomic():
        session = _locked(session)
        require_agents(by, [session.agent])
        if session.is_open:
            return session
        session.ended_at, session.ended_by_label, session.end_reason, session.loops = None, "", "", None
        session.save(update_fields=["ended_at", "ended_by_label", "end_reason", "loops"])
        announce(CHANGED, id=session.pk, environment=session.environment.slug)
        entry_record(_entry(session, "reopened", {}, by=by, at=at))
    return session


def session_budgets_set(session: Session, budgets: Budgets, *, by: Principal, at: datetime) -> Session:
    """Bound what a session may do in all, from its next call on.

    Raises:
        BudgetError: one is no whole number from 1 up.
        SessionNotFoundError: it was forgotten meanwhile.
        AuditUnavailableError: the ledger refuses; nothing was changed.
    """
    wanted = {name: getattr(budgets, name) for name in BUDGETS}
    _check(wanted)
    with transaction.atomic():
        session = _locked(session)
        require_agents(by, [session.agent])
        before = {name: getattr(session, name) for name in BUDGETS}
        changed = {name: [before[name], wanted[name]] for name in BUDGETS if before[name] != wanted[name]}
        if not changed:
            return session
        for name, value in wanted.items():
            setattr(session, name, value)
        session.save(update_fields=list(BUDGETS))
        announce(CHANGED, id=session.pk, environment=session.environment.slug)
        entry_record(_entry(session, "budgets", {"budgets": changed}, by=by, at=at))
    return session


def sessions_sweep(at: datetime) -> int:
    """Close the runs that went quiet, forget what is old; harmless to repeat.

    Returns:
        How many sessions were forgotten.
    """
    SessionRun.objects.filter(ended_at=None, last_call_at__lt=at - RUN_QUIET).update(ended_at=F("last_call_at"))
    SessionRun.objects.filter(last_call_at__lt=at - KEPT).delete()
    gone = Q(parent_key="", last_call_at__lt=at - KEPT) | Q(last_call_at__lt=at - CHILDREN_KEPT)
    return Session.objects.filter(gone).delete()[1].get(Session._meta.label, 0)


def _locked(session: Session) -> Session:
    found = Session.objects.select_for_update(of=("self",)).select_related("environment").filter(pk=session.pk).first()
    if found is None:
        raise SessionNotFoundError("no such session")
    return found


def _check(wanted: dict[str, Any]) -> None:
    message = "must be a whole number from 1 up, or nothing"
    wrong: Iterable[str] = (
        name
        for name, value in wanted.items()
        if value is not None and (type(value) is not int or not 1 <= value <= _LARGEST)
    )
    details = [{"path": name, "code": "invalid", "message": f"`{name}` {message}"} for name in wrong]
    if details:
        raise BudgetError(details)


def _entry(session: Session, did: str, changes: dict[str, Any], *, by: Principal, at: datetime) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.SESSION_CHANGE,
        actor=actor_of(by),
        environment=session.environment.slug,
        agent=session.agent,
        session_key=session.key,
        channel=session.channel,
        sender=session.sender,
        status=did,
        changes={"session": session.shown_id, **changes},
        at=at,
    )
