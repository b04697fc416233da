"""Publishing by two people, and publishing later: a request is about one draft, and ends when that is no longer it."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of, may
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.clock import clock_check
from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.policies.actors import By, person_of
from apps.policies.errors import (
    OwnPublishRequestError,
    PublicationConflictError,
    PublicationRefusedError,
    PublishRequestClosedError,
    PublishRequestStaleError,
    PublishRuleInvalidError,
    SnapshotUntrustedError,
)
from apps.policies.locks import draft_lock
from apps.policies.models import Publication, PublishRequest, PublishRule, RequestState
from apps.policies.rules_of_release import OPEN, open_requests, publish_rule
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services.publishing import (
    check_rollback,
    make_live,
    make_live_again,
    publishable,
)
from apps.registry.models import Environment
from apps.registry.services.changing import change, field_problems

AHEAD_MOST: Final = timedelta(days=90)


def publish_rule_save(environment: Environment, *, by: By, needs_second_person: bool, hours: int) -> PublishRule:
    """Say whether publishing takes a second person, and how many hours a request waits for one.

    Raises:
        PermissionDeniedError, PublishRuleInvalidError.
    """
    with change(by, permission=Permission.PUBLISH):
        environment = draft_lock(environment)
        rule = publish_rule(environment)
        rule.needs_second_person, rule.hours = needs_second_person, hours
        details = field_problems(rule)
        if details:
            raise PublishRuleInvalidError(_("the rule of publishing has mistakes"), details)
        rule.save()
        _record(environment, by, "update", "publish_rule", needs_second_person=needs_second_person, hours=hours)
    return rule


def publish_ask(
    environment: Environment,
    *,
    by: By,
    message: str,
    expected_live: str | None,
    at: datetime,
    publish_at: datetime | None = None,
    expected_draft: str | None = None,
    is_reviewed: bool = False,
    may_repeat: bool = True,
) -> PublishRequest:
    """Ask for the draft as it is now to be published: by a second person, or at a time, or both.

    Everything is checked now as it will be then. A request of before in this environment is withdrawn.

    Args:
        publish_at: needed where no second person is.
        expected_draft: digest of the draft that was reviewed; None takes it as it is now.
        may_repeat: also a draft that is exactly what is live is asked for.
    Raises:
        PermissionDeniedError, PublicationConflictError, PublicationRefusedError.
        DraftMovedError: the draft has changed since it was reviewed.
        PublishRuleInvalidError: the time is past, too far ahead, or missing.
    """
    with change(by, permission=Permission.PUBLISH):
        environment = draft_lock(environment)
        rule = publish_rule(environment)
        _check_time(publish_at, at, is_needed=not rule.needs_second_person)
        snapshot = publishable(
            environment,
            message=message,
            expected_live=expected_live,
            expected_draft=expected_draft,
            is_reviewed=is_reviewed,
            may_repeat=may_repeat,
        )
        wanted = PublishRequest(
            environment=environment,
            state=RequestState.WAITING if rule.needs_second_person else RequestState.SCHEDULED,
            digest=snapshot.digest,
            expected_live=expected_live or "",
            message=message.strip(),
            is_reviewed=is_reviewed,
            publish_at=publish_at,
        )
        return _asked(wanted, rule, by, at)


def rollback_ask(
    publication: Publication, *, by: By, message: str, expected_live: str | None, at: datetime
) -> PublishRequest:
    """Ask a second person to go back to an earlier publication of its environment.

    Raises:
        PermissionDeniedError, PublicationConflictError, PublicationRefusedError, SnapshotUntrustedError.
        PublishRuleInvalidError: nobody else is needed.
    """
    with change(by, permission=Permission.PUBLISH):
        environment = draft_lock(publication.environment)
        rule = publish_rule(environment)
        if not rule.needs_second_person:
            raise PublishRuleInvalidError(_("nobody else is needed to go back here"))
        check_rollback(environment, publication, message=message, expected_live=expected_live)
        wanted = PublishRequest(
            environment=environment,
            state=RequestState.WAITING,
            digest=publication.snapshot_id,
            expected_live=expected_live or "",
            message=message.strip(),
            rollback_of=publication,
        )
        return _asked(wanted, rule, by, at)


def _asked(request: PublishRequest, rule: PublishRule, by: By, at: datetime) -> PublishRequest:
    """Store a request in the place of the one that is open."""
    for earlier in PublishRequest.objects.select_for_update().filter(environment=request.environment, state__in=OPEN):
        _end(earlier, RequestState.WITHDRAWN, by, at, _("another request took its place"))
    request.asked_at, request.expires_at = at, at + timedelta(hours=rule.hours)
    request.asked_by, request.actor = person_of(by), actor_of(by)
    request.save(force_insert=True)
    _tell(request, by, "ask")
    return request


def publish_confirm(request: PublishRequest, *, by: By, at: datetime) -> PublishRequest:
    """Be the second person: the draft goes live, or does at the time that was asked for.

    Raises:
        PermissionDeniedError, PublicationRefusedError.
        OwnPublishRequestError: the same person has asked.
        PublishRequestClosedError: nobody waits any more; PublishRequestStaleError: draft or live have moved.
    """
    with change(by, permission=Permission.PUBLISH):
        request = _locked(request)
        if request.state != RequestState.WAITING:
            raise _closed(request)
        person = person_of(by)
        if person is None or person == request.asked_by:
            raise OwnPublishRequestError(_("whoever asks for a second person cannot be that person"))
        ended = _overtaken(request, at)
        if not ended:
            request.confirmed_by, request.confirmed_actor, request.confirmed_at = person, actor_of(by), at
            request.state = RequestState.SCHEDULED
            request.save(update_fields=["confirmed_by", "confirmed_actor", "confirmed_at", "state"])
            _tell(request, by, "confirm")
            if request.publish_at is None or request.publish_at <= at:
                _go_live(request, at)
    if ended:  # after the transaction: that the request has ended stays
        error = PublishRequestStaleError if request.state == RequestState.STALE else PublishRequestClosedError
        raise error(request.outcome)
    return request


def publish_withdraw(request: PublishRequest, *, by: By, at: datetime) -> PublishRequest:
    """Take a request back, one's own or another's.

    Raises:
        PermissionDeniedError, PublishRequestClosedError.
    """
    with change(by, permission=Permission.PUBLISH):
        request = _locked(request)
        if not request.is_open:
            raise _closed(request)
        _end(request, RequestState.WITHDRAWN, by, at, _("%(actor)s took it back") % {"actor": actor_of(by)})
    return request


def publish_due(at: datetime) -> int:
    """End what is overtaken or expired, and publish what is due. Returns how many requests ended."""
    clock_check()
    return sum(_step(request, at) for request in open_requests())


def publish_requests_shift(step: timedelta, at: datetime) -> None:  # noqa: ARG001 - as every handler of a step
    """Give each request that waits for a second person the time that it has left; a time to publish at stays."""
    PublishRequest.objects.filter(state=RequestState.WAITING).update(expires_at=F("expires_at") + step)


def _step(request: PublishRequest, at: datetime) -> bool:
    with transaction.atomic():
        found = PublishRequest.objects.select_for_update(skip_locked=True).filter(pk=request.pk, state__in=OPEN).first()
        if found is None:
            return False  # another process has it, or it has ended
        request = _locked(found)
        if _overtaken(request, at):
            return True
        if request.state != RequestState.SCHEDULED or request.publish_at is None or request.publish_at > at:
            return False
    return _attempted(request, at)


def _attempted(request: PublishRequest, at: datetime) -> bool:
    """Publish; what the checks refuse ends the request with their words, and writes nothing else."""
    try:
        with transaction.atomic():
            request = _locked(request)
            if not request.is_open:
                return False
            _go_live(request, at)
    except (PublicationRefusedError, PublicationConflictError, SnapshotUntrustedError) as exc:
        with transaction.atomic():
            reasons = "; ".join(detail["message"] for detail in exc.details)
            _end(
                _locked(request),
                RequestState.REFUSED,
                None,
                at,
                f"{exc.message}: {reasons}" if reasons else exc.message,
            )
    return True


def _go_live(request: PublishRequest, at: datetime) -> None:
    """Hold it to everything again, and publish it in the name of whoever asked."""
    environment, person = request.environment, request.asked_by
    if person is not None and not may(person, Permission.PUBLISH):
        detail = {"path": "", "code": "permission_denied", "message": _("whoever asked may not publish any more")}
        raise PublicationRefusedError(_("the draft cannot be published"), [detail])
    told = {"request": request.shown_id, "asked_by": request.actor, "confirmed_by": request.confirmed_actor}
    again = request.rollback_of
    if again is not None:
        check_rollback(environment, again, message=request.message, expected_live=request.expected_live)
        request.publication = make_live_again(again, by=person, message=request.message, told=told)
    else:
        snapshot = _reviewed(request)
        request.publication = make_live(environment, snapshot, by=person, message=request.message, told=told)
    request.state, request.ended_at = RequestState.DONE, at
    request.save(update_fields=["publication", "state", "ended_at"])


def _reviewed(request: PublishRequest) -> Snapshot:
    """Compile exactly the draft that was asked for."""
    snapshot = publishable(
        request.environment,
        message=request.message,
        expected_live=request.expected_live,
        is_reviewed=request.is_reviewed,
        is_alone=request.confirmed_at is None,
    )
    if snapshot.digest != request.digest:
        raise PublicationConflictError(_("the draft is not the one that was reviewed"), request.expected_live)
    return snapshot


def _overtaken(request: PublishRequest, at: datetime) -> bool:
    """End a request whose draft or live snapshot has moved, or for which nobody came."""
    live = live_publication(request.environment)
    if ("" if live is None else live.snapshot_id) != request.expected_live:
        _end(request, RequestState.STALE, None, at, _("something else is live since it was asked for"))
    elif request.rollback_of_id is None and _draft_digest(request.environment) != request.digest:
        _end(request, RequestState.STALE, None, at, _("the draft has changed since it was asked for"))
    elif request.state == RequestState.WAITING and request.expires_at <= at:
        _end(request, RequestState.EXPIRED, None, at, _("nobody confirmed it in time"))
    return not request.is_open


def _draft_digest(environment: Environment) -> str:
    try:
        return draft_snapshot(environment).digest
    except SnapshotError:
        return ""


def _check_time(publish_at: datetime | None, at: datetime, *, is_needed: bool) -> None:
    problem = ""
    if publish_at is None:
        problem = _("say when to publish") if is_needed else ""
    elif publish_at <= at:
        problem = _("the time is past")
    elif publish_at > at + AHEAD_MOST:
        problem = _("the time is more than %(days)s days ahead") % {"days": AHEAD_MOST.days}
    if problem:
        detail = {"path": "publish_at", "code": "invalid", "message": problem}
        raise PublishRuleInvalidError(_("the draft cannot be published then"), [detail])


def _locked(request: PublishRequest) -> PublishRequest:
    """Hold the draft, then the request: always in this order."""
    draft_lock(request.environment)
    related = ("environment", "asked_by", "rollback_of__environment")
    found = PublishRequest.objects.select_related(*related).select_for_update(of=("self",))
    return found.get(pk=request.pk)


def _closed(request: PublishRequest) -> PublishRequestClosedError:
    return PublishRequestClosedError(
        _("this request does not wait any more: %(state)s") % {"state": request.get_state_display()}
    )


def _end(request: PublishRequest, state: str, by: By, at: datetime, outcome: str) -> None:
    request.state, request.ended_at, request.outcome = state, at, outcome
    request.save(update_fields=["state", "ended_at", "outcome"])
    _tell(request, by, state)


def _tell(request: PublishRequest, by: By, action: str) -> None:
    _record(
        request.environment,
        by,
        action,
        "publish_request",
        record=request.shown_id,
        digest=request.digest,
        publish_at=None if request.publish_at is None else request.publish_at.isoformat(),
        outcome=request.outcome,
    )


def _record(environment: Environment, by: By, action: str, kind: str, **told: Any) -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.POLICY_CHANGE,
            actor=actor_of(by),
            environment=environment.slug,
            changes={"action": action, "kind": kind, **told},
        )
    )
