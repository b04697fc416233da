"""Where tools are found, each look there, and the changes that wait for an admin."""

from typing import ClassVar

import pghistory
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models.records import Environment, Tool, slug_validator


class SourceKind(models.TextChoices):
    """How a source is looked through."""

    FILE = "file", _("Tool file (YAML)")
    FOLDER = "folder", _("Folder")
    ENTRY_POINTS = "entry_points", _("Installed packages")
    REMOTE = "remote", _("Remote registry")
    MCP_STDIO = "mcp_stdio", _("MCP server (command)")
    MCP_HTTP = "mcp_http", _("MCP server (address)")
    OPENCLAW_PLUGINS = "openclaw_plugins", _("OpenClaw plugins")
    OWN_FILES = "own_files", _("Built-in: files")
    OWN_SHELL = "own_shell", _("Built-in: listed commands")
    OWN_HTTP = "own_http", _("Built-in: web requests")
    OWN_BROWSER = "own_browser", _("Built-in: browser")
    OWN_EMAIL = "own_email", _("Built-in: email")
    OWN_DATABASES = "own_databases", _("Built-in: databases")


class OnDrift(models.TextChoices):
    """What calls meet while a changed definition waits in quarantine."""

    REFUSE = "refuse", _("Refuse calls until the change is accepted")
    KEEP = "keep", _("Go on with the accepted definition")


class OnNew(models.TextChoices):
    """What becomes of a tool that a source brings for the first time."""

    ACTIVATE = "activate", _("Offer it from the next publication on")
    REVIEW = "review", _("Let it wait until an admin activates it")


@pghistory.track(
    pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True, exclude=["secrets"]
)
class DiscoverySource(models.Model):
    """A place that brings tools.

    `settings` go by the kind (`apps/registry/source_settings.py`) and hold no secret: `{"$secret": "name"}` stands for
    one of `secrets`, which is a sealed JSON object of texts.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="discovery_sources")
    key = models.CharField(max_length=63, validators=[slug_validator])
    name = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=20, choices=SourceKind.choices)
    settings = models.JSONField(default=dict, blank=True)
    secrets = models.BinaryField(default=b"", blank=True)
    on_drift = models.CharField(max_length=8, choices=OnDrift.choices, default=OnDrift.REFUSE)
    on_new = models.CharField(max_length=8, choices=OnNew.choices, default=OnNew.ACTIVATE)
    interval_s = models.PositiveIntegerField(default=0)
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["key"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="source_key_once_per_environment"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def shown_id(self) -> str:
        return show_id("src", self.pk)


class RunState(models.TextChoices):
    """How a look at a source ended."""

    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    FAILED = "failed", _("Failed")


class DiscoveryRun(models.Model):
    """One look at a source.

    `findings` lists what was found, `{"tool", "stage", "outcome", "code", "message", "digest"}`: stage is discover,
    verify, load, initialise or ready, outcome is added, changed, same, removed or broken. `etag` lets a remote
    registry answer that nothing changed. `boot` is the process that looks: a run of one that is gone has failed.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.ForeignKey(DiscoverySource, on_delete=models.CASCADE, related_name="runs")
    state = models.CharField(max_length=12, choices=RunState.choices, default=RunState.RUNNING)
    actor = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    error_message = models.CharField(max_length=1000, blank=True)
    found = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)
    broken = models.PositiveIntegerField(default=0)
    findings = models.JSONField(default=list, blank=True)
    etag = models.CharField(max_length=200, blank=True)
    boot = models.UUIDField(null=True, blank=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-started_at", "-id"]
        indexes: ClassVar = [models.Index(fields=["source", "-started_at"], name="runs_of_source")]

    def __str__(self) -> str:
        return f"{self.source_id} {self.started_at:%F %T}"

    @property
    def shown_id(self) -> str:
        return show_id("run", self.pk)


class ToolCode(models.Model):
    """The text of code that was found, by its digest: what a change of it is compared with, line by line.

    `files` maps relative paths to texts; of a binary file stands its size.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    files = models.JSONField()
    found_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.digest[:12]


class DriftState(models.TextChoices):
    """What an admin made of a changed definition."""

    PENDING = "pending", _("Waits for an admin")
    ACCEPTED = "accepted", _("Accepted")
    DISMISSED = "dismissed", _("Dismissed")
    OVERTAKEN = "overtaken", _("Overtaken by a later change")


class DefinitionDrift(models.Model):
    """A definition that discovery found changed: `pinned` is the accepted one, `found` the new one, both as JSON.

    `tool_state` is the state from which the tool went into quarantine, and to which it returns.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="drifts")
    run = models.ForeignKey(DiscoveryRun, null=True, blank=True, on_delete=models.SET_NULL, related_name="drifts")
    pinned = models.JSONField()
    found = models.JSONField()
    found_digest = models.CharField(max_length=64)
    tool_state = models.CharField(max_length=16, blank=True)
    state = models.CharField(max_length=12, choices=DriftState.choices, default=DriftState.PENDING)
    found_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering: ClassVar = ["-found_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["tool"], condition=models.Q(state="pending"), name="one_pending_drift_per_tool"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tool_id} {self.found_digest[:12]}"

    @property
    def shown_id(self) -> str:
        return show_id("drift", self.pk)
