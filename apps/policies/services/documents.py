"""Import: a document becomes the draft of an environment, whole or not at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.policies.actors import By, logged_as
from apps.policies.document.approvals import parse_approvals
from apps.policies.document.current import to_current
from apps.policies.document.findings import Diagnostic, Findings, Path
from apps.policies.document.guards import GUARD_MODELS, parse_guards
from apps.policies.document.parsing import Parser, kept_places
from apps.policies.document.reading import check_tree, read_tree
from apps.policies.document.reconcile import APPROVALS_MODELS, DOCUMENT_MODELS, Reconciler
from apps.policies.document.rows import Row
from apps.policies.document.secrets import refuse_envelopes, seal_secrets, sealed_places
from apps.policies.document.writing import write_approvals_tree, write_tree
from apps.policies.errors import DocumentInvalidError
from apps.policies.locks import draft_lock
from apps.policies.models import Publication
from apps.policies.profiles import own_profiles
from apps.registry.models import Environment

Text = str | bytes


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: how many records it `created`, `changed`, `deleted`, left `unchanged`; and what it kept."""

    counts: Mapping[str, int]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    records: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Wanted:
    """The rows of one kind of document, and the models that they replace."""

    rows: list[Row]
    models: tuple[Any, ...]
    findings: Findings


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
        document, approvals = publication.document, publication.approvals_document
        guards = publication.guards_document or {}
        wanted = [_read_document(environment, lambda findings: check_tree(document, findings), is_ours=True)]
        if approvals is None:
            wanted.append(_Wanted([], APPROVALS_MODELS, Findings()))
        else:
            wanted.append(_read_approvals(environment, lambda findings: check_tree(approvals, findings), is_ours=True))
        wanted.append(_read_guards(lambda findings: check_tree(guards, findings)))
        return _apply(environment, wanted, by=by, reason="discard", message=_("the publication cannot be read back"))


def _given(environment: Environment, text: Text | None, approvals: Text | None, guards: Text | None) -> list[_Wanted]:
    """Read those documents that are given."""
    wanted = []
    if text is not None:
        wanted.append(_read_document(environment, lambda findings: read_tree(text, findings)))
    if approvals is not None:
        wanted.append(_read_approvals(environment, lambda findings: read_tree(approvals, findings)))
    if guards is not None:
        wanted.append(_read_guards(lambda findings: read_tree(guards, findings)))
    return wanted


def _read_document(
    environment: Environment, read: Callable[[Findings], dict[str, Any] | None], *, is_ours: bool = False
) -> _Wanted:
    findings = Findings()
    tree = read(findings)
    rows: list[Row] = []
    if tree is not None:
        if not is_ours:
            refuse_envelopes(tree, findings)
        to_current(tree, environment.dialect, findings)
        profiles = frozenset(own_profiles(environment))
        rows = Parser(environment.dialect, findings, profiles).parse(tree)
        _finish(rows, write_tree(environment), findings)
    return _Wanted(rows, DOCUMENT_MODELS, findings)


def _read_approvals(
    environment: Environment, read: Callable[[Findings], dict[str, Any] | None], *, is_ours: bool = False
) -> _Wanted:
    findings = Findings(prefix="approvals:")
    tree = read(findings)
    rows: list[Row] = []
    if tree is not None:
        if not is_ours:
            refuse_envelopes(tree, findings)
        rows = parse_approvals(tree, findings)
        _finish(rows, write_approvals_tree(environment), findings)
    return _Wanted(rows, APPROVALS_MODELS, findings)


def _read_guards(read: Callable[[Findings], dict[str, Any] | None]) -> _Wanted:
    findings = Findings(prefix="guards:")
    tree = read(findings)
    return _Wanted([] if tree is None else parse_guards(tree, findings), GUARD_MODELS, findings)


def _finish(rows: list[Row], present: dict[str, Any] | None, findings: Findings) -> None:
    """Seal what the rows keep, and name it."""
    if any(findings.errors()):
        return
    known: dict[Path, Any] = dict(sealed_places(present))
    for row in rows:
        if row.values["extra"]:
            for place in kept_places(row):
                findings.info(place, "kept_verbatim", _("kept as it is, not part of the tool policy"))
            row.values["extra"] = seal_secrets(row.values["extra"], row.path, known, findings)


def _apply(environment: Environment, wanted: list[_Wanted], *, by: By, reason: str, message: str) -> ImportReport:
    diagnostics = [item for part in wanted for item in part.findings.items]
    mistakes = [item for item in diagnostics if item.severity == "error"]
    if mistakes:
        raise DocumentInvalidError(message, [item.as_detail() for item in mistakes])
    counts: dict[str, int] = {"created": 0, "changed": 0, "deleted": 0, "unchanged": 0}
    records: dict[str, int] = {}
    with logged_as(by, reason=reason):
        for part in wanted:
            for name, count in Reconciler(environment, part.models).run(part.rows).items():
                counts[name] += count
            for row in part.rows:
                records[row.model._meta.model_name or ""] = records.get(row.model._meta.model_name or "", 0) + 1
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
