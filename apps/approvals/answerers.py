"""Who may answer a request, in whose place, and how many people have said yes so far."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from apps.accounts.access import Permission, Principal, actor_of, may
from apps.accounts.models import ApiToken, User
from apps.approvals.errors import NotAnApproverError
from apps.approvals.models import AnswerRule, Approval, Deputy, Voice
from apps.approvals.records import voice_entry
from apps.approvals.rows import approval_save
from apps.approvals.rules import is_own
from apps.approvals.states import DECISION_OF, State
from apps.approvals.teams import people_in
from apps.audit.drafts import EntryDraft
from apps.events.notices import announce
from apps.firewall.engine.conversation_key import group_of_key
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.names import fold
from apps.firewall.engine.subjects import SubjectKind, can_be, subject_name, subject_names

KIND_OF_FIELD: Final[dict[str, SubjectKind]] = {"agents": "agent", "channels": "channel", "tools": "tool"}
"""What the names in a list of a rule are names of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voiced:
    """One more yes. While others are still needed the request waits; then `state` is what all of them allow."""

    is_waiting: bool
    state: State
    entry: EntryDraft


def answer_rule_of(approval: Approval, rules: Iterable[AnswerRule] | None = None) -> AnswerRule | None:
    """Find the rule that says who answers a request; None where whoever may answer at all does.

    Args:
        rules: those of its environment in their order, where the caller has read them already.
    """
    about, dialect = _about(approval), dialect_named(approval.environment.dialect)
    for rule in AnswerRule.objects.filter(environment=approval.environment) if rules is None else rules:
        if rule_is_about(rule, dialect, about):
            return rule
    return None


def _about(approval: Approval) -> dict[str, set[str]]:
    """Say what a request is about, as rules are compared with it."""
    dialect = dialect_named(approval.environment.dialect)
    group = group_of_key(dialect, approval.session_key)
    channels = {subject_name(dialect, "channel", each) for each in (approval.channel, group.channel or "")}
    return {
        "agents": {subject_name(dialect, "agent", approval.agent)},
        "channels": channels - {""},
        "groups": {fold(each) for each in group.group_ids},
        "tools": {subject_name(dialect, "tool", approval.tool)},
    }


def rule_is_about(rule: AnswerRule, dialect: Dialect, about: dict[str, set[str]]) -> bool:
    """Say whether a rule is about a request, by the agents, channels, groups and tools that the request has.

    What cannot be judged counts as met, for a rule only ever leaves an answer to fewer people: a request whose channel
    nobody knows, and a list in which no entry can be the name of anything.
    """
    for field, kind in KIND_OF_FIELD.items():
        names: list[str] = getattr(rule, field)
        matcher = subject_names(dialect, kind, names)
        is_unknown = not about[field] or not any(map(partial(can_be, dialect, kind), names))
        if names and not is_unknown and not any(map(matcher.matches, about[field])):
            return False
    return not rule.groups or bool(about["groups"] & set(map(fold, rule.groups)))


def person_of(by: Principal) -> User | None:
    """Tell the person who answers: themselves, or behind a token."""
    if isinstance(by, ApiToken):
        return by.created_by
    return by if isinstance(by, User) else None


def place_of(approval: Approval, rule: AnswerRule | None, by: Principal, at: datetime) -> str:
    """Let through who may answer, and tell in whose place they do; empty for their own.

    Raises:
        NotAnApproverError: the rule leaves it to others.
    """
    named = named_by(approval, rule)
    if named is None:
        return ""
    person = person_of(by)
    if person is not None:
        if named.covers(person):
            return ""
        for row in Deputy.objects.filter(deputy=person, until__gt=at, person__is_active=True).select_related("person"):
            if named.covers(row.person):
                return str(row.person)
    raise NotAnApproverError(f"the rule `{rule}` leaves the answer to others")


def answerers_of(approval: Approval, at: datetime) -> list[User]:
    """Give the people who may allow a request now: those whom its rule names, and who stands in for them."""
    people = [
        person
        for person in User.objects.filter(is_active=True)
        if may(person, Permission.APPROVALS_RESOLVE) and not is_own(approval, person)
    ]
    named = named_by(approval, answer_rule_of(approval))
    if named is None:
        return people
    away = Deputy.objects.filter(until__gt=at, person__is_active=True).select_related("person")
    deputies = {row.deputy_id for row in away if named.covers(row.person)}
    return [person for person in people if person.pk in deputies or named.covers(person)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Whom a rule, and an escalation, name for a request; those in its teams by name."""

    roles: frozenset[str]
    people: frozenset[str]

    def covers(self, person: User) -> bool:
        return person.role in self.roles or person.username.lower() in {name.lower() for name in self.people}


def named_by(approval: Approval, rule: AnswerRule | None) -> Named | None:
    """Tell whom the answer is left to; None for whoever may answer at all."""
    if rule is None or not rule.answerers:
        return None
    more: dict[str, list[str]] = approval.escalated_to or {}
    teams = [*rule.teams, *more.get("teams", ())]
    return Named(
        roles=frozenset([*rule.roles, *more.get("roles", ())]),
        people=frozenset([*rule.people, *more.get("people", ()), *people_in(approval.environment, teams)]),
    )


def label_of(by: Principal | None, place: str) -> str:
    """Name who answered, and in whose place."""
    if by is None:
        return ""
    return f"{by} (for {place})" if place else str(by)


def voice_of(by: Principal) -> str:
    """Name whom an answer counts for: the person, whatever tokens they have."""
    person = person_of(by)
    return actor_of(by) if person is None else person.actor


def voice_add(
    approval: Approval, wanted: State, *, rule: AnswerRule, by: Principal, place: str, at: datetime
) -> Voiced:
    """Count one person's yes to a locked request that needs several. The same person again counts once.

    Together people allow what the most careful of them did: one "once" makes it once.
    """
    actor = voice_of(by)
    decision = DECISION_OF[wanted]
    Voice.objects.update_or_create(
        approval=approval,
        actor=actor,
        defaults={"label": label_of(by, place), "in_place_of": place, "decision": decision, "at": at},
    )
    voices = list(Voice.objects.filter(approval=approval))
    is_waiting = len(voices) < rule.quorum
    if is_waiting:
        approval.voices_have, approval.voices_need = len(voices), rule.quorum
        approval_save(approval, "voices_have", "voices_need")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
    is_always = all(voice.decision == DECISION_OF[State.ALLOWED_ALWAYS] for voice in voices)
    entry = voice_entry(approval, decision, actor=actor_of(by), place=place, have=len(voices), need=rule.quorum, at=at)
    return Voiced(is_waiting=is_waiting, state=State.ALLOWED_ALWAYS if is_always else State.ALLOWED_ONCE, entry=entry)
