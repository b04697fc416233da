"""How answers are to be given: how long people have, who may answer, and in whose place."""

from copy import copy
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, may, require
from apps.accounts.models import Role, User
from apps.approvals.errors import AnswerInvalidError
from apps.approvals.models import AnswerPolicy, AnswerRule, Deputy
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.registry.models import Environment
from apps.registry.services.changing import By, actor_of, change, check_version, field_problems, write_fields

RULE_FIELDS: Final = ("name", "agents", "channels", "groups", "tools", "roles", "people", "quorum")
DEPUTY_LONGEST: Final = timedelta(days=90)


def answer_policy(environment: Environment) -> AnswerPolicy:
    """Give how long people of an environment have, also where nobody has said so yet."""
    return AnswerPolicy.objects.filter(environment=environment).first() or AnswerPolicy(environment=environment)


def answer_policy_save(
    environment: Environment, *, wait_s: int | None, expected_version: int | None = None, by: By = None
) -> AnswerPolicy:
    """Change how long people have to answer; requests that wait keep their deadline.

    Args:
        wait_s: 5 seconds to a day; None for what the environment's release gives.
    Raises:
        PermissionDeniedError, AnswerInvalidError, RecordChangedError.
    """
    fields: dict[str, Any] = {"wait_s": wait_s}
    with change(by):
        AnswerPolicy.objects.get_or_create(environment=environment)
        policy = AnswerPolicy.objects.select_for_update().get(environment=environment)
        check_version(policy, expected_version, fields)
        wanted = copy(policy)
        wanted.wait_s = wait_s
        details = field_problems(wanted)
        if details:
            raise AnswerInvalidError(_("this cannot be kept: see details"), details)
        if write_fields(policy, fields):
            answer_change_record(environment, by, "changed", fields)
    return policy


def answer_rules(environment: Environment) -> QuerySet[AnswerRule]:
    """Give the rules of who may answer, in the order in which they are asked."""
    return AnswerRule.objects.filter(environment=environment)


def answer_rule_add(environment: Environment, *, by: By = None, **fields: Any) -> AnswerRule:
    """Add a rule behind the others; it holds for the next answer, also to requests that wait.

    Args:
        fields: of `RULE_FIELDS`.
    Raises:
        PermissionDeniedError, AnswerInvalidError: a name that is taken, a role or person that does not exist.
    """
    unknown = sorted(fields.keys() - set(RULE_FIELDS))
    if unknown:
        raise AnswerInvalidError(_("a rule has no field named %(names)s") % {"names": ", ".join(unknown)})
    with change(by):
        last = answer_rules(environment).aggregate(last=Max("position"))["last"]
        rule = AnswerRule(environment=environment, position=0 if last is None else last + 1, **fields)
        details = [*field_problems(rule), *_nobody(rule)]
        if details:
            raise AnswerInvalidError(_("this cannot be kept: see details"), details)
        rule.save(force_insert=True)
        answer_change_record(environment, by, "created", {"rule": rule.name, **fields})
    return rule


def answer_rule_remove(rule: AnswerRule, *, by: By = None) -> None:
    """Remove a rule.

    Raises:
        PermissionDeniedError.
    """
    with change(by):
        AnswerRule.objects.filter(pk=rule.pk).delete()
        answer_change_record(rule.environment, by, "removed", {"rule": rule.name})


def deputies(at: datetime) -> QuerySet[Deputy]:
    """Give who answers in whose place now."""
    return Deputy.objects.filter(until__gt=at).select_related("person", "deputy")


def deputy_name(person: User, *, deputy: str, until: datetime, at: datetime) -> Deputy:
    """Have somebody answer in one's place until a moment; naming the same person again moves that moment.

    Raises:
        PermissionDeniedError, AnswerInvalidError: no such person who may answer, oneself, or a moment that is over or
            more than 90 days away.
    """
    require(person, Permission.APPROVALS_RESOLVE)
    found = User.objects.filter(username__iexact=deputy, is_active=True).exclude(pk=person.pk).first()
    details = []
    if found is None or not may(found, Permission.APPROVALS_RESOLVE):
        message = _("nobody else of this name may answer requests")
        details.append({"path": "deputy", "code": "invalid", "message": message})
    if not at < until <= at + DEPUTY_LONGEST:
        details.append({"path": "until", "code": "invalid", "message": _("a moment within the next 90 days")})
    if found is None or details:
        raise AnswerInvalidError(_("this cannot be kept: see details"), details)
    with transaction.atomic():
        row, _new = Deputy.objects.update_or_create(person=person, deputy=found, defaults={"until": until})
        _deputy_record(person, "deputy named", {"deputy": found.username, "until": until.isoformat()})
    return row


def deputy_end(row: Deputy, *, by: User) -> None:
    """End it: the person themselves, or whoever manages people.

    Raises:
        PermissionDeniedError.
    """
    if row.person_id != by.pk:
        require(by, Permission.USERS_MANAGE)
    with transaction.atomic():
        Deputy.objects.filter(pk=row.pk).delete()
        _deputy_record(by, "deputy ended", {"person": row.person.username, "deputy": row.deputy.username})


def _deputy_record(by: User, status: str, changes: dict[str, Any]) -> None:
    entry_record(EntryDraft(kind=EntryKind.ANSWER_CHANGE, actor=by.actor, status=status, changes=changes))


def _nobody(rule: AnswerRule) -> list[dict[str, str]]:
    """Name the roles and people of a rule that do not exist: nobody could ever answer then."""
    roles = set(rule.roles) - set(Role.values)
    people = set(rule.people) - set(User.objects.filter(username__in=rule.people).values_list("username", flat=True))
    return [
        {"path": path, "code": "unknown", "message": _("not known: %(names)s") % {"names": ", ".join(sorted(names))}}
        for path, names in (("roles", roles), ("people", people))
        if names
    ]


def answer_change_record(environment: Environment, by: By, status: str, changes: dict[str, Any]) -> None:
    """Put on record, and tell, what somebody changed about answering. Last in a transaction."""
    announce("answering.changed", id=environment.pk, environment=environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.ANSWER_CHANGE,
            actor=actor_of(by),
            environment=environment.slug,
            status=status,
            changes=changes,
        )
    )
