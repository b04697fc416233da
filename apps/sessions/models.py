"""Sessions of agents, and the runs in them."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.firewall.identifiers import new_id, show_id
from apps.firewall.runtime.sessions import Budgets
from apps.registry.models import Environment


class Session(models.Model):
    """One conversation or task of an agent, as its calls tell of it.

    Args:
        key: the full key, `agent:<agent>:<rest>`; `spellings` are the texts that callers wrote for it.
        parent_key: of the session that spawned it; no foreign key, because that one may never make a call.
        spawn: the record of its parent, as OpenClaw stores a session that was spawned; null where none is known.
        context: what its last call said of who asked and where: what a session that it spawns is held to.
        loops: the history that loop detection reads, digests only.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="agent_sessions")
    agent = models.TextField()
    key = models.TextField()
    spellings = ArrayField(models.TextField(), default=list)
    channel = models.TextField(blank=True, default="")
    sender = models.TextField(blank=True, default="")
    parent_key = models.TextField(blank=True, default="")
    depth = models.PositiveIntegerField(default=0)
    spawn = models.JSONField(null=True)
    context = models.JSONField(null=True)

    started_at = models.DateTimeField()
    last_call_at = models.DateTimeField()
    last_tool = models.TextField(blank=True, default="")
    calls = models.PositiveBigIntegerField(default=0)
    denied = models.PositiveBigIntegerField(default=0)
    loops = models.JSONField(null=True)

    ended_at = models.DateTimeField(null=True)
    ended_by_label = models.TextField(blank=True, default="")
    end_reason = models.TextField(blank=True, default="")

    max_calls = models.PositiveBigIntegerField(null=True, blank=True)
    max_denied = models.PositiveBigIntegerField(null=True, blank=True)
    max_duration_s = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-last_call_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["environment", "-last_call_at", "-id"], name="agent_session_recent"),
            models.Index(
                fields=["environment", "parent_key"], name="agent_session_parent", condition=~Q(parent_key="")
            ),
            models.Index(fields=["last_call_at"], name="agent_session_age"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "agent", "key"], name="agent_session_once"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def shown_id(self) -> str:
        return show_id("ses", self.pk)

    @property
    def is_open(self) -> bool:
        return self.ended_at is None

    @property
    def budgets(self) -> Budgets:
        return Budgets(max_calls=self.max_calls, max_denied=self.max_denied, max_duration_s=self.max_duration_s)


class SessionRun(models.Model):
    """One turn or task within a session.

    Args:
        run_id: the caller's own name for it; one that we made when `is_given` is false.
        client_tools: names of the tools that the caller offers itself in this run.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="runs")
    run_id = models.TextField()
    is_given = models.BooleanField(default=True)
    started_at = models.DateTimeField()
    last_call_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    calls = models.PositiveBigIntegerField(default=0)
    client_tools = ArrayField(models.TextField(), default=list)

    class Meta:
        ordering: ClassVar = ["-started_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["session", "-started_at", "-id"], name="session_run_recent"),
            models.Index(fields=["last_call_at"], name="session_run_age"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "run_id"], name="session_run_once"),
        ]

    def __str__(self) -> str:
        return self.run_id

    @property
    def is_open(self) -> bool:
        return self.ended_at is None
