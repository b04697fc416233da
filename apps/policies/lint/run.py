"""The whole review, and the part of it that concerns some records."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from apps.policies.document.findings import show_path
from apps.policies.kinds import kind_of
from apps.policies.lint.addresses import address_findings
from apps.policies.lint.commands import allowlist_remarks
from apps.policies.lint.draft import Draft
from apps.policies.lint.execution import command_findings
from apps.policies.lint.findings import LintFinding
from apps.policies.lint.guards import guard_remarks
from apps.policies.lint.layers import layer_findings
from apps.policies.lint.names import BLOCKS_OF, UNEXAMINED, NameReview
from apps.policies.lint.reach import Remark, unreached
from apps.policies.lint.scopes import draft_remarks, unread_findings
from apps.policies.models.base import PolicyRecord
from apps.registry.models import Environment

_ORDER = {"error": 0, "warning": 1, "info": 2}
Reviewer = Callable[[Environment], Iterable[LintFinding]]
_reviewers: dict[str, Reviewer] = {}


def reviewer_register(name: str, reviewer: Reviewer) -> None:
    """Have another room asked whenever a draft is reviewed: it knows whose calls the draft decides."""
    _reviewers[name] = reviewer


def with_outside(environment: Environment, findings: Sequence[LintFinding]) -> list[LintFinding]:
    """Add to a review what other rooms remark on the draft; that may change while the draft does not."""
    outside = [finding for reviewer in _reviewers.values() for finding in reviewer(environment)]
    return sorted([*findings, *outside], key=lambda finding: _ORDER[finding.severity])


def lint(environment: Environment) -> list[LintFinding]:
    """Review the draft of an environment: errors first, then in the order of the document."""
    draft = Draft(environment)
    records = [record for kind in BLOCKS_OF for record in draft.records(kind)]
    found = [
        *_placed(draft, draft_remarks(draft)),
        *_name_findings(draft, records),
        *_placed(draft, unreached(draft)),
        *_placed(draft, allowlist_remarks(draft)),
        *command_findings(draft),
        *layer_findings(draft),
        *unread_findings(draft),
        *address_findings(draft),
        *_placed(draft, guard_remarks(draft)),
    ]
    return sorted(found, key=lambda finding: _ORDER[finding.severity])


def lint_commands(records: Sequence[PolicyRecord]) -> list[LintFinding]:
    """Review what some records of one draft say of commands, as `lint` does with all of them."""
    if not records:
        return []
    wanted = {record.pk for record in records}
    return [finding for finding in command_findings(Draft(records[0].environment)) if finding.record in wanted]


def blocking_findings(environment: Environment) -> list[LintFinding]:
    """Return what keeps the draft from being published."""
    draft = Draft(environment)
    return [finding for finding in _placed(draft, draft_remarks(draft)) if finding.severity == "error"]


def _name_findings(draft: Draft, records: Iterable[Any]) -> Iterator[LintFinding]:
    review = NameReview(draft)
    for record in records:
        kind = kind_of(record)
        for place, *columns in BLOCKS_OF.get(kind, ()):
            lists = (getattr(record, column) for column in columns)
            remarks = review.block(*lists, is_examined=place not in UNEXAMINED)
            if not remarks:
                continue
            path = ".".join(part for part in (show_path(draft.places.of(record)), place) if part)
            for remark in remarks:
                yield LintFinding(
                    remark.code,
                    remark.severity,
                    f"{path}.{remark.member}",
                    record.pk,
                    kind,
                    remark.entry,
                    remark.message,
                    remark.suggestion,
                )


def _placed(draft: Draft, remarks: Iterable[Remark]) -> Iterator[LintFinding]:
    for record, code, severity, message in remarks:
        if record is None:
            yield LintFinding(code, severity, "", None, "", "", message)
        else:
            path = show_path(draft.places.of(record))
            yield LintFinding(code, severity, path, record.pk, kind_of(record), "", message)
