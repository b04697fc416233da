"""Requests to a person, and the standing grants that came from their answers."""

import json
from typing import ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.approvals.states import ALLOWED, Decision, State
from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.identifiers import new_id, show_id
from apps.keys.seal import unseal
from apps.registry.models import Environment

ARGV_PURPOSE = "grant.argv"
DECISIONS = [decision.value for decision in Decision]


def every_decision() -> list[str]:
    return list(DECISIONS)


class Approval(models.Model):
    """One action that waits, or waited, for a person.

    What people see (`command`, `argv`, `evidence`) is masked. The action itself is sealed in `sealed_action` for as
    long as it may still run, and bound to the answer by `action_digest`.
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
    requester = models.TextField(blank=True)

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
    warnings = models.JSONField(default=list)
    reason_layer = models.TextField(blank=True)
    reason_rule = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    snapshot_digest = models.TextField(blank=True)
    trace_id = models.TextField(blank=True)

    decisions = ArrayField(models.CharField(max_length=16), default=every_decision)
    requested_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    state = models.CharField(
        max_length=16, choices=[(state.value, state.value) for state in State], default="requested"
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_by_label = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True)
    decision_reason = models.TextField(blank=True)
    scope = models.JSONField(null=True)

    action_digest = models.CharField(max_length=64)
    sealed_action = models.BinaryField(null=True)
    claimed_at = models.DateTimeField(null=True)
    claimed_by = models.UUIDField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["expires_at", "id"]
        indexes: ClassVar = [
            models.Index(fields=["environment", "expires_at"], name="approval_pending", condition=Q(state="requested")),
            models.Index(fields=["environment", "-decided_at"], name="approval_recent"),
            models.Index(fields=["decided_at"], name="approval_unfinished", condition=Q(sealed_action__isnull=False)),
        ]
        constraints: ClassVar = [
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
