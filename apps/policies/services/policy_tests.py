"""What people change about policy tests. Each change holds the draft: a publication knows which cases it answered."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.masking import Masker
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.policies.actors import By
from apps.policies.errors import PolicyTestInvalidError, RecordGoneError
from apps.policies.locks import draft_lock
from apps.policies.models import PolicyTest
from apps.policies.services.named import named_reconcile
from apps.registry.models import Environment
from apps.registry.services.changing import change, check_version, field_problems, write_fields

FIELDS: Final = ("name", "tool", "context", "params", "verdict", "layer", "is_enabled")
TESTS_MOST: Final = 1_000
KIND: Final = "policy_test"


def policy_test_create(
    environment: Environment, *, by: By, origin: str = "hand", call: Any = None, **fields: Any
) -> PolicyTest:
    """Add a policy test; from now on no publication may fail it, unless it is switched off.

    Args:
        origin: what it is made from, of `CaseOrigin`; `call` the id of the recorded call.
        fields: of `FIELDS`; secrets in `params` are kept masked.
    Raises:
        PermissionDeniedError, PolicyTestInvalidError.
    """
    _check_names(fields)
    with change(by):
        environment = draft_lock(environment)
        if PolicyTest.objects.filter(environment=environment).count() >= TESTS_MOST:
            raise _wrong("", _("an environment keeps at most %(most)s policy tests") % {"most": TESTS_MOST})
        test = PolicyTest(environment=environment, origin=origin, call=call, made_by=actor_of(by), **_masked(fields))
        _check(test)
        test.save(force_insert=True)
        _tell(test, by, "create", _masked(fields))
    return test


def policy_test_save(test: PolicyTest, *, by: By, expected_version: int | None = None, **fields: Any) -> PolicyTest:
    """Change a policy test, or switch it off or on.

    Raises:
        PermissionDeniedError, PolicyTestInvalidError, RecordChangedError, RecordGoneError.
    """
    _check_names(fields)
    with change(by):
        test = _locked(test)
        fields = _masked(fields)
        check_version(test, expected_version, fields)
        _check(test, fields)
        if write_fields(test, fields):
            _tell(test, by, "update", fields)
    return test


def policy_test_delete(test: PolicyTest, *, by: By, expected_version: int | None = None) -> None:
    """Remove a policy test.

    Raises:
        PermissionDeniedError, RecordChangedError, RecordGoneError.
    """
    with change(by):
        test = _locked(test)
        check_version(test, expected_version, {})
        _tell(test, by, "delete", {})
        test.delete()


def policy_tests_reconcile(environment: Environment, wanted: Sequence[PolicyTest], *, by: By) -> dict[str, list[str]]:
    """Make the policy tests of an environment those that files hold, in the current transaction; nothing is recorded.

    Args:
        wanted: not stored, each valid by itself.
    Returns:
        The names of those that were `created`, `changed`, `deleted`.
    Raises:
        PolicyTestInvalidError: there are too many.
    """
    if len(wanted) > TESTS_MOST:
        raise _wrong("", _("an environment keeps at most %(most)s policy tests") % {"most": TESTS_MOST})
    return named_reconcile(PolicyTest, environment, wanted, fields=_fields, by=by)


def _fields(test: PolicyTest) -> dict[str, Any]:
    return _masked({name: getattr(test, name) for name in FIELDS})


def _locked(test: PolicyTest) -> PolicyTest:
    draft_lock(test.environment)
    found = PolicyTest.objects.select_related("environment").filter(pk=test.pk).first()
    if found is None:
        raise RecordGoneError(_("the policy test `%(name)s` does not exist any more") % {"name": test.name})
    return found


def _masked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Hide secrets in params: a case is kept for years, and shown to whoever reads policy."""
    params = fields.get("params")
    if not isinstance(params, Mapping):
        return dict(fields)
    try:
        return {**fields, "params": Masker().value("params", params)}
    except RecursionError as exc:
        raise _wrong("params", _("is not JSON")) from exc


def _check_names(fields: Mapping[str, Any]) -> None:
    unknown = sorted(fields.keys() - set(FIELDS))
    if unknown:
        raise PolicyTestInvalidError(_("a policy test has no field named %(names)s") % {"names": ", ".join(unknown)})


def _check(test: PolicyTest, changes: Mapping[str, Any] | None = None) -> None:
    """Hold a test, with changes that are not yet its own, to its rules."""
    wanted = copy(test)
    for name, value in (changes or {}).items():
        setattr(wanted, name, value)
    details = field_problems(wanted)
    if details:
        raise PolicyTestInvalidError(_("the policy test has mistakes"), details)


def _wrong(path: str, message: str) -> PolicyTestInvalidError:
    return PolicyTestInvalidError(message, [{"path": path, "code": "invalid", "message": message}])


def _tell(test: PolicyTest, by: By, action: str, fields: Mapping[str, Any]) -> None:
    announce("draft.changed", id=test.environment.pk, environment=test.environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.POLICY_CHANGE,
            actor=actor_of(by),
            environment=test.environment.slug,
            changes={
                "action": action,
                "kind": KIND,
                "record": test.name,
                "id": test.shown_id,
                "version": test.version,
                "fields": dict(fields),
            },
        )
    )
