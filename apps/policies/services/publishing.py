"""Publications: the draft becomes a signed snapshot. The list only grows; going back is one more publication."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.engine.document import FORMAT
from apps.firewall.engine.snapshot import Snapshot, SnapshotError, load_snapshot
from apps.keys.signing import sign
from apps.policies.actors import By, person_of
from apps.policies.changes import log_marks, records_changed
from apps.policies.compiler import compile_draft
from apps.policies.document.guards import write_guards_tree
from apps.policies.document.writing import write_approvals_tree, write_tree
from apps.policies.errors import DraftMovedError, PublicationConflictError, PublicationRefusedError
from apps.policies.guardrails import guardrail_failures
from apps.policies.lint import blocking_findings
from apps.policies.locks import draft_lock
from apps.policies.models import Publication, StoredSnapshot
from apps.policies.proving import failures
from apps.policies.replays.proofs import replay_mistakes
from apps.policies.rules_of_release import needs_second_person
from apps.policies.snapshots import publication_snapshot
from apps.registry.models import Environment

MESSAGE_LENGTH = 4000
NOTHING: Final[Mapping[str, Any]] = {}


def publish(
    environment: Environment,
    *,
    by: By,
    message: str,
    expected_live: str | None,
    expected_draft: str | None = None,
    is_reviewed: bool = False,
    may_repeat: bool = True,
) -> Publication:
    """Make the draft live. Every door comes here: what fails a policy test or a guardrail is not published.

    Args:
        expected_live: digest that was live when the draft was reviewed; None or empty when nothing was.
        expected_draft: digest of the draft that was reviewed; None takes it as it is now.
        is_reviewed: a person publishes from the page of the review, of which a replay is part.
        may_repeat: also a draft that is exactly what is live is published.
    Raises:
        PublicationConflictError: something else is live by now.
        DraftMovedError: the draft has changed since it was reviewed.
        PublicationRefusedError: every reason why the draft cannot be published.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        snapshot = publishable(
            environment,
            message=message,
            expected_live=expected_live,
            expected_draft=expected_draft,
            is_reviewed=is_reviewed,
            is_alone=True,
            may_repeat=may_repeat,
        )
        return make_live(environment, snapshot, by=by, message=message)


def publishable(
    environment: Environment,
    *,
    message: str,
    expected_live: str | None,
    expected_draft: str | None = None,
    is_reviewed: bool,
    is_alone: bool = False,
    may_repeat: bool = True,
) -> Snapshot:
    """Compile the draft if nothing speaks against publishing it. The caller holds the draft.

    Args:
        is_alone: one person wants to publish, and no other one has confirmed it.
        may_repeat: also a draft that is exactly what is live may be published.
    Raises:
        As `publish`.
    """
    _refuse_stale(environment, expected_live)
    details = [*_message_mistakes(message), *(_lonely(environment) if is_alone else ()), *_draft_mistakes(environment)]
    is_mistaken = bool(details)
    snapshot = None if is_mistaken else _compiled(environment, details)
    if not is_mistaken:
        _refuse_moved(snapshot, expected_draft)
    if snapshot is not None:
        details += [*failures(environment, snapshot), *guardrail_failures(environment, snapshot)]
        details += replay_mistakes(
            environment,
            draft_digest=snapshot.digest,
            live_digest=expected_live or "",
            is_reviewed=is_reviewed,
        )
    if snapshot is None or details:
        raise PublicationRefusedError(_("the draft cannot be published"), details)
    if not may_repeat:
        _refuse_repeat(environment, snapshot)
    return snapshot


def make_live(
    environment: Environment, snapshot: Snapshot, *, by: By, message: str, told: Mapping[str, Any] = NOTHING
) -> Publication:
    """Publish what `publishable` gave. The caller holds the draft since then.

    Args:
        told: what the ledger is to know beside number and message.
    """
    publication = Publication(
        environment=environment,
        snapshot=_store(environment, snapshot),
        message=message.strip(),
        document=write_tree(environment),
        approvals_document=write_approvals_tree(environment),
        guards_document=write_guards_tree(environment),
        log_marks=log_marks(),
    )
    return _add(publication, by, EntryKind.PUBLISH, told)


def rollback(
    environment: Environment,
    publication: Publication,
    *,
    by: By,
    message: str,
    expected_live: str | None,
    is_emergency: bool = False,
) -> Publication:
    """Make an earlier publication's snapshot live again. The draft stays as it is; `draft_discard` resets it.

    Args:
        is_emergency: one person goes back alone where two must publish. It is marked so for good.
    Raises:
        PublicationConflictError: something else is live by now.
        PublicationRefusedError: another environment's, live already, no message, it wants a second person, or it fails
            policy tests or guardrails of today.
        SnapshotUntrustedError: the stored snapshot does not fit its digest or signature.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        is_emergency = is_emergency and needs_second_person(environment)
        check_rollback(
            environment, publication, message=message, expected_live=expected_live, is_alone=not is_emergency
        )
        told = {"emergency": True} if is_emergency else NOTHING
        return make_live_again(publication, by=by, message=message, is_emergency=is_emergency, told=told)


def check_rollback(
    environment: Environment,
    publication: Publication,
    *,
    message: str,
    expected_live: str | None,
    is_alone: bool = False,
) -> None:
    """Hold a rollback to everything that speaks against it. The caller holds the draft.

    Args:
        is_alone: one person wants to go back, and neither another one nor an emergency stands behind it.
    Raises:
        As `rollback`.
    """
    _refuse_stale(environment, expected_live)
    details = [*_message_mistakes(message), *(_lonely(environment) if is_alone else ())]
    if publication.environment_id != environment.pk:
        details.append(_mistake("", "other_environment", _("the publication belongs to another environment")))
    elif publication.snapshot_id == _live_digest(environment):
        details.append(_mistake("", "already_live", _("this snapshot is live already")))
    if details:
        raise PublicationRefusedError(_("the publication cannot be rolled back to"), details)
    snapshot = publication_snapshot(publication)
    details = [*failures(environment, snapshot), *guardrail_failures(environment, snapshot)]
    if details:
        raise PublicationRefusedError(_("the publication fails policy tests or guardrails"), details)


def make_live_again(
    publication: Publication, *, by: By, message: str, is_emergency: bool = False, told: Mapping[str, Any] = NOTHING
) -> Publication:
    """Publish once more what `check_rollback` let pass. The caller holds the draft since then."""
    again = Publication(
        environment=publication.environment,
        snapshot_id=publication.snapshot_id,
        message=message.strip(),
        rollback_of=publication,
        is_emergency=is_emergency,
        document=publication.document,
        approvals_document=publication.approvals_document,
        guards_document=publication.guards_document,
        log_marks=publication.log_marks,
    )
    return _add(again, by, EntryKind.ROLLBACK, told)


def _refuse_moved(draft: Snapshot | None, expected: str | None) -> None:
    """Refuse a draft that is not the one that was reviewed; None is one that does not compile by now."""
    digest = "" if draft is None else draft.digest
    if expected and digest != expected:
        raise DraftMovedError(_("the draft has changed since it was reviewed: review it again"), digest)


def _refuse_repeat(environment: Environment, snapshot: Snapshot) -> None:
    """Refuse a draft that is what is live, in its rules and in every record."""
    live = Publication.objects.filter(environment=environment).only("snapshot_id", "log_marks").first()
    if live is not None and live.snapshot_id == snapshot.digest and not records_changed(environment, live):
        message = _("the draft is what is live: nothing would change; `force` publishes it all the same")
        raise PublicationRefusedError(_("nothing changed"), [_mistake("force", "nothing_changed", message)])


def _lonely(environment: Environment) -> list[dict[str, str]]:
    if not needs_second_person(environment):
        return []
    return [_mistake("", "second_person_needed", _("this environment wants a second person to confirm: ask for one"))]


def _live_digest(environment: Environment) -> str:
    live = Publication.objects.filter(environment=environment).values_list("snapshot_id", flat=True).first()
    return live or ""


def _refuse_stale(environment: Environment, expected_live: str | None) -> None:
    live = _live_digest(environment)
    if live != (expected_live or ""):
        shown = _("`%(digest)s` is live") % {"digest": live[:12]} if live else _("nothing is live")
        raise PublicationConflictError(_("someone published in the meantime: %(shown)s") % {"shown": shown}, live)


def _mistake(path: str, code: str, message: str) -> dict[str, str]:
    return {"path": path, "code": code, "message": message}


def _message_mistakes(message: str) -> list[dict[str, str]]:
    if not message.strip():
        return [_mistake("message", "required", _("a publication needs a message"))]
    if len(message) > MESSAGE_LENGTH:
        return [
            _mistake(
                "message",
                "too_long",
                _("is longer than %(message_length)s characters") % {"message_length": MESSAGE_LENGTH},
            )
        ]
    return []


def _draft_mistakes(environment: Environment) -> Sequence[dict[str, str]]:
    return [_mistake(finding.path, finding.code, finding.message) for finding in blocking_findings(environment)]


def _compiled(environment: Environment, details: list[dict[str, str]]) -> Snapshot | None:
    """Compile, and read back as a gateway would: what the engine refuses is not published."""
    try:
        snapshot = compile_draft(environment)
        load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest)
    except SnapshotError as exc:
        details.append(_mistake("", exc.code, exc.message))
        return None
    return snapshot


def _store(environment: Environment, snapshot: Snapshot) -> StoredSnapshot:
    stored = StoredSnapshot.objects.filter(pk=snapshot.digest).defer("content").first()
    if stored is not None:
        return stored
    content = snapshot.to_bytes()
    signature = sign(content)
    return StoredSnapshot.objects.create(
        digest=snapshot.digest,
        environment=environment,
        content=content,
        signature=signature.signature,
        key_id=signature.key_id,
        format=FORMAT,
        dialect=snapshot.dialect,
    )


Follower = Callable[[Publication, Publication], None]
_followers: list[Follower] = []


def publication_follow(follower: Follower) -> None:
    """Have a room above take part in each publication, inside its transaction: it is given the last and the new one."""
    _followers.append(follower)


def _add(publication: Publication, by: By, kind: EntryKind, told: Mapping[str, Any] = NOTHING) -> Publication:
    environment = publication.environment
    last = Publication.objects.filter(environment=environment).order_by("-number").first()
    publication.number = (0 if last is None else last.number) + 1
    publication.published_by = person_of(by)
    publication.actor = actor_of(by)
    publication.save(force_insert=True)
    announce("publication.created", id=publication.pk, environment=environment.slug)
    if last is not None:
        for follower in _followers:
            follower(last, publication)
    entry_record(
        EntryDraft(
            kind=kind,
            actor=publication.actor,
            environment=environment.slug,
            snapshot_digest=publication.snapshot_id,
            changes={"number": publication.number, "message": publication.message, **told},
        )
    )
    return publication
