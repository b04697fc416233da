"""What changes alike of the records that have a name in their environment: guardrails and policy tests.

Each change holds the draft: a publication knows which of them it was held against.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.utils.functional import Promise

from apps.accounts.access import actor_of
from apps.policies.actors import By
from apps.policies.errors import PolicyError, RecordGoneError
from apps.policies.locks import draft_lock
from apps.policies.models import Guardrail, PolicyTest
from apps.policies.services.changing import tell
from apps.registry.models import Environment
from apps.registry.services.changing import change, check_version, field_problems, write_fields

N = TypeVar("N", PolicyTest, Guardrail)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedKind(Generic[N]):
    """One kind of named records, and what is said when a change of one is refused.

    Attributes:
        name: of the kind, in the ledger.
        fields: what people write.
        most: how many an environment keeps.
        kept: turns fields as they come into fields as they are kept.
        invalid: the error of a record that would not be valid.
    """

    model: type[N]
    name: str
    fields: tuple[str, ...]
    most: int
    kept: Callable[[Mapping[str, Any]], dict[str, Any]]
    invalid: type[PolicyError]
    too_many: Promise
    gone: Promise
    unknown_field: Promise
    mistakes: Promise


def named_create(kind: NamedKind[N], environment: Environment, *, by: By, fields: Mapping[str, Any], **made: Any) -> N:
    """Add a record.

    Args:
        fields: what people write of it; `made` holds what nobody changes later.
    Raises:
        PermissionDeniedError, and what the kind calls invalid.
    """
    _check_names(kind, fields)
    with change(by):
        environment, fields = draft_lock(environment), kind.kept(fields)
        _check_number(kind, kind.model._default_manager.filter(environment=environment).count() + 1)
        record = kind.model(environment=environment, made_by=actor_of(by), **made, **fields)
        _check(kind, record)
        record.save(force_insert=True)
        named_tell(kind, record, by, "create", fields)
    return record


def named_save(kind: NamedKind[N], record: N, *, by: By, expected_version: int | None, fields: Mapping[str, Any]) -> N:
    """Change a record.

    Raises:
        PermissionDeniedError, RecordChangedError, RecordGoneError, and what the kind calls invalid.
    """
    _check_names(kind, fields)
    with change(by):
        record, fields = named_locked(kind, record), kind.kept(fields)
        check_version(record, expected_version, fields)
        _check(kind, record, fields)
        if write_fields(record, fields):
            named_tell(kind, record, by, "update", fields)
    return record


def named_delete(kind: NamedKind[N], record: N, *, by: By, expected_version: int | None) -> None:
    """Remove a record.

    Raises:
        PermissionDeniedError, RecordChangedError, RecordGoneError.
    """
    with change(by):
        record = named_locked(kind, record)
        check_version(record, expected_version, {})
        named_tell(kind, record, by, "delete", {})
        record.delete()


def named_reconcile(
    kind: NamedKind[N], environment: Environment, wanted: Sequence[N], *, by: By
) -> dict[str, list[str]]:
    """Make the records of an environment those that are wanted, in the current transaction; nothing is recorded.

    Args:
        wanted: not stored, each valid by itself.
    Returns:
        The names of those that were `created`, `changed`, `deleted`.
    Raises:
        What the kind calls invalid: there are too many.
    """
    _check_number(kind, len(wanted))
    stored = {record.name: record for record in kind.model._default_manager.filter(environment=environment)}
    told: dict[str, list[str]] = {"created": [], "changed": [], "deleted": []}
    for name in sorted(stored.keys() - {record.name for record in wanted}):
        stored.pop(name).delete()
        told["deleted"].append(name)
    for record in wanted:
        known, kept = stored.get(record.name), kind.kept({name: getattr(record, name) for name in kind.fields})
        if known is None:
            kind.model(environment=environment, made_by=actor_of(by), **kept).save(force_insert=True)
            told["created"].append(record.name)
        elif write_fields(known, kept):
            told["changed"].append(record.name)
    return told


def named_locked(kind: NamedKind[N], record: N) -> N:
    """Hold the draft, and read a record anew.

    Raises:
        RecordGoneError: it was removed meanwhile.
    """
    draft_lock(record.environment)
    found = kind.model._default_manager.select_related("environment").filter(pk=record.pk).first()
    if found is None:
        raise RecordGoneError(str(kind.gone) % {"name": record.name})
    return found


def named_tell(kind: NamedKind[N], record: N, by: By, action: str, fields: Mapping[str, Any]) -> None:
    """Record a change in audit, and announce it to the pages that show the draft."""
    named = {"kind": kind.name, "record": record.name, "id": record.shown_id, "version": record.version}
    tell(record.environment, by, action, **named, fields=dict(fields))


def _check_names(kind: NamedKind[N], fields: Mapping[str, Any]) -> None:
    unknown = sorted(fields.keys() - set(kind.fields))
    if unknown:
        raise kind.invalid(str(kind.unknown_field) % {"names": ", ".join(unknown)})


def _check_number(kind: NamedKind[N], number: int) -> None:
    if number > kind.most:
        message = str(kind.too_many) % {"most": kind.most}
        raise kind.invalid(message, [{"path": "", "code": "invalid", "message": message}])


def _check(kind: NamedKind[N], record: N, changes: Mapping[str, Any] | None = None) -> None:
    """Hold a record, with changes that are not yet its own, to its rules."""
    wanted = copy(record)
    for name, value in (changes or {}).items():
        setattr(wanted, name, value)
    details = field_problems(wanted)
    if details:
        raise kind.invalid(str(kind.mistakes), details)
