"""What a change of rules and teams lets more people answer: they act at once, so people read it before they save."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.access import Permission, may
from apps.accounts.models import Role, User
from apps.approvals.answerers import KIND_OF_FIELD, rule_is_about
from apps.approvals.models import AnswerRule
from apps.approvals.teams import teams
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.names import fold
from apps.firewall.engine.subjects import subject_names
from apps.registry.models import Environment

COMPARED: Final = 2000
SHOWN: Final = 4
ANY_OTHER: Final = "any other"
"""Stands for every name that no rule has; no name folds to one with a blank."""

About = dict[str, set[str]]


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules in the order in which they are asked, and the people of each team."""

    rules: Sequence[AnswerRule]
    teams: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers one kind of request.

    Attributes:
        first: user names and roles; None for whoever may answer at all.
        later: the same, after `after_s` seconds without an answer.
    """

    first: frozenset[str] | None = None
    later: frozenset[str] | None = None
    after_s: int = 0
    quorum: int = 1


def rules_now(environment: Environment) -> Rules:
    """Read the rules and teams of an environment."""
    rules = AnswerRule.objects.filter(environment=environment)
    return Rules(list(rules), dict(teams(environment).values_list("name", "people")))


def rules_widen(environment: Environment, after: Rules) -> list[str]:
    """Say, a sentence each, who may answer after a change what they may not answer now, and where fewer are needed."""
    before, dialect = rules_now(environment), dialect_named(environment.dialect)
    asked = _requests(dialect, [*before.rules, *after.rules])
    people = _people()
    found: dict[str, list[str]] = {}
    for about in islice(asked, COMPARED):
        was = _answering(before, about, dialect, people)
        for line in _wider(was, _answering(after, about, dialect, people)):
            found.setdefault(line, []).append(_words(about))
    lines = [f"{line} {_examples(requests)}" for line, requests in found.items()]
    if next(asked, None) is not None:
        lines.append(_("The rules name too much to compare all of it: look at who answers yourself."))
    return lines


def _requests(dialect: Dialect, rules: Sequence[AnswerRule]) -> Iterator[About]:
    """Make one request for each combination of what the rules name, and of any other name."""
    sides: dict[str, list[str]] = {}
    for field, kind in KIND_OF_FIELD.items():
        named = [name for rule in rules for name in subject_names(dialect, kind, getattr(rule, field)).entries]
        sides[field] = list(dict.fromkeys([*named, ANY_OTHER]))
    groups = [fold(name) for rule in rules for name in rule.groups]
    sides["groups"] = list(dict.fromkeys([*groups, ANY_OTHER]))
    return ({field: {name} for field, name in zip(sides, each, strict=True)} for each in product(*sides.values()))


def _answering(rules: Rules, about: About, dialect: Dialect, people: Mapping[str, str]) -> Answering:
    rule = next((each for each in rules.rules if rule_is_about(each, dialect, about)), None)
    if rule is None:
        return Answering()
    if not rule.answerers:
        return Answering(quorum=rule.quorum)
    first = _covered(rules, rule.roles, rule.people, rule.teams, people)
    more = _covered(rules, rule.escalate_roles, rule.escalate_people, rule.escalate_teams, people)
    return Answering(first, first | more, rule.escalate_after_s or 0, rule.quorum)


def _covered(
    rules: Rules, roles: Sequence[str], names: Sequence[str], in_teams: Sequence[str], people: Mapping[str, str]
) -> frozenset[str]:
    """Name the roles, and those of the people who may answer that a rule names itself, by role or by team."""
    named = {name.lower() for name in [*names, *(each for team in in_teams for each in rules.teams.get(team, ()))]}
    labels = {str(Role(role).label) for role in roles if role in Role.values}
    return frozenset(labels | {name for name, role in people.items() if name.lower() in named or role in roles})


def _people() -> dict[str, str]:
    """Give whoever may answer at all, with their role."""
    users = User.objects.filter(is_active=True).order_by("username")
    return {user.username: user.role for user in users if may(user, Permission.APPROVALS_RESOLVE)}


def _wider(was: Answering, becomes: Answering) -> Iterator[str]:
    if becomes.quorum < was.quorum:
        text = ngettext(
            "%(after)s person has to allow it; it was %(before)s.",
            "%(after)s people have to allow it; it was %(before)s.",
            becomes.quorum,
        )
        yield text % {"after": becomes.quorum, "before": was.quorum}
    if was.first is None:
        return
    if becomes.first is None:
        yield _("Everybody who may answer requests can answer.")
        return
    at_once = becomes.first - was.first
    if at_once:
        yield _("Can answer, too: %(people)s.") % {"people": ", ".join(sorted(at_once))}
    yield from _wider_later(was, becomes, at_once)


def _wider_later(was: Answering, becomes: Answering, at_once: frozenset[str]) -> Iterator[str]:
    was_later, later = was.later or frozenset(), becomes.later or frozenset()
    is_sooner = becomes.after_s < was.after_s
    more = later - at_once - (was.first or frozenset()) - (frozenset() if is_sooner else was_later)
    if more:
        text = _("Can answer after %(seconds)s seconds without an answer: %(people)s.")
        yield text % {"seconds": becomes.after_s, "people": ", ".join(sorted(more))}


def _words(about: About) -> str:
    """Say which requests these are; empty for those that no rule names."""
    kinds = {"agents": _("agent"), "channels": _("channel"), "groups": _("group"), "tools": _("tool")}
    return " ".join(f"{kinds[field]} {name}" for field, (name,) in about.items() if name != ANY_OTHER)


def _examples(requests: Sequence[str]) -> str:
    """Say for which requests it holds, of many the first."""
    named = sorted(filter(None, requests), key=len)
    others = [] if "" not in requests else [_("requests that no rule names")]
    left = len(named) - SHOWN
    more = [ngettext("%(count)s more", "%(count)s more", left) % {"count": left}] if left > 0 else []
    return f"({get_text_list([*others, *named[:SHOWN], *more], _('and'))})"
