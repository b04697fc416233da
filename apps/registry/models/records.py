"""Environments, and what exists in each: plugins, tools, tool groups."""

from typing import ClassVar

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.firewall.engine.dialect import DEFAULT_RELEASE, DIALECTS
from apps.firewall.identifiers import new_id, show_id

RELEASES = [(release, release) for release in DIALECTS]
slug_validator = RegexValidator(r"\A[a-z][a-z0-9-]{0,62}\Z", _("Use lower-case letters, digits and hyphens."))


class ToolSource(models.TextChoices):
    """Where a tool comes from."""

    CORE = "core", _("Core")
    PLUGIN = "plugin", _("Plugin")
    MCP = "mcp", _("MCP server")
    CLIENT = "client", _("Client")
    CHANNEL = "channel", _("Channel")


class ToolState(models.TextChoices):
    """Where a tool stands between first sight and removal."""

    REGISTERED = "registered", _("Registered")
    INITIALISED = "initialised", _("Initialised")
    ACTIVE = "active", _("Active")
    QUARANTINED = "quarantined", _("Quarantined")
    DEPRECATED = "deprecated", _("Deprecated")
    DISABLED = "disabled", _("Disabled")
    UNREGISTERED = "unregistered", _("Unregistered")


OFFERED_STATES = (ToolState.ACTIVE, ToolState.DEPRECATED)


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class Environment(models.Model):
    """The outermost scope of policies, snapshots, approvals and audit."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    slug = models.CharField(max_length=63, unique=True, validators=[slug_validator])
    name = models.CharField(max_length=100)
    dialect = models.CharField(max_length=16, choices=RELEASES, default=DEFAULT_RELEASE)
    position = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["position", "slug"]

    def __str__(self) -> str:
        return self.slug

    @property
    def shown_id(self) -> str:
        return show_id("env", self.pk)


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class Plugin(models.Model):
    """A plugin that brings tools; `key` is the id that policies name."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="plugins")
    key = models.CharField(max_length=128)
    name = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    release = models.CharField(max_length=64, blank=True)
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["key"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="plugin_key_once_per_environment"),
        ]

    def __str__(self) -> str:
        return self.key


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class Tool(models.Model):
    """One tool as agents may see it. `position` keeps the order of the catalogue.

    `traits` holds the members of the definition that have no column, `executor` what runs the tool, `digest` the
    identity of the definition that an admin accepted: what discovery finds later is compared with it. One that
    `is_optional` is there only for whom an allow list names it or its plugin.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="tools")
    name = models.CharField(max_length=128)
    label = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    section = models.CharField(max_length=64, blank=True)
    params_schema = models.JSONField(default=dict)
    source = models.CharField(max_length=16, choices=ToolSource.choices, default=ToolSource.CORE)
    plugin = models.ForeignKey(Plugin, null=True, blank=True, on_delete=models.PROTECT, related_name="tools")
    server_name = models.CharField(max_length=128, blank=True)
    owner_only = models.BooleanField(default=False)
    is_optional = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=ToolState.choices, default=ToolState.REGISTERED)
    state_reason = models.CharField(max_length=500, blank=True)
    sensitive_fields = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    traits = models.JSONField(default=dict, blank=True)
    executor = models.JSONField(default=dict, blank=True)
    discovery_source = models.ForeignKey(
        "registry.DiscoverySource", null=True, blank=True, on_delete=models.SET_NULL, related_name="tools"
    )
    digest = models.CharField(max_length=64, blank=True)
    position = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["position", "name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="tool_name_once_per_environment"),
            models.CheckConstraint(
                condition=models.Q(source="plugin", plugin__isnull=False) | ~models.Q(source="plugin"),
                name="plugin_tool_has_its_plugin",
            ),
            models.CheckConstraint(
                condition=~models.Q(source="mcp") | ~models.Q(server_name=""),
                name="mcp_tool_has_its_server",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_id(self) -> str:
        return show_id("tool", self.pk)

    @property
    def is_offered(self) -> bool:
        """Say whether an agent whose policies allow the tool may see and call it."""
        return self.state in OFFERED_STATES


class ToolFailure(models.Model):
    """What a tool raised, for its author; of each tool the newest are kept, for some weeks. All of it is masked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tool = models.ForeignKey(Tool, on_delete=models.CASCADE, related_name="failures")
    at = models.DateTimeField()
    call_id = models.UUIDField()
    code = models.CharField(max_length=64)
    exception = models.CharField(max_length=200)
    message = models.TextField(blank=True)
    traceback = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [models.Index(fields=["tool", "-at"], name="failures_of_tool")]

    def __str__(self) -> str:
        return f"{self.tool_id} {self.exception}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class ToolGroup(models.Model):
    """A named list of tools of the core catalogue, such as `group:fs`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="tool_groups")
    name = models.CharField(max_length=128)
    members = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    position = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["position", "name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="group_name_once_per_environment"),
        ]

    def __str__(self) -> str:
        return self.name
