"""Stops that people placed, and the processes that have heard of them."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment


class Scope(models.TextChoices):
    """What is stopped."""

    ENVIRONMENT = "environment", _("Everything")
    AGENT = "agent", _("Agent")
    CHANNEL = "channel", _("Channel")
    TOOL = "tool", _("Tool")


class State(models.TextChoices):
    """How far the way back is. Every call waits for a person while it asks.

    What is paused asks nobody: a call that would ask is refused, any other runs.
    """

    STOPPED = "stopped", _("Stopped")
    PAUSED = "paused", _("Asks nobody")
    ASKING = "asking", _("Every call asks")
    LIFTED = "lifted", _("Lifted")


class Halt(models.Model):
    """One stop, from the moment somebody placed it until somebody lifted it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="halts")
    scope = models.CharField(max_length=12, choices=Scope.choices)
    name = models.CharField(max_length=512, blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.STOPPED)
    reason = models.CharField(max_length=500)
    ends_running = models.BooleanField(default=True)
    placed_at = models.DateTimeField()
    placed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    placed_by_label = models.TextField()
    asking_at = models.DateTimeField(null=True)
    asking_by_label = models.TextField(blank=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_by_label = models.TextField(blank=True)
    frozen = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-placed_at", "-id"]
        indexes: ClassVar = [models.Index(fields=["environment", "-placed_at"], name="halt_history")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["environment", "scope", "name"], name="halt_once_at_a_time", condition=~Q(state="lifted")
            ),
            models.CheckConstraint(
                name="halt_of_an_environment_has_no_name",
                condition=Q(scope="environment", name="") | (~Q(scope="environment") & ~Q(name="")),
            ),
            models.CheckConstraint(
                name="halt_lifted_and_dated",
                condition=Q(state="lifted", lifted_at__isnull=False) | (~Q(state="lifted") & Q(lifted_at__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope}:{self.name}" if self.name else str(self.scope)

    @property
    def shown_id(self) -> str:
        return show_id("halt", self.pk)

    @property
    def holds(self) -> bool:
        """Say whether it still meets calls."""
        return self.state != State.LIFTED


class HeardHalts(models.Model):
    """Which stops a process holds to, by a digest over all that hold; `boot` is its boot in the ledger."""

    boot = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=16)
    digest = models.CharField(max_length=64)
    heard_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.boot} {self.digest[:8]}"
