"""Replays: past calls held against a draft, how far that is, and what came of it."""

from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment


class ReplayRule(models.Model):
    """That nothing of an environment is published, through any door, before it was replayed."""

    environment = models.OneToOneField(Environment, primary_key=True, on_delete=models.CASCADE, related_name="+")
    is_required = models.BooleanField(default=False)


class Replay(models.Model):
    """One replay of the calls of some days: against a draft, or to see which rules of what is live they match.

    `snapshot` is what is replayed against, until it has ended; `place` the last call of the last part that is counted,
    `worker` whoever counts now. `tally` holds figures and groups, or of one for rules which of them
    match: see `tallying` and `matching` in `apps.policies.replays`.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    class Purpose(models.TextChoices):
        DRAFT = "draft"
        RULES = "rules"

    OPEN: ClassVar = (State.WAITING, State.RUNNING)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    purpose = models.TextField(choices=Purpose, default=Purpose.DRAFT)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.TextField()
    requested_at = models.DateTimeField()
    days = models.PositiveIntegerField()
    live_digest = models.TextField(blank=True)
    draft_digest = models.TextField()
    snapshot = models.BinaryField(null=True)
    state = models.TextField(choices=State, default=State.WAITING)
    calls_total = models.BigIntegerField(null=True)
    calls_done = models.BigIntegerField(default=0)
    place = models.JSONField(null=True)
    tally = models.JSONField(default=dict)
    worker = models.UUIDField(null=True)
    touched_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-requested_at", "-id"]
        indexes: ClassVar = [models.Index(fields=["environment", "draft_digest"], name="replay_of_draft")]

    @property
    def shown_id(self) -> str:
        return show_id("replay", self.pk)

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def is_done(self) -> bool:
        return self.state == self.State.DONE

    @property
    def since(self) -> Any:
        return self.requested_at - timedelta(days=self.days)

    @property
    def percent(self) -> int | None:
        """How much of it is counted; None while nobody knows how much there is."""
        if self.calls_total is None:
            return None
        return 100 if self.calls_total == 0 else min(100, self.calls_done * 100 // self.calls_total)
