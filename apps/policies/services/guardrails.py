"""What people change about guardrails, and whose failing they accept."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.access import Permission, actor_of
from apps.firewall.engine.guardrail_form import GuardrailForm, GuardrailFormError
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.actors import By, person_of
from apps.policies.errors import GuardrailInvalidError, GuardrailNotAcceptedError, SnapshotUntrustedError
from apps.policies.guardrails import checked
from apps.policies.models import Guardrail, GuardrailAcceptance, Publication
from apps.policies.selectors import draft_snapshot
from apps.policies.services.named import (
    NamedKind,
    named_create,
    named_delete,
    named_locked,
    named_reconcile,
    named_save,
    named_tell,
)
from apps.policies.snapshots import publication_snapshot
from apps.registry.models import Environment
from apps.registry.services.changing import change

REASON_LENGTH: Final = 2000


def guardrail_create(environment: Environment, *, by: By, **fields: Any) -> Guardrail:
    """Add a guardrail; from now on no publication may fail it unaccepted, unless it is switched off.

    Args:
        fields: of `KIND.fields`.
    Raises:
        PermissionDeniedError, GuardrailInvalidError.
    """
    return named_create(KIND, environment, by=by, fields=fields)


def guardrail_save(guardrail: Guardrail, *, by: By, expected_version: int | None = None, **fields: Any) -> Guardrail:
    """Change a guardrail, or switch it off or on. What was accepted of its former version counts no longer.

    Raises:
        PermissionDeniedError, GuardrailInvalidError, RecordChangedError, RecordGoneError.
    """
    return named_save(KIND, guardrail, by=by, expected_version=expected_version, fields=fields)


def guardrail_delete(guardrail: Guardrail, *, by: By, expected_version: int | None = None) -> None:
    """Remove a guardrail and what was accepted of it; the change log keeps both.

    Raises:
        PermissionDeniedError, RecordChangedError, RecordGoneError.
    """
    named_delete(KIND, guardrail, by=by, expected_version=expected_version)


def guardrails_reconcile(environment: Environment, wanted: Sequence[Guardrail], *, by: By) -> dict[str, list[str]]:
    """Make the guardrails of an environment those that files hold, as `named_reconcile` does.

    Raises:
        GuardrailInvalidError: there are too many.
    """
    return named_reconcile(KIND, environment, wanted, by=by)


def guardrail_accept(
    guardrail: Guardrail, *, by: By, fingerprint: str, reason: str, publication: Publication | None = None
) -> GuardrailAcceptance:
    """Accept by name what fails of a guardrail in the draft. Only exactly that is accepted.

    Args:
        fingerprint: of the failure that was seen.
        publication: accept what fails in its snapshot, to which somebody wants to go back.
    Raises:
        PermissionDeniedError: `by` may not publish.
        GuardrailNotAcceptedError: it blocks, holds, fails otherwise than was seen, or nobody says why.
        RecordGoneError.
    """
    with change(by, permission=Permission.PUBLISH):
        guardrail = named_locked(KIND, guardrail)
        _check_reason(reason, by)
        if publication is not None and publication.environment_id != guardrail.environment_id:
            message = _("the publication belongs to another environment")
            raise _refused("", message)
        current = _failing(guardrail, publication)
        if current != fingerprint:
            raise _refused("fingerprint", _("something else fails by now: look at it again"))
        acceptance, is_new = GuardrailAcceptance.objects.get_or_create(
            guardrail=guardrail,
            guardrail_version=guardrail.version,
            fingerprint=fingerprint,
            defaults={"reason": reason.strip(), "accepted_by": actor_of(person_of(by))},
        )
        if is_new:
            named_tell(KIND, guardrail, by, "accept", {"fingerprint": fingerprint, "reason": acceptance.reason})
    return acceptance


def _failing(guardrail: Guardrail, publication: Publication | None) -> str:
    """Return the fingerprint of what fails of a guardrail whose failing may be accepted."""
    if guardrail.is_blocking:
        raise _refused("", _("this guardrail blocks: nobody can accept that it fails"))
    try:
        snapshot = draft_snapshot(guardrail.environment) if publication is None else publication_snapshot(publication)
        (found,) = checked(snapshot, [guardrail])
    except (SnapshotError, SnapshotUntrustedError) as exc:
        raise _refused("", exc.message) from exc
    if found.error:
        raise _refused("", _("it cannot be checked: %(error)s") % {"error": found.error})
    if found.check is None or found.check.holds:
        raise _refused("", _("it holds: there is nothing to accept"))
    return found.check.fingerprint


def _check_reason(reason: str, by: By) -> None:
    if person_of(by) is None:
        raise _refused("", _("only a person can accept that a guardrail fails"))
    if not reason.strip():
        raise _refused("reason", _("say why it may fail"))
    if len(reason) > REASON_LENGTH:
        message = _("is longer than %(limit)s characters") % {"limit": REASON_LENGTH}
        raise _refused("reason", message)


def _refused(path: str, message: str) -> GuardrailNotAcceptedError:
    return GuardrailNotAcceptedError(message, [{"path": path, "code": "invalid", "message": message}])


def _written(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Keep a form without members that say nothing; one that cannot be read is left to the record's own rules."""
    if "form" not in fields:
        return dict(fields)
    try:
        return {**fields, "form": GuardrailForm.from_json(fields["form"]).to_json()}
    except GuardrailFormError:
        return dict(fields)


KIND: Final = NamedKind(
    model=Guardrail,
    name="guardrail",
    fields=("name", "description", "form", "severity", "is_enabled"),
    most=100,
    kept=_written,
    invalid=GuardrailInvalidError,
    too_many=gettext_lazy("an environment keeps at most %(most)s guardrails"),
    gone=gettext_lazy("the guardrail `%(name)s` does not exist any more"),
    unknown_field=gettext_lazy("a guardrail has no field named %(names)s"),
    mistakes=gettext_lazy("the guardrail has mistakes"),
)
