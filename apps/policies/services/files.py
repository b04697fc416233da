"""Files of a repository become draft, policy tests and guardrails, whole or not at all; or say what they would."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.policies.actors import By, logged_as
from apps.policies.compiler import compile_draft
from apps.policies.document.findings import Diagnostic, Findings
from apps.policies.document.incoming import (
    Read,
    Text,
    Wanted,
    diagnostics_of,
    draft_reconcile,
    wanted_approvals,
    wanted_document,
    wanted_guards,
    wanted_profiles,
)
from apps.policies.document.named import parse_named
from apps.policies.document.reading import read_tree
from apps.policies.files import (
    APPROVALS,
    DOCUMENT,
    FILES,
    GUARDRAILS,
    GUARDS,
    PROFILES,
    TESTS,
    draft_trees,
    files_text,
)
from apps.policies.locks import draft_lock
from apps.policies.models import Guardrail, PolicyTest
from apps.policies.profiles import own_profiles
from apps.policies.proving import ProofRun, policy_tests_run
from apps.policies.services.guardrails import guardrails_reconcile
from apps.policies.services.policy_tests import policy_tests_reconcile
from apps.registry.models import Environment
from apps.registry.services.changing import change

REASON: Final = "apply"
N = TypeVar("N", PolicyTest, Guardrail)


@dataclass(frozen=True, slots=True)
class FilesReport:
    """What files did, or would do.

    Attributes:
        counts: how many records are `created`, `changed`, `deleted`, `unchanged`.
        tests, guardrails: names of those that are `created`, `changed`, `deleted`.
        is_changed: draft, policy tests or guardrails are not what they were.
    """

    counts: Mapping[str, int]
    tests: Mapping[str, list[str]]
    guardrails: Mapping[str, list[str]]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    records: Mapping[str, int] = field(default_factory=dict)
    is_changed: bool = True


@dataclass(frozen=True, slots=True)
class FilesPreview:
    """What an apply would do; `before` and `after` are the files of the environment, secrets as notes.

    `run` is of the policy tests that there would be, against the draft that there would be, where that was asked.
    """

    report: FilesReport
    before: Mapping[str, str]
    after: Mapping[str, str]
    run: ProofRun | None = None


def files_apply(environment: Environment, files: Mapping[str, Text], *, by: By) -> FilesReport:
    """Make files the draft and the policy tests of an environment. Files that change nothing leave no trace.

    Args:
        files: text by name, of `apps.policies.files.FILES`; what an absent one describes stays untouched.
    Raises:
        DocumentInvalidError: every mistake with its file and path; nothing has changed.
        PermissionDeniedError, PolicyTestInvalidError.
    """
    with change(by), transaction.atomic():
        environment = draft_lock(environment)
        before = draft_trees(environment)
        report = _reconciled(environment, files, by=by)
        if draft_trees(environment) == before:
            transaction.set_rollback(True)
            return replace(report, counts={}, tests={}, guardrails={}, is_changed=False)
        announce("draft.changed", id=environment.pk, environment=environment.slug)
        names = ("counts", "records", "tests", "guardrails")
        told = {"reason": REASON} | {name: getattr(report, name) for name in names}
        entry_record(EntryDraft(kind=EntryKind.IMPORT, actor=actor_of(by), environment=environment.slug, changes=told))
    return report


def files_preview(environment: Environment, files: Mapping[str, Text], *, with_tests: bool = False) -> FilesPreview:
    """Say what `files_apply` would do, and do none of it.

    Args:
        with_tests: run the policy tests that there would be, too.
    Raises:
        DocumentInvalidError: every mistake with its file and path.
        PolicyTestInvalidError, SnapshotError.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        before = draft_trees(environment)
        report = _reconciled(environment, files, by=None)
        after = draft_trees(environment)
        run = policy_tests_run(environment, compile_draft(environment)) if with_tests else None
        transaction.set_rollback(True)
    shown = replace(report, is_changed=after != before)
    return FilesPreview(shown, files_text(before, secrets="notes"), files_text(after, secrets="notes"), run)


def _reconciled(environment: Environment, files: Mapping[str, Text], *, by: By) -> FilesReport:
    """Make everything equal to what files say, in the current transaction; nothing is recorded."""
    given = {name: (lambda findings, name=name: read_tree(files[name], findings)) for name in FILES if name in files}
    wanted = _wanted(environment, given)
    tests, of_tests = _named(PolicyTest, given.get(TESTS), "tests:")
    guardrails, of_guardrails = _named(Guardrail, given.get(GUARDRAILS), "guardrails:")
    remarks = [Wanted([], (), findings) for findings in (of_tests, of_guardrails)]
    diagnostics = diagnostics_of([*wanted, *remarks], _("the files have mistakes"))
    with logged_as(by, reason=REASON):
        counts, records = draft_reconcile(environment, wanted)
        return FilesReport(
            counts,
            {} if tests is None else policy_tests_reconcile(environment, tests, by=by),
            {} if guardrails is None else guardrails_reconcile(environment, guardrails, by=by),
            diagnostics,
            records,
        )


def _wanted(environment: Environment, given: Mapping[str, Read]) -> list[Wanted]:
    """Read the files of the draft that are given, in the order in which they lean on each other."""
    wanted: list[Wanted] = []
    own, document = own_profiles(environment), None
    if PROFILES in given:
        wanted.append(wanted_profiles(environment, given[PROFILES]))
        own = [row.values["key"] for row in wanted[0].rows]
    if DOCUMENT in given:
        document = wanted_document(environment, given[DOCUMENT], profiles=own)
        wanted.append(document)
    if APPROVALS in given:
        wanted.append(wanted_approvals(environment, given[APPROVALS], document=document))
    if GUARDS in given:
        wanted.append(wanted_guards(given[GUARDS]))
    return wanted


def _named(model: type[N], read: Read | None, prefix: str) -> tuple[list[N] | None, Findings]:
    findings = Findings(prefix=prefix)
    if read is None:
        return None, findings
    tree = read(findings)
    return [] if tree is None else parse_named(model, tree, findings), findings
