"""Rate limits and the breaker's rule, which people enter; counters, breakers and kept results, which calls leave."""

from typing import ClassVar

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment


def everything() -> list[str]:
    """List what admits every name."""
    return ["*"]


class Per(models.TextChoices):
    """Whose calls a rate counts together."""

    EVERYBODY = "everybody", _("Everybody together")
    TOOL = "tool", _("Each tool")
    AGENT = "agent", _("Each agent")
    SENDER = "sender", _("Each sender")
    SESSION = "session", _("Each session")


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class RateLimit(models.Model):
    """So many calls a minute; `tools` and `agents` are names and patterns, those of tools also groups."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="rate_limits")
    name = models.CharField(max_length=100)
    per = models.CharField(max_length=12, choices=Per.choices, default=Per.EVERYBODY)
    per_minute = models.PositiveIntegerField(validators=[MinValueValidator(1), MaxValueValidator(1_000_000)])
    tools = ArrayField(models.CharField(max_length=200), default=everything, size=200)
    agents = ArrayField(models.CharField(max_length=200), default=everything, size=200)
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="rate_limit_name_once_per_environment"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_id(self) -> str:
        return show_id("rate", self.pk)


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class BreakerPolicy(models.Model):
    """After how many failures in a row a tool on another server is left alone, and for how many seconds."""

    environment = models.OneToOneField(
        Environment, on_delete=models.PROTECT, primary_key=True, related_name="breaker_policy"
    )
    failures = models.PositiveIntegerField(default=5, validators=[MinValueValidator(1), MaxValueValidator(1000)])
    pause_s = models.PositiveIntegerField(default=30, validators=[MinValueValidator(1), MaxValueValidator(86_400)])
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.failures} failures, {self.pause_s} s"


class RateCounter(models.Model):
    """The calls of one subject under one rate: those of the running minute, and those of the one before.

    `rate` is the id of a rate limit, empty for what a tool's definition states. The key is a hash of environment, rate
    and subject: subjects may be long.
    """

    key = models.CharField(max_length=64, primary_key=True)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    rate = models.CharField(max_length=36, blank=True)
    subject = models.CharField(max_length=200, blank=True)
    minute = models.BigIntegerField()
    current = models.PositiveIntegerField()
    previous = models.PositiveIntegerField()
    refused = models.PositiveBigIntegerField(default=0)
    refused_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["minute"], name="rate_counter_age"),
            models.Index(fields=["environment", "-refused_at"], name="rate_counter_refusals"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.current}"


class ToolBreaker(models.Model):
    """How often in a row a tool failed, and since when it is left alone; a tool without failures has no row."""

    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=512)
    failures = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=64, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "tool"], name="breaker_once_per_tool"),
        ]

    def __str__(self) -> str:
        return self.tool


class KeptResult(models.Model):
    """A result that answers equal calls until it expires. Sealed: it may hold what no log may say."""

    key = models.CharField(max_length=64, primary_key=True)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    tool = models.CharField(max_length=512)
    call_id = models.UUIDField()
    sealed = models.BinaryField()
    kept_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["expires_at"], name="kept_result_age")]

    def __str__(self) -> str:
        return self.key
