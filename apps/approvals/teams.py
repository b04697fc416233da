"""Teams: people by one name, for the rules of who may answer."""

from copy import copy
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, may_environment, require
from apps.accounts.models import User
from apps.approvals.errors import AnswerInvalidError, TeamInUseError, TeamNotFoundError
from apps.approvals.models import AnswerRule, Approval, Team
from apps.approvals.records import answer_change_record
from apps.approvals.rows import approval_save
from apps.approvals.states import State
from apps.registry.models import Environment
from apps.registry.services.changing import By, change, check_version, field_problems, name_problems, write_fields


def teams(environment: Environment) -> QuerySet[Team]:
    """Give the teams of an environment, by name."""
    return Team.objects.filter(environment=environment)


def team_access(principal: Principal, environment: Environment, name: str, *, write: bool = False) -> Team:
    """Give a team to who may see it, or with `write` to who may change it.

    Raises:
        TeamNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not changed.
    """
    team = teams(environment).filter(name=name).first() if may_environment(principal, environment.slug) else None
    if team is None:
        raise TeamNotFoundError("no such team")
    require(principal, Permission.POLICY_WRITE if write else Permission.APPROVALS_READ)
    return team


def team_add(environment: Environment, *, name: str, people: list[str], by: By = None) -> Team:
    """Add a team.

    Args:
        people: user names, at least one.
    Raises:
        PermissionDeniedError, AnswerInvalidError: a name that is taken, nobody in it, a person who does not exist.
    """
    with change(by):
        team = Team(environment=environment, name=name, people=_each_once(people))
        _check(team)
        team.save(force_insert=True)
        answer_change_record(environment, by, "created", {"team": name, "people": team.people})
    return team


def team_change(team: Team, *, expected_version: int | None = None, by: By = None, **fields: Any) -> Team:
    """Change a team; rules that name it, and requests that escalated to it, keep naming it.

    Args:
        fields: name, people.
    Raises:
        PermissionDeniedError, AnswerInvalidError, RecordChangedError.
    """
    with change(by):
        team = Team.objects.select_for_update(of=("self",)).select_related("environment").get(pk=team.pk)
        check_version(team, expected_version, fields)
        wanted, before = copy(team), team.name
        for name, value in fields.items():
            setattr(wanted, name, _each_once(value) if name == "people" else value)
        _check(wanted)
        if write_fields(team, {name: getattr(wanted, name) for name in fields}):
            _rename_where_named(team.environment, before, team.name)
            answer_change_record(team.environment, by, "changed", {"team": before, **fields})
    return team


def team_remove(team: Team, *, by: By = None) -> None:
    """Remove a team that no rule names.

    Raises:
        PermissionDeniedError, TeamInUseError: with the rules that name it.
        TeamNotFoundError: somebody else has removed it.
    """
    with change(by):
        rows = teams(team.environment).select_for_update(of=("self",)).select_related("environment")
        current = rows.filter(pk=team.pk).first()
        if current is None:
            raise TeamNotFoundError("no such team")
        team = current
        using = list(_naming(team.environment, team.name).select_for_update().values_list("name", flat=True))
        if using:
            raise TeamInUseError(_("rules name this team: %(names)s") % {"names": ", ".join(using)}, using)
        Team.objects.filter(pk=team.pk).delete()
        answer_change_record(team.environment, by, "removed", {"team": team.name})


def people_in(environment: Environment, names: list[str]) -> set[str]:
    """Give the user names of those who are in some teams of an environment."""
    found = teams(environment).filter(name__in=names).values_list("people", flat=True) if names else ()
    return {username for people in found for username in people}


def unknown_people(names: list[str]) -> list[str]:
    """Give those of some user names that nobody has."""
    return sorted(set(names) - set(User.objects.filter(username__in=names).values_list("username", flat=True)))


def _naming(environment: Environment, name: str) -> QuerySet[AnswerRule]:
    named = Q(teams__contains=[name]) | Q(escalate_teams__contains=[name])
    return AnswerRule.objects.filter(named, environment=environment)


def _rename_where_named(environment: Environment, before: str, after: str) -> None:
    if before == after:
        return

    def renamed(names: list[str]) -> list[str]:
        return [after if each == before else each for each in names]

    for rule in _naming(environment, before).select_for_update():
        write_fields(rule, {field: renamed(getattr(rule, field)) for field in ("teams", "escalate_teams")})
    escalated = Approval.objects.filter(
        environment=environment, state=State.REQUESTED, escalated_to__teams__contains=[before]
    )
    for approval in escalated.select_for_update():
        to: dict[str, list[str]] = approval.escalated_to or {}
        approval.escalated_to = to | {"teams": renamed(to["teams"])}
        approval_save(approval, "escalated_to")


def _each_once(people: list[str]) -> list[str]:
    return list(dict.fromkeys(people))


def _check(team: Team) -> None:
    others = teams(team.environment).exclude(pk=team.pk)
    is_named = team.pk is None or not Team.objects.filter(pk=team.pk, name=team.name).exists()
    misnamed = name_problems(team.name, others.values_list("name", flat=True)) if is_named else []
    details = [*field_problems(team), *misnamed]
    unknown = unknown_people(team.people)
    if unknown:
        message = _("not known: %(names)s") % {"names": ", ".join(unknown)}
        details.append({"path": "people", "code": "unknown", "message": message})
    if details:
        raise AnswerInvalidError(_("this cannot be kept: see details"), details)
