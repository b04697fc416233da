"""Requests to a person, and the standing grants that came from their answers."""

import json
from datetime import timedelta
from typing import ClassVar

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from apps.approvals.states import ALLOWED, TRANSITIONS, Decision, State
from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.identifiers import new_id, show_id
from apps.keys.seal import unseal
from apps.registry.models import Environment

ARGV_PURPOSE = "grant.argv"
WAIT_LEAST_S, WAIT_MOST_S = 5, 86_400
STORM_DENIALS_MOST, STORM_MINUTES_MOST = 1000, 1440
DECISIONS = [decision.value for decision in Decision]


def every_decision() -> list[str]:
    return list(DECISIONS)


def life_as_a_trigger() -> pgtrigger.FSM:
    """Have the database itself refuse every way that the table of states does not know."""
    ways = sorted((str(old), str(new)) for old, following in TRANSITIONS.items() for new in following)
    return pgtrigger.FSM(name="life", field="state", transitions=ways)


class Approval(models.Model):
    """One action that waits, or waited, for a person.

    What people see (`command`, `parts`, `argv`, `evidence`) is masked. The action itself is sealed in `sealed_action`
    for as long as it may still run, and bound to the answer by `action_digest`. `question_digest` is the same for
    repeats of one question, and empty where none can be told; `drift` names what had changed when it was to run.
    Similar requests have the same `shape`, and those that were answered together the same `batch_id`. A request of a
    program that runs the action itself (`runs_here` is false) may carry its own id in `given_id`. Since `frozen_at` its
    time stands still, and did for `stood_still` before. `fallback_rule` names the setting that lets it run when nobody
    answers in time. `escalated_to` holds `roles`, `people` and `teams` who may answer as well.
    """

    class Kind(models.TextChoices):
        EXEC = "exec"
        TOOL = "tool"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="approvals")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    call_id = models.UUIDField(unique=True)
    version = models.PositiveIntegerField(default=1)

    agent = models.TextField(blank=True)
    session_key = models.TextField(blank=True)
    channel = models.TextField(blank=True)
    sender = models.TextField(blank=True)
    sender_name = models.TextField(blank=True)
    sender_is_owner = models.BooleanField(null=True)
    actor = models.TextField(blank=True)
    requester = models.TextField(blank=True)
    given_id = models.TextField(blank=True)
    runs_here = models.BooleanField(default=True)

    tool = models.TextField()
    title = models.TextField(blank=True)
    severity = models.CharField(max_length=16, blank=True)
    command = models.TextField(blank=True)
    argv = ArrayField(models.TextField(), default=list)
    resolved_path = models.TextField(blank=True)
    cwd = models.TextField(blank=True)
    host = models.TextField(blank=True)
    params = models.JSONField(default=dict)
    evidence = models.JSONField(default=list)
    parts = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    not_bound = models.JSONField(default=list)
    reason_layer = models.TextField(blank=True)
    reason_rule = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    snapshot_digest = models.TextField(blank=True)
    trace_id = models.TextField(blank=True)

    decisions = ArrayField(models.CharField(max_length=16), default=every_decision)
    fallback_rule = models.TextField(blank=True, default="")
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    waits_until = models.DateTimeField(null=True)
    """Until when a caller that must come back for the answer is known to wait; empty for all others."""
    frozen_at = models.DateTimeField(null=True)
    stood_still = models.DurationField(default=timedelta)
    escalated_at = models.DateTimeField(null=True)
    escalated_to = models.JSONField(null=True)
    state = models.CharField(
        max_length=16, choices=[(state.value, state.value) for state in State], default="requested"
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_by_label = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)
    scope = models.JSONField(null=True)
    voices_have = models.PositiveSmallIntegerField(default=0)
    voices_need = models.PositiveSmallIntegerField(default=1)
    superseded_by = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="supersedes")

    action_digest = models.CharField(max_length=64)
    question_digest = models.CharField(max_length=64, blank=True)
    shape = models.CharField(max_length=64, blank=True, default="")
    batch_id = models.UUIDField(null=True)
    drift = ArrayField(models.TextField(), null=True)
    sealed_action = models.BinaryField(null=True)
    claimed_at = models.DateTimeField(null=True)
    claimed_by = models.UUIDField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["expires_at", "id"]
        indexes: ClassVar = [
            models.Index(fields=["environment", "expires_at"], name="approval_pending", condition=Q(state="requested")),
            models.Index(fields=["environment", "shape"], name="approval_similar", condition=Q(state="requested")),
            models.Index(fields=["environment", "-decided_at"], name="approval_recent"),
            models.Index(fields=["actor", "given_id"], name="approval_given_id", condition=~Q(given_id="")),
            models.Index(fields=["decided_at"], name="approval_unfinished", condition=Q(sealed_action__isnull=False)),
        ]
        triggers: ClassVar = [life_as_a_trigger()]
        constraints: ClassVar = [
            models.CheckConstraint(name="approval_state_is_known", condition=Q(state__in=sorted(State))),
            models.CheckConstraint(
                name="approval_replaced_only_when_superseded",
                condition=Q(superseded_by__isnull=True) | Q(state="superseded"),
            ),
            models.UniqueConstraint(
                name="approval_question_waits_once",
                fields=["environment", "question_digest"],
                condition=Q(state="requested") & ~Q(question_digest=""),
            ),
            models.UniqueConstraint(
                name="approval_given_id_waits_once",
                fields=["environment", "actor", "given_id"],
                condition=Q(state="requested") & ~Q(given_id=""),
            ),
            models.CheckConstraint(
                name="approval_decided_once_and_dated",
                condition=Q(state="requested", decided_at__isnull=True)
                | (~Q(state="requested") & Q(decided_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="approval_claimed_only_when_allowed",
                condition=Q(claimed_at__isnull=True) | Q(state__in=sorted(ALLOWED)),
            ),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("ap", self.pk)

    @property
    def shown_call_id(self) -> str:
        return show_id("call", self.call_id)

    @property
    def is_pending(self) -> bool:
        return self.state == State.REQUESTED

    @property
    def is_allowed(self) -> bool:
        return self.state in ALLOWED


class AnswerPolicy(models.Model):
    """How long people of an environment have to answer, and when they are asked no more.

    `wait_s` is None for what its release gives. An agent that was denied `storm_denials` times within `storm_minutes`
    is paused; None for never.
    """

    environment = models.OneToOneField(
        Environment, on_delete=models.PROTECT, primary_key=True, related_name="answer_policy"
    )
    wait_s = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(WAIT_LEAST_S), MaxValueValidator(WAIT_MOST_S)]
    )
    storm_denials = models.PositiveSmallIntegerField(
        null=True, blank=True, default=10, validators=[MinValueValidator(2), MaxValueValidator(STORM_DENIALS_MOST)]
    )
    storm_minutes = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(1), MaxValueValidator(STORM_MINUTES_MOST)]
    )
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                name="answer_wait_is_bounded",
                condition=Q(wait_s__isnull=True) | Q(wait_s__gte=WAIT_LEAST_S, wait_s__lte=WAIT_MOST_S),
            ),
            models.CheckConstraint(
                name="storm_is_bounded",
                condition=Q(storm_minutes__gte=1, storm_minutes__lte=STORM_MINUTES_MOST)
                & (Q(storm_denials__isnull=True) | Q(storm_denials__gte=2, storm_denials__lte=STORM_DENIALS_MOST)),
            ),
        ]

    def __str__(self) -> str:
        return "" if self.wait_s is None else f"{self.wait_s} s"


class Team(models.Model):
    """People by one name, for the rules of who may answer."""

    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="teams")
    name = models.CharField(max_length=64)
    people = ArrayField(models.CharField(max_length=64), size=200)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="team_name_once"),
            models.CheckConstraint(name="team_has_people", condition=Q(people__len__gt=0)),
        ]

    def __str__(self) -> str:
        return self.name


class AnswerRule(models.Model):
    """Who may answer which requests, and how many of them have to allow one. Empty lists of requests match every one.

    Of a request the rule with the lowest position that matches it counts. Empty `roles`, `people` and `teams` name
    everybody who may answer at all. After `escalate_after_s` without an answer those of `escalate_…` may as well.
    """

    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="answer_rules")
    name = models.CharField(max_length=100)
    position = models.PositiveIntegerField(default=0)
    agents = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    channels = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    groups = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    tools = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    roles = ArrayField(models.CharField(max_length=16), default=list, blank=True)
    people = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    teams = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    quorum = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1), MaxValueValidator(9)])
    escalate_after_s = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(WAIT_LEAST_S), MaxValueValidator(WAIT_MOST_S)]
    )
    escalate_roles = ArrayField(models.CharField(max_length=16), default=list, blank=True)
    escalate_people = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    escalate_teams = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="answer_rule_name_once"),
            models.CheckConstraint(name="answer_quorum_is_bounded", condition=Q(quorum__gte=1, quorum__lte=9)),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def requests(self) -> list[str]:
        """Which requests, word by word; none for all."""
        return [*self.agents, *self.channels, *self.groups, *self.tools]

    @property
    def answerers(self) -> list[str]:
        """Who answers, word by word; none for whoever may."""
        return [*self.roles, *self.people, *self.teams]

    @property
    def escalates_to(self) -> list[str]:
        """Who may answer as well after a while, word by word."""
        return [*self.escalate_roles, *self.escalate_people, *self.escalate_teams]


class Deputy(models.Model):
    """Who answers in somebody's place until a moment: a person on leave names them."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    deputy = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    until = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["until", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["person", "deputy"], name="deputy_once"),
            models.CheckConstraint(name="nobody_is_their_own_deputy", condition=~Q(person=models.F("deputy"))),
        ]

    def __str__(self) -> str:
        return f"{self.deputy} for {self.person}"


class Look(models.Model):
    """When somebody who may answer first had a request before their eyes, as their open page told."""

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="looks")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["approval", "person"], name="first_look_once_per_person"),
        ]

    def __str__(self) -> str:
        return str(self.person)


class Voice(models.Model):
    """One person's yes to a request that needs several; a person counts once, whatever tokens they have."""

    approval = models.ForeignKey(Approval, on_delete=models.CASCADE, related_name="voices")
    actor = models.TextField()
    label = models.TextField()
    in_place_of = models.TextField(blank=True)
    decision = models.CharField(max_length=16)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["approval", "actor"], name="voice_once_per_person"),
        ]

    def __str__(self) -> str:
        return self.label


class Grant(models.Model):
    """A standing "always": what one agent, or every agent, may run without asking again.

    An exec grant names the real path of the binary in `pattern` and either the exact argv (sealed: arguments may hold
    secrets) or an `arg_pattern`; a grant for another tool holds the digest of its exact params. `shown` is masked.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="grants")
    agent = models.TextField(blank=True)  # empty: every agent of the environment
    tool = models.TextField()
    pattern = models.TextField(blank=True)
    arg_pattern = models.TextField(blank=True)
    sealed_argv = models.BinaryField(null=True)
    params_digest = models.CharField(max_length=64, blank=True)
    shown = models.TextField(blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_label = models.TextField(blank=True)
    approval = models.ForeignKey(Approval, null=True, on_delete=models.PROTECT, related_name="grants")
    expires_at = models.DateTimeField(null=True)
    uses = models.PositiveBigIntegerField(default=0)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by_label = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["environment", "tool"], name="grant_standing", condition=Q(revoked_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return self.shown or self.tool

    @property
    def shown_id(self) -> str:
        return show_id("grant", self.pk)

    @property
    def argv(self) -> tuple[str, ...] | None:
        """The exact words this grant covers; None when a pattern says it."""
        if self.sealed_argv is None:
            return None
        return tuple(json.loads(unseal(bytes(self.sealed_argv), purpose=ARGV_PURPOSE)))

    @property
    def entry(self) -> AllowEntry:
        """How the engine's judge sees an exec grant."""
        return AllowEntry(
            pattern=self.pattern, arg_pattern=self.arg_pattern or None, argv=self.argv, source=Decision.ALLOW_ALWAYS
        )
