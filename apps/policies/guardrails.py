"""Guardrails held against a snapshot: which hold, which fail and where, and whose failing somebody accepted."""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.firewall.engine.guardrail_form import GuardrailForm
from apps.firewall.engine.guardrails import GuardrailCheck, check_guardrails
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.stages.command_lists import takes_command
from apps.policies.guardrail_words import counterexample_words
from apps.policies.models import Guardrail, GuardrailAcceptance
from apps.registry.models import Environment

logger = logging.getLogger(__name__)

KEPT = 16
_checks: OrderedDict[tuple[str, GuardrailForm], GuardrailCheck] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class CheckedGuardrail:
    """A guardrail with what became of it.

    Attributes:
        check: None for one that is switched off, and for one that could not be checked; `error` says why then.
        acceptance: of exactly what fails now.
    """

    guardrail: Guardrail
    check: GuardrailCheck | None
    acceptance: GuardrailAcceptance | None = None
    error: str = ""

    @property
    def is_skipped(self) -> bool:
        return self.check is None and not self.error

    @property
    def holds(self) -> bool:
        return self.is_skipped or (self.check is not None and self.check.holds)

    @property
    def stops(self) -> bool:
        """Say whether nothing may be published: it fails and nobody accepted it, or nobody can tell."""
        return not self.holds and self.acceptance is None

    @property
    def may_be_accepted(self) -> bool:
        return self.stops and self.check is not None and not self.guardrail.is_blocking


def guardrails(environment: Environment) -> QuerySet[Guardrail]:
    """Every guardrail of an environment, by name."""
    return Guardrail.objects.select_related("environment").filter(environment=environment)


def guardrail_get(environment: Environment, guardrail_id: UUID) -> Guardrail | None:
    """Find a guardrail of an environment."""
    return guardrails(environment).filter(pk=guardrail_id).first()


def guardrails_checked(environment: Environment, snapshot: Snapshot) -> list[CheckedGuardrail]:
    """Hold every guardrail of an environment against a snapshot; those switched off stand aside."""
    return checked(snapshot, list(guardrails(environment)))


def checked(snapshot: Snapshot, wanted: Sequence[Guardrail]) -> list[CheckedGuardrail]:
    """Hold some guardrails against a snapshot, in their order."""
    forms, errors = _forms_of(wanted)
    try:
        found = dict(zip(forms, forms_checked(snapshot, list(forms.values())), strict=True))
    except Exception as exc:
        logger.exception("guardrails could not be checked")
        message = exc.message if isinstance(exc, FirewallError) else str(exc)
        found, errors = {}, errors | dict.fromkeys(forms, message)
    accepted = _acceptances(wanted)
    return [
        CheckedGuardrail(each, check, _acceptance(each, check, accepted), errors.get(each.pk, ""))
        for each in wanted
        for check in (found.get(each.pk),)
    ]


def _forms_of(wanted: Sequence[Guardrail]) -> tuple[dict[UUID, GuardrailForm], dict[UUID, str]]:
    """Read the forms of those that are switched on; say of the others why they cannot be read."""
    forms: dict[UUID, GuardrailForm] = {}
    errors: dict[UUID, str] = {}
    for each in wanted:
        if each.is_enabled:
            try:
                forms[each.pk] = GuardrailForm.from_json(each.form)
            except FirewallError as exc:
                errors[each.pk] = exc.message
    return forms, errors


def forms_checked(snapshot: Snapshot, forms: Sequence[GuardrailForm]) -> list[GuardrailCheck]:
    """Check forms; what is known of a snapshot, which never changes, is not worked out again."""
    with _lock:
        known = {form: _checks.get((snapshot.digest, form)) for form in forms}
    fresh = [form for form, check in known.items() if check is None]
    if fresh:
        found = dict(zip(fresh, check_guardrails(snapshot, fresh, commands=_commands(snapshot, fresh)), strict=True))
        with _lock:
            for form, check in found.items():
                _checks[snapshot.digest, form] = check
            while len(_checks) > max(KEPT, 4 * len(forms)):
                _checks.popitem(last=False)
        known |= found
    return [check for check in map(known.get, forms) if check is not None]


def guardrails_known(environment: Environment, snapshot: Snapshot) -> bool:
    """Say whether every guardrail that is switched on was held against a snapshot already."""
    forms, _errors = _forms_of(list(guardrails(environment)))
    with _lock:
        return all((snapshot.digest, form) in _checks for form in forms.values())


def guardrail_failures(environment: Environment, snapshot: Snapshot) -> list[dict[str, str]]:
    """Name every guardrail for which a snapshot may not be published, as details of a refusal."""
    return [guardrail_detail(each) for each in guardrails_checked(environment, snapshot) if each.stops]


def guardrail_detail(checked: CheckedGuardrail) -> dict[str, str]:
    """Say of a guardrail that stops a publication what is wrong, with the context that shows it."""
    name, check = checked.guardrail.name, checked.check
    if check is None or check.counterexample is None:
        code = "guardrail_unchecked"
        message = _("the guardrail `%(name)s` cannot be checked: %(error)s") % {"name": name, "error": checked.error}
    else:
        code = "guardrail_failed" if checked.guardrail.is_blocking else "guardrail_unaccepted"
        said = {"name": name, "why": counterexample_words(check.counterexample)}
        if checked.guardrail.is_blocking:
            message = _("the guardrail `%(name)s` fails: %(why)s") % said
        else:
            message = _("the guardrail `%(name)s` fails, and nobody accepted it: %(why)s") % said
    return {"path": f"guardrails.{name}", "code": code, "message": message}


def _commands(snapshot: Snapshot, forms: Sequence[GuardrailForm]) -> frozenset[str]:
    """Name the tools about whose commands people are asked, where any guardrail demands that."""
    if all(form.requires != "asks" for form in forms):
        return frozenset()
    tools = ((name, snapshot.tool(name)) for name in snapshot.tool_names)
    return frozenset(name for name, tool in tools if tool is not None and takes_command(tool))


def _acceptances(wanted: Sequence[Guardrail]) -> dict[tuple[UUID, int, str], GuardrailAcceptance]:
    softer = [each.pk for each in wanted if not each.is_blocking]
    rows = GuardrailAcceptance.objects.filter(guardrail__in=softer) if softer else []
    return {(row.guardrail_id, row.guardrail_version, row.fingerprint): row for row in rows}


def _acceptance(
    guardrail: Guardrail,
    check: GuardrailCheck | None,
    accepted: dict[tuple[UUID, int, str], GuardrailAcceptance],
) -> GuardrailAcceptance | None:
    if check is None or check.holds:
        return None
    return accepted.get((guardrail.pk, guardrail.version, check.fingerprint))
