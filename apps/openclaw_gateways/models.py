"""OpenClaw Gateways, the tokens they are enrolled with, their calls while these are open, and alarms about them."""

from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import ApiToken
from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment

SILENT_AFTER = timedelta(seconds=90)
"""Three heartbeats that did not come."""
NOT_LOADED_AFTER = timedelta(minutes=15)
"""So long after its enrolment a gateway may take to be restarted."""


class Standing(models.TextChoices):
    """How a gateway stands."""

    NEVER_SEEN = "never_seen", _("never seen")
    LIVE = "live", _("live")
    SILENT = "silent", _("silent")
    REVOKED = "revoked", _("revoked")


class OpenClawGateway(models.Model):
    """One OpenClaw Gateway whose plugin asks us. What it says of itself in a heartbeat are its claims."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="openclaw_gateways")
    name = models.CharField(max_length=100)
    token = models.OneToOneField(ApiToken, on_delete=models.PROTECT, related_name="openclaw_gateway")
    enrolled_at = models.DateTimeField()
    enrolled_by_label = models.TextField(blank=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by_label = models.TextField(blank=True)

    last_seen_at = models.DateTimeField(null=True)
    boot = models.CharField(max_length=64, blank=True)
    booted_at = models.DateTimeField(null=True)
    openclaw_version = models.CharField(max_length=64, blank=True)
    plugin_version = models.CharField(max_length=64, blank=True)
    node_version = models.CharField(max_length=64, blank=True)
    snapshot_digest = models.CharField(max_length=80, blank=True)
    proven_at = models.DateTimeField(null=True)
    """When its plugin first asked about a call since it booted."""
    facts: Any = models.JSONField(null=True)
    """What its plugin says that it can tell of a call; null before its first heartbeat, empty for older plugins."""
    stops_digest = models.CharField(max_length=64, blank=True)
    """Of the stops that it holds to: nothing that they end runs there any more, as its plugin says."""
    stops_heard_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_id(self) -> str:
        return show_id("gw", self.pk)

    def standing(self, at: datetime) -> Standing:
        """Say how it stands: its token may have been revoked or have ended, too."""
        if self.revoked_at is not None or not self.token.is_usable(at):
            return Standing.REVOKED
        if self.last_seen_at is None:
            return Standing.NEVER_SEEN
        return Standing.LIVE if at - self.last_seen_at <= SILENT_AFTER else Standing.SILENT


class Enrolment(models.Model):
    """Leave to enrol one gateway, once; only the SHA-256 of its secret is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_by_label = models.TextField(blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    gateway = models.OneToOneField(OpenClawGateway, null=True, on_delete=models.CASCADE, related_name="enrolment")

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    def is_usable(self, at: datetime) -> bool:
        """Say whether a gateway may still be enrolled with it; whoever made it must still be active."""
        if self.used_at is not None or self.expires_at <= at:
            return False
        return self.created_by is None or self.created_by.is_active


class GatewayCall(models.Model):
    """A call that a gateway asked about, from the question to its end. Params and results are in the ledger alone.

    What hooks or filters made of the params is sealed until the gateway was told; a report until it was recorded.
    """

    class State(models.TextChoices):
        ASKED = "asked"
        TOLD = "told"
        REPORTED = "reported"
        REFUSED = "refused"
        ENDED = "ended"

    OPEN: ClassVar = (State.ASKED, State.TOLD, State.REPORTED)

    class Ending(models.TextChoices):
        """What became of the wish of the kill switch that it ends at the gateway."""

        NONE = "", "none"
        ASKED = "asked"
        ENDED = "ended"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, editable=False)  # of the call
    gateway = models.ForeignKey(OpenClawGateway, on_delete=models.PROTECT, related_name="calls")
    key = models.CharField(max_length=64)
    body_digest = models.CharField(max_length=64)
    boot = models.CharField(max_length=64, blank=True)
    run = models.CharField(max_length=200, blank=True)
    tool_call = models.CharField(max_length=300, blank=True)
    tool = models.TextField()
    agent = models.TextField()
    session_key = models.TextField(blank=True)
    channel = models.TextField(blank=True)
    members = models.JSONField(default=list)
    context: Any = models.JSONField(null=True)
    """What it said of the call, as `{"context", "known"}`: what its session spawned is decided with that."""

    state = models.CharField(max_length=16, choices=State.choices, default=State.ASKED)
    asked_at = models.DateTimeField()
    told_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True)
    error: Any = models.JSONField(null=True)
    is_withdrawn = models.BooleanField(default=False)
    ending = models.CharField(max_length=8, choices=Ending.choices, blank=True, default=Ending.NONE)
    ending_by = models.TextField(blank=True)
    sealed_params = models.BinaryField(null=True)
    sealed_report = models.BinaryField(null=True)

    class Meta:
        ordering: ClassVar = ["-asked_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["gateway", "-asked_at", "-id"], name="gateway_call_newest"),
            models.Index(fields=["gateway", "tool_call"], name="gateway_call_tool_call"),
            models.Index(fields=["gateway", "session_key", "-asked_at"], name="gateway_call_session"),
            models.Index(fields=["asked_at"], name="gateway_call_open", condition=Q(ended_at__isnull=True)),
            models.Index(fields=["ended_at"], name="gateway_call_age"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["gateway", "key"], name="gateway_call_asked_once"),
            models.CheckConstraint(
                name="gateway_call_ends_with_an_outcome",
                condition=(Q(state__in=["refused", "ended"], ended_at__isnull=False) & ~Q(outcome=""))
                | Q(state__in=["asked", "told", "reported"], ended_at__isnull=True, outcome=""),
            ),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("call", self.pk)

    @property
    def is_open(self) -> bool:
        return self.ended_at is None


class SpawnedSession(models.Model):
    """A session of a gateway that another one spawned, and what was known of that one's call when it did."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    gateway = models.ForeignKey(OpenClawGateway, on_delete=models.CASCADE, related_name="spawned")
    session_key = models.TextField()
    parent_key = models.TextField()
    context: Any = models.JSONField()
    """The spawner's, as `{"context", "known"}`."""
    first_at = models.DateTimeField()
    used_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["gateway", "session_key"], name="gateway_session_spawned_once"),
        ]
        indexes: ClassVar = [models.Index(fields=["used_at"], name="gateway_spawned_age")]

    def __str__(self) -> str:
        return self.session_key


class Alarm(models.Model):
    """That a gateway does not ask us, or cannot be known to. It stands until a person has seen to it.

    One of silence ends by itself when the gateway reports.
    """

    class Kind(models.TextChoices):
        UNGOVERNED = "ungoverned", _("a call ran that was never asked about")
        NOT_ASKING = "not_asking", _("its plugin is loaded, and is not asked about calls")
        SILENT = "silent", _("it stopped reporting")
        NOT_LOADED = "not_loaded", _("it was enrolled, and its plugin has never reported")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    gateway = models.ForeignKey(OpenClawGateway, on_delete=models.PROTECT, related_name="alarms")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    tool = models.TextField(blank=True)
    agent = models.TextField(blank=True)
    count = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True)
    cleared_by_label = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-last_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["gateway", "kind", "tool", "agent"],
                name="gateway_alarm_stands_once",
                condition=Q(cleared_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("alarm", self.pk)
