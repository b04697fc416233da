"""Hooks: who is asked before calls and told after them, what came of it, and what went wrong."""

from typing import ClassVar

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models.records import Environment, Plugin, slug_validator


class HookMoment(models.TextChoices):
    """When a hook hears of a call."""

    BEFORE = "before_tool_call", _("Before a call")
    AFTER = "after_tool_call", _("After a call")


class HookKind(models.TextChoices):
    """How a hook is reached."""

    PYTHON = "python_hook", _("Python plugin")
    WEBHOOK = "webhook", _("Webhook")


class HookFailureKind(models.TextChoices):
    """What went wrong with a hook."""

    RAISED = "raised", _("Raised an error")
    HUNG = "hung", _("Was not done in time")
    WRONG_ANSWER = "wrong_answer", _("Wrong answer")
    HUGE_ANSWER = "huge_answer", _("Answer too large")
    SLOW = "slow", _("Server too slow")
    BAD_SIGNATURE = "bad_signature", _("Signature missing or wrong")
    UNREACHABLE = "unreachable", _("Server not reached")
    ENDED = "ended", _("Process ended")
    OVERLOADED = "overloaded", _("Too much at once")


@pghistory.track(
    pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True, exclude=["secrets"]
)
class Hook(models.Model):
    """One handler of a plugin for one event. It acts at once: nothing of it waits for a publication.

    `tools` names the tools that it hears of, as policies do; empty for all. `settings` and `secrets` are kept as those
    of a discovery source. `timeout_ms` is empty for what the runtime gives every hook.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="hooks")
    plugin = models.ForeignKey(Plugin, on_delete=models.PROTECT, related_name="hooks")
    name = models.CharField(max_length=63, validators=[slug_validator])
    event = models.CharField(max_length=20, choices=HookMoment.choices)
    kind = models.CharField(max_length=16, choices=HookKind.choices)
    priority = models.IntegerField(default=0)
    timeout_ms = models.PositiveIntegerField(null=True, blank=True)
    tools = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    secrets = models.BinaryField(default=b"", blank=True)
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["event", "-priority", "created_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="hook_name_once_per_environment"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_id(self) -> str:
        return show_id("hook", self.pk)

    @property
    def key(self) -> str:
        return self.name


class HookPolicy(models.Model):
    """How an environment takes hooks: whether one that fails stops the call under the older release, too."""

    environment = models.OneToOneField(
        Environment, on_delete=models.PROTECT, primary_key=True, related_name="hook_policy"
    )
    is_strict = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return "strict" if self.is_strict else "as recorded"


class HookTally(models.Model):
    """What came of a hook so far: how often it was asked, and what it did then."""

    hook = models.OneToOneField(Hook, primary_key=True, on_delete=models.CASCADE, related_name="tally")
    passed = models.PositiveBigIntegerField(default=0)
    rewrote = models.PositiveBigIntegerField(default=0)
    asked = models.PositiveBigIntegerField(default=0)
    blocked = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0)
    last_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.hook_id}: {self.total}"

    @property
    def total(self) -> int:
        return self.passed + self.rewrote + self.asked + self.blocked + self.failed


class HookFailure(models.Model):
    """One failure of a hook; of each hook the newest are kept. `said` is what the hook said itself, masked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    hook = models.ForeignKey(Hook, on_delete=models.CASCADE, related_name="failures")
    at = models.DateTimeField()
    kind = models.CharField(max_length=16, choices=HookFailureKind.choices)
    cause = models.CharField(max_length=500)
    said = models.CharField(max_length=600, blank=True)
    tool = models.CharField(max_length=128, blank=True)
    call_id = models.UUIDField(null=True)
    duration_ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [models.Index(fields=["hook", "-at"], name="failures_of_hook")]

    def __str__(self) -> str:
        return f"{self.hook_id} {self.kind}"
