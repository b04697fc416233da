"""Which requests are left to one person: by name, by role, by a team, or by somebody whom they stand in for."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from apps.accounts.access import Principal
from apps.accounts.models import User
from apps.approvals.answerers import Named, answer_rule_of, named_by, person_of, voice_of
from apps.approvals.models import AnswerRule, Approval, Deputy, Voice
from apps.approvals.rules import is_own
from apps.registry.models import Environment


@dataclass
class Assigned:
    """What waits for one person's answer at one moment; rules, deputies and answers are read once for all requests."""

    environment: Environment
    by: Principal
    at: datetime
    _rules: list[AnswerRule] = field(init=False)
    _people: list[User] = field(init=False)
    _said: set[UUID] = field(init=False)
    _named: dict[str, Named | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        person = person_of(self.by)
        self._rules = list(AnswerRule.objects.filter(environment=self.environment))
        self._people, self._said = [], set()
        if person is None or not self._rules:
            return
        away = Deputy.objects.filter(deputy=person, until__gt=self.at, person__is_active=True).select_related("person")
        self._people = [person, *(row.person for row in away)]
        said = Voice.objects.filter(actor=voice_of(self.by), approval__environment=self.environment)
        self._said = set(said.filter(approval__decided_at=None).values_list("approval_id", flat=True))

    def holds(self, approval: Approval) -> bool:
        """Say whether a rule leaves a request to the person, who neither made it nor said yes to it already."""
        if not self._people or approval.pk in self._said or is_own(approval, self.by):
            return False
        named = self._whom(approval)
        return named is not None and any(named.covers(person) for person in self._people)

    def ids(self, waiting: QuerySet[Approval]) -> list[UUID]:
        """Give the ids of those of some requests that are left to the person."""
        return [approval.pk for approval in waiting if self.holds(approval)] if self._people else []

    def _whom(self, approval: Approval) -> Named | None:
        rule = answer_rule_of(approval, self._rules)
        key = json.dumps([None if rule is None else rule.pk, approval.escalated_to], sort_keys=True)
        if key not in self._named:
            self._named[key] = named_by(approval, rule)
        return self._named[key]
