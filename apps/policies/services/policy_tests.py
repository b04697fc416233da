"""What people change about policy tests."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.masking import Masker
from apps.policies.actors import By
from apps.policies.errors import PolicyTestInvalidError
from apps.policies.models import PolicyTest
from apps.policies.services.named import NamedKind, named_create, named_delete, named_reconcile, named_save
from apps.registry.models import Environment


def policy_test_create(
    environment: Environment, *, by: By, origin: str = "hand", call: Any = None, **fields: Any
) -> PolicyTest:
    """Add a policy test; from now on no publication may fail it, unless it is switched off.

    Args:
        origin: what it is made from, of `CaseOrigin`; `call` the id of the recorded call.
        fields: of `KIND.fields`; secrets in `params` are kept masked.
    Raises:
        PermissionDeniedError, PolicyTestInvalidError.
    """
    return named_create(KIND, environment, by=by, fields=fields, origin=origin, call=call)


def policy_test_save(test: PolicyTest, *, by: By, expected_version: int | None = None, **fields: Any) -> PolicyTest:
    """Change a policy test, or switch it off or on.

    Raises:
        PermissionDeniedError, PolicyTestInvalidError, RecordChangedError, RecordGoneError.
    """
    return named_save(KIND, test, by=by, expected_version=expected_version, fields=fields)


def policy_test_delete(test: PolicyTest, *, by: By, expected_version: int | None = None) -> None:
    """Remove a policy test.

    Raises:
        PermissionDeniedError, RecordChangedError, RecordGoneError.
    """
    named_delete(KIND, test, by=by, expected_version=expected_version)


def policy_tests_reconcile(environment: Environment, wanted: Sequence[PolicyTest], *, by: By) -> dict[str, list[str]]:
    """Make the policy tests of an environment those that files hold, as `named_reconcile` does.

    Raises:
        PolicyTestInvalidError: there are too many.
    """
    return named_reconcile(KIND, environment, wanted, by=by)


def _masked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Hide secrets in params: a case is kept for years, and shown to whoever reads policy."""
    params = fields.get("params")
    if not isinstance(params, Mapping):
        return dict(fields)
    try:
        return {**fields, "params": Masker().value("params", params)}
    except RecursionError as exc:
        message = _("is not JSON")
        raise PolicyTestInvalidError(message, [{"path": "params", "code": "invalid", "message": message}]) from exc


KIND: Final = NamedKind(
    model=PolicyTest,
    name="policy_test",
    fields=("name", "tool", "context", "params", "verdict", "layer", "is_enabled"),
    most=1_000,
    kept=_masked,
    invalid=PolicyTestInvalidError,
    too_many=gettext_lazy("an environment keeps at most %(most)s policy tests"),
    gone=gettext_lazy("the policy test `%(name)s` does not exist any more"),
    unknown_field=gettext_lazy("a policy test has no field named %(names)s"),
    mistakes=gettext_lazy("the policy test has mistakes"),
)
