"""Import: a document becomes the draft of an environment, whole or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.policies.actors import By, logged_as
from apps.policies.document.findings import Diagnostic, Findings
from apps.policies.document.incoming import (
    Text,
    Wanted,
    diagnostics_of,
    draft_reconcile,
    wanted_approvals,
    wanted_document,
    wanted_guards,
)
from apps.policies.document.reading import check_tree, read_tree
from apps.policies.document.reconcile import APPROVALS_MODELS
from apps.policies.errors import DocumentInvalidError
from apps.policies.locks import draft_lock
from apps.policies.models import Publication
from apps.policies.profiles import own_profiles
from apps.registry.models import Environment


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: how many records it `created`, `changed`, `deleted`, left `unchanged`; and what it kept."""

    counts: Mapping[str, int]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    records: Mapping[str, int] = field(default_factory=dict)


def document_import(
    environment: Environment,
    text: Text | None,
    *,
    by: By,
    approvals: Text | None = None,
    guards: Text | None = None,
) -> ImportReport:
    """Make a document the draft of an environment; profiles of our own stay.

    Args:
        text: `openclaw.json` as JSON5; None leaves what it describes untouched.
        approvals: the exec approvals document, the same.
        guards: the document of grants and content filters, the same.
    Raises:
        DocumentInvalidError: every mistake with its path; nothing has changed.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        wanted = _given(environment, text, approvals, guards)
        return _apply(environment, wanted, by=by, reason="import", message=_("the document has mistakes"))


def document_check(
    environment: Environment, text: Text | None, *, approvals: Text | None = None, guards: Text | None = None
) -> list[Diagnostic]:
    """Say what an import would say, without importing."""
    return [item for part in _given(environment, text, approvals, guards) for item in part.findings.items]


def draft_discard(environment: Environment, *, by: By, publication: Publication | None = None) -> ImportReport:
    """Set the draft back to what a publication held; to the live one when none is named.

    Raises:
        DocumentInvalidError: nothing was published yet, or the publication is of another environment.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        if publication is None:
            publication = Publication.objects.filter(environment=environment).first()
        if publication is None:
            raise DocumentInvalidError(_("nothing has been published to go back to"))
        if publication.environment_id != environment.pk:
            raise DocumentInvalidError(_("the publication belongs to another environment"))
        return draft_take(environment, publication, by=by, reason="discard")


def draft_take(environment: Environment, publication: Publication, *, by: By, reason: str) -> ImportReport:
    """Set the draft to what a publication held, of whichever environment; profiles of our own stay.

    Raises:
        DocumentInvalidError: it cannot be read back here.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        document, approvals = publication.document, publication.approvals_document
        guards = publication.guards_document or {}
        own = own_profiles(environment)
        wanted = [
            wanted_document(environment, lambda findings: check_tree(document, findings), profiles=own, is_ours=True)
        ]
        if approvals is None:
            wanted.append(Wanted([], APPROVALS_MODELS, Findings()))
        else:
            wanted.append(wanted_approvals(environment, lambda findings: check_tree(approvals, findings), is_ours=True))
        wanted.append(wanted_guards(lambda findings: check_tree(guards, findings)))
        return _apply(environment, wanted, by=by, reason=reason, message=_("the publication cannot be read back"))


def _given(environment: Environment, text: Text | None, approvals: Text | None, guards: Text | None) -> list[Wanted]:
    """Read those documents that are given."""
    wanted: list[Wanted] = []
    document = None
    if text is not None:
        own = own_profiles(environment)
        document = wanted_document(environment, partial(read_tree, text), profiles=own)
        wanted.append(document)
    if approvals is not None:
        wanted.append(wanted_approvals(environment, partial(read_tree, approvals), document=document))
    if guards is not None:
        wanted.append(wanted_guards(lambda findings: read_tree(guards, findings)))
    return wanted


def _apply(environment: Environment, wanted: list[Wanted], *, by: By, reason: str, message: str) -> ImportReport:
    diagnostics = diagnostics_of(wanted, message)
    with logged_as(by, reason=reason):
        counts, records = draft_reconcile(environment, wanted)
    announce("draft.changed", id=environment.pk, environment=environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.IMPORT,
            actor=actor_of(by),
            environment=environment.slug,
            changes={"reason": reason, "counts": counts, "records": records},
        )
    )
    return ImportReport(counts, diagnostics, records)
