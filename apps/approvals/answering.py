"""How answers are to be given: how long people have, who may answer, and in whose place."""

from copy import copy
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, may, require
from apps.accounts.models import ApiToken, Role, User
from apps.approvals.answerers import KIND_OF_FIELD, person_of
from apps.approvals.errors import AnswerInvalidError
from apps.approvals.models import AnswerPolicy, AnswerRule, Deputy
from apps.approvals.records import answer_change_record
from apps.approvals.teams import teams, unknown_people
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.subjects import SubjectKind
from apps.registry.models import Environment
from apps.registry.services.changing import By, change, check_version, field_problems, name_problems, write_fields
from apps.rows import RowsBy
from apps.subjects import subjects_refused, subjects_remarked

ESCALATION_FIELDS: Final = ("escalate_roles", "escalate_people", "escalate_teams")
RULE_FIELDS: Final = (
    *("name", "agents", "channels", "groups", "tools", "roles", "people", "teams", "quorum", "escalate_after_s"),
    *ESCALATION_FIELDS,
)
DEPUTY_LONGEST: Final = timedelta(days=90)
_asking = RowsBy(lambda: Environment.objects.select_related("answer_policy"), "slug")


def environment_asking(slug: str) -> Environment | None:
    """Find an environment together with how long its people have: what every request begins with."""
    return _asking.one(slug)


def answer_policy(environment: Environment) -> AnswerPolicy:
    """Give how long people of an environment have, also where nobody has said so yet."""
    if AnswerPolicy.environment.field.remote_field.is_cached(environment):  # it was read together with it
        found = getattr(environment, "answer_policy", None)
    else:
        found = AnswerPolicy.objects.filter(environment=environment).first()
    return found or AnswerPolicy(environment=environment)


def answer_policy_locked(environment: Environment) -> AnswerPolicy:
    """Give it to be changed, made where there is none; from then on `answer_policy` of this environment is this one."""
    AnswerPolicy.objects.get_or_create(environment=environment)
    policy = AnswerPolicy.objects.select_for_update().get(environment=environment)
    policy.environment = environment
    return policy


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
        policy = answer_policy_locked(environment)
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
    _check_fields(fields)
    with change(by):
        last = answer_rules(environment).aggregate(last=Max("position"))["last"]
        rule = AnswerRule(environment=environment, position=0 if last is None else last + 1, **fields)
        _check_rule(rule)
        rule.save(force_insert=True)
        answer_change_record(environment, by, "created", {"rule": rule.name, **fields})
    return rule


def answer_rule_change(
    rule: AnswerRule, *, expected_version: int | None = None, by: By = None, **fields: Any
) -> AnswerRule:
    """Change a rule; it holds for the next answer, also to requests that wait.

    Args:
        fields: of `RULE_FIELDS`.
    Raises:
        PermissionDeniedError, AnswerInvalidError, RecordChangedError.
    """
    _check_fields(fields)
    with change(by):
        rule = AnswerRule.objects.select_for_update(of=("self",)).select_related("environment").get(pk=rule.pk)
        check_version(rule, expected_version, fields)
        wanted, before = copy(rule), rule.name
        for name, value in fields.items():
            setattr(wanted, name, value)
        _check_rule(wanted)
        if write_fields(rule, fields):
            answer_change_record(rule.environment, by, "changed", {"rule": before, **fields})
    return rule


def answer_rule_move(rule: AnswerRule, *, before: str, by: By = None) -> None:
    """Have a rule asked just before another one.

    Args:
        before: the other rule's name; empty for behind all others.
    Raises:
        PermissionDeniedError, AnswerInvalidError: there is no such other rule.
    """
    with change(by):
        rules = list(answer_rules(rule.environment).select_for_update())
        others = [each for each in rules if each.pk != rule.pk]
        places = {each.name: place for place, each in enumerate(others)} | {"": len(others)}
        if before not in places:
            details = [{"path": "before", "code": "unknown", "message": _("no other rule of this name")}]
            raise AnswerInvalidError(_("this cannot be kept: see details"), details)
        others.insert(places[before], rule)
        if [each.pk for each in others] == [each.pk for each in rules]:
            return
        for position, each in enumerate(others):
            AnswerRule.objects.filter(pk=each.pk).update(position=position)
        answer_change_record(
            rule.environment, by, "moved", {"rule": rule.name, "order": [each.name for each in others]}
        )


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


def deputised(by: Principal) -> User:
    """Tell for whom somebody names deputies: for themselves, or behind a token for its person.

    Raises:
        AnswerInvalidError: a token without a person, or one that is bound: deputies hold everywhere.
    """
    person = person_of(by)
    if person is None:
        raise AnswerInvalidError(_("a token without a person has nobody in whose place to answer"))
    if isinstance(by, ApiToken) and (by.environment or by.agents):
        raise AnswerInvalidError(_("deputies hold everywhere: a token bound to an environment or agents names none"))
    return person


def deputy_name(person: User, *, deputy: str, until: datetime, at: datetime, by: By = None) -> Deputy:
    """Have somebody answer in one's place until a moment; naming the same person again moves that moment.

    Args:
        by: who says so, when it is a token of the person.
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
        said = {"deputy": found.username, "until": until.isoformat()}
        _deputy_record(person if by is None else by, "deputy named", {"person": person.username, **said})
    return row


def deputy_end(row: Deputy, *, by: Principal) -> None:
    """End it: the person themselves or their token, or whoever manages people.

    Raises:
        PermissionDeniedError.
    """
    person = person_of(by)
    if person is None or row.person_id != person.pk:
        require(by, Permission.USERS_MANAGE)
    with transaction.atomic():
        Deputy.objects.filter(pk=row.pk).delete()
        _deputy_record(by, "deputy ended", {"person": row.person.username, "deputy": row.deputy.username})


def _deputy_record(by: Principal, status: str, changes: dict[str, Any]) -> None:
    entry_record(EntryDraft(kind=EntryKind.ANSWER_CHANGE, actor=actor_of(by), status=status, changes=changes))


def _check_fields(fields: dict[str, Any]) -> None:
    unknown = sorted(fields.keys() - set(RULE_FIELDS))
    if unknown:
        raise AnswerInvalidError(_("a rule has no field named %(names)s") % {"names": ", ".join(unknown)})


def _check_rule(rule: AnswerRule) -> None:
    others = answer_rules(rule.environment).exclude(pk=rule.pk)
    is_named = rule.pk is None or not AnswerRule.objects.filter(pk=rule.pk, name=rule.name).exists()
    misnamed = name_problems(rule.name, others.values_list("name", flat=True)) if is_named else []
    details = [*field_problems(rule), *misnamed, *_nobody(rule), *_half_an_escalation(rule), *_nothing(rule)]
    if details:
        raise AnswerInvalidError(_("this cannot be kept: see details"), details)


def _nobody(rule: AnswerRule) -> list[dict[str, str]]:
    """Name the roles, people and teams of a rule that do not exist: nobody could ever answer then."""
    known_teams = set(teams(rule.environment).values_list("name", flat=True))
    found = []
    for start in ("", "escalate_"):
        unknown = {
            "roles": sorted(set(getattr(rule, f"{start}roles")) - set(Role.values)),
            "people": unknown_people(getattr(rule, f"{start}people")),
            "teams": sorted(set(getattr(rule, f"{start}teams")) - known_teams),
        }
        found += [(f"{start}{path}", names) for path, names in unknown.items() if names]
    return [
        {"path": path, "code": "unknown", "message": _("not known: %(names)s") % {"names": ", ".join(names)}}
        for path, names in found
    ]


def answer_rule_remarks(rule: AnswerRule) -> list[dict[str, str]]:
    """Name what a rule is about and is not there so far, in the shape of details: until it comes, no request is met."""
    return subjects_remarked(dialect_named(rule.environment.dialect), rule.environment.slug, _named(rule))


def _nothing(rule: AnswerRule) -> list[dict[str, str]]:
    """Name the agents, channels and tools of a rule that cannot be meant: it would let everybody answer."""
    return subjects_refused(dialect_named(rule.environment.dialect), rule.environment.slug, _named(rule))


def _named(rule: AnswerRule) -> dict[str, tuple[SubjectKind, list[str]]]:
    return {field: (kind, getattr(rule, field)) for field, kind in KIND_OF_FIELD.items()}


def _half_an_escalation(rule: AnswerRule) -> list[dict[str, str]]:
    """Refuse a time without anybody to go to, and somebody to go to without a time."""
    if (rule.escalate_after_s is not None) == bool(rule.escalates_to):
        return []
    if rule.escalates_to:
        return [{"path": "escalate_after_s", "code": "required", "message": _("say after how many seconds")}]
    return [{"path": "escalate_roles", "code": "required", "message": _("say which roles, people or teams")}]
