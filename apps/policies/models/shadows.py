"""Shadow rules: a change that is not enforced, while calls are held against it."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment


class ShadowRule(models.Model):
    """One change of a rule that is watched, and what it would have done so far.

    `edits` is the change as the engine lays it over what is live, `origin` how it gets into the draft again; see
    `apps.policies.shadows`. `live_digest` is what it lies over, `heads` says up to where each chain of the ledger is
    counted, `rounds` how often that moved: a count is kept only by who counted from where the row stands.
    """

    class State(models.TextChoices):
        WATCHING = "watching"
        STOPPED = "stopped"
        LIVE = "live"
        GONE = "gone"
        CHANGED = "changed"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.TextField()
    started_at = models.DateTimeField()
    kind = models.TextField()
    place = models.TextField()
    edits = models.JSONField()
    origin = models.JSONField()
    live_digest = models.TextField()
    heads = models.JSONField()
    rounds = models.BigIntegerField(default=0)
    state = models.TextField(choices=State, default=State.WATCHING)
    calls_seen = models.BigIntegerField(default=0)
    tally = models.JSONField(default=dict)
    counted_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-started_at", "-id"]
        indexes: ClassVar = [models.Index(fields=["state", "counted_at"], name="shadow_rule_due")]

    @property
    def shown_id(self) -> str:
        return show_id("shadow", self.pk)

    @property
    def is_watching(self) -> bool:
        return self.state == self.State.WATCHING

    @property
    def counts(self) -> dict[str, int]:
        """How many calls it would have changed, by change."""
        counted: dict[str, Any] = self.tally.get("counts", {})
        return counted
