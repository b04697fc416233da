"""What people change about guardrails. Each change holds the draft: a publication knows which it was held against."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.engine.guardrail_form import GuardrailForm
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.actors import By, person_of
from apps.policies.errors import (
    GuardrailInvalidError,
    GuardrailNotAcceptedError,
    RecordGoneError,
    SnapshotUntrustedError,
)
from apps.policies.guardrails import checked
from apps.policies.locks import draft_lock
from apps.policies.models import Guardrail, GuardrailAcceptance, Publication
from apps.policies.selectors import draft_snapshot
from apps.policies.services.named import named_reconcile
from apps.policies.snapshots import publication_snapshot
from apps.registry.models import Environment
from apps.registry.services.changing import change, check_version, field_problems, write_fields

FIELDS: Final = ("name", "description", "form", "severity", "is_enabled")
GUARDRAILS_MOST: Final = 100
REASON_LENGTH: Final = 2000
KIND: Final = "guardrail"


def guardrail_create(environment: Environment, *, by: By, **fields: Any) -> Guardrail:
    """Add a guardrail; from now on no publication may fail it unaccepted, unless it is switched off.

    Args:
        fields: of `FIELDS`.
    Raises:
        PermissionDeniedError, GuardrailInvalidError.
    """
    _check_names(fields)
    with change(by):
        environment = draft_lock(environment)
        if Guardrail.objects.filter(environment=environment).count() >= GUARDRAILS_MOST:
            message = _("an environment keeps at most %(most)s guardrails") % {"most": GUARDRAILS_MOST}
            raise _wrong(GuardrailInvalidError, "", message)
        guardrail = Guardrail(environment=environment, made_by=actor_of(by), **fields)
        _check(guardrail)
        guardrail.form = _written(guardrail.form)
        guardrail.save(force_insert=True)
        _tell(guardrail, by, "create", fields)
    return guardrail


def guardrail_save(guardrail: Guardrail, *, by: By, expected_version: int | None = None, **fields: Any) -> Guardrail:
    """Change a guardrail, or switch it off or on. What was accepted of its former version counts no longer.

    Raises:
        PermissionDeniedError, GuardrailInvalidError, RecordChangedError, RecordGoneError.
    """
    _check_names(fields)
    with change(by):
        guardrail = _locked(guardrail)
        check_version(guardrail, expected_version, fields)
        _check(guardrail, fields)
        if "form" in fields:
            fields = {**fields, "form": _written(fields["form"])}
        if write_fields(guardrail, fields):
            _tell(guardrail, by, "update", fields)
    return guardrail


def guardrail_delete(guardrail: Guardrail, *, by: By, expected_version: int | None = None) -> None:
    """Remove a guardrail and what was accepted of it; the change log keeps both.

    Raises:
        PermissionDeniedError, RecordChangedError, RecordGoneError.
    """
    with change(by):
        guardrail = _locked(guardrail)
        check_version(guardrail, expected_version, {})
        _tell(guardrail, by, "delete", {})
        guardrail.delete()


def guardrails_reconcile(environment: Environment, wanted: Sequence[Guardrail], *, by: By) -> dict[str, list[str]]:
    """Make the guardrails of an environment those that files hold, in the current transaction; nothing is recorded.

    Args:
        wanted: not stored, each valid by itself.
    Returns:
        The names of those that were `created`, `changed`, `deleted`.
    Raises:
        GuardrailInvalidError: there are too many.
    """
    if len(wanted) > GUARDRAILS_MOST:
        message = _("an environment keeps at most %(most)s guardrails") % {"most": GUARDRAILS_MOST}
        raise _wrong(GuardrailInvalidError, "", message)
    return named_reconcile(Guardrail, environment, wanted, fields=_fields, by=by)


def _fields(guardrail: Guardrail) -> dict[str, Any]:
    return {name: getattr(guardrail, name) for name in FIELDS} | {"form": _written(guardrail.form)}


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
        guardrail = _locked(guardrail)
        _check_reason(reason, by)
        if publication is not None and publication.environment_id != guardrail.environment_id:
            message = _("the publication belongs to another environment")
            raise _wrong(GuardrailNotAcceptedError, "", message)
        current = _failing(guardrail, publication)
        if current != fingerprint:
            raise _wrong(GuardrailNotAcceptedError, "fingerprint", _("something else fails by now: look at it again"))
        acceptance, is_new = GuardrailAcceptance.objects.get_or_create(
            guardrail=guardrail,
            guardrail_version=guardrail.version,
            fingerprint=fingerprint,
            defaults={"reason": reason.strip(), "accepted_by": actor_of(person_of(by))},
        )
        if is_new:
            _tell(guardrail, by, "accept", {"fingerprint": fingerprint, "reason": acceptance.reason})
    return acceptance


def _failing(guardrail: Guardrail, publication: Publication | None) -> str:
    """Return the fingerprint of what fails of a guardrail whose failing may be accepted."""
    if guardrail.is_blocking:
        raise _wrong(GuardrailNotAcceptedError, "", _("this guardrail blocks: nobody can accept that it fails"))
    try:
        snapshot = draft_snapshot(guardrail.environment) if publication is None else publication_snapshot(publication)
        (found,) = checked(snapshot, [guardrail])
    except (SnapshotError, SnapshotUntrustedError) as exc:
        raise _wrong(GuardrailNotAcceptedError, "", exc.message) from exc
    if found.error:
        raise _wrong(GuardrailNotAcceptedError, "", _("it cannot be checked: %(error)s") % {"error": found.error})
    if found.check is None or found.check.holds:
        raise _wrong(GuardrailNotAcceptedError, "", _("it holds: there is nothing to accept"))
    return found.check.fingerprint


def _check_reason(reason: str, by: By) -> None:
    if person_of(by) is None:
        raise _wrong(GuardrailNotAcceptedError, "", _("only a person can accept that a guardrail fails"))
    if not reason.strip():
        raise _wrong(GuardrailNotAcceptedError, "reason", _("say why it may fail"))
    if len(reason) > REASON_LENGTH:
        message = _("is longer than %(limit)s characters") % {"limit": REASON_LENGTH}
        raise _wrong(GuardrailNotAcceptedError, "reason", message)


def _locked(guardrail: Guardrail) -> Guardrail:
    draft_lock(guardrail.environment)
    found = Guardrail.objects.select_related("environment").filter(pk=guardrail.pk).first()
    if found is None:
        raise RecordGoneError(_("the guardrail `%(name)s` does not exist any more") % {"name": guardrail.name})
    return found


def _written(form: Any) -> dict[str, Any]:
    """Return a form as it is kept: without members that say nothing."""
    return GuardrailForm.from_json(form).to_json()


def _check_names(fields: Mapping[str, Any]) -> None:
    unknown = sorted(fields.keys() - set(FIELDS))
    if unknown:
        raise GuardrailInvalidError(_("a guardrail has no field named %(names)s") % {"names": ", ".join(unknown)})


def _check(guardrail: Guardrail, changes: Mapping[str, Any] | None = None) -> None:
    """Hold a guardrail, with changes that are not yet its own, to its rules."""
    wanted = copy(guardrail)
    for name, value in (changes or {}).items():
        setattr(wanted, name, value)
    details = field_problems(wanted)
    if details:
        raise GuardrailInvalidError(_("the guardrail has mistakes"), details)


def _wrong(
    error: type[GuardrailInvalidError] | type[GuardrailNotAcceptedError], path: str, message: str
) -> GuardrailInvalidError | GuardrailNotAcceptedError:
    return error(message, [{"path": path, "code": "invalid", "message": message}])


def _tell(guardrail: Guardrail, by: By, action: str, fields: Mapping[str, Any]) -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.POLICY_CHANGE,
            actor=actor_of(by),
            environment=guardrail.environment.slug,
            changes={
                "action": action,
                "kind": KIND,
                "record": guardrail.name,
                "id": guardrail.shown_id,
                "version": guardrail.version,
                "fields": dict(fields),
            },
        )
    )
