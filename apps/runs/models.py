"""Runs of agents: what each was offered, searched and called."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment


class ToolRun(models.Model):
    """One turn or task of an agent that was offered its tools as a whole.

    Args:
        actor: the credential that made it; nobody else acts in it.
        context: the caller's facts, as `CallContext` writes them.
        provider, model, form: of the model that the agent speaks with.
        client_tools: definitions of the tools that the caller runs itself.
        required: names of tools that the caller wants shown in full.
        task: what the run is about, masked; used to guess which tools are likely.
        asked_mode: as the configuration says, with the empty mode for `off`; `mode` is the one in force, and `why`
            the code of what made the difference.
        direct_bytes, surface_bytes: of the tools' part of a request, with all schemas and as it is.
        directory_characters: of the directory in the prompt.
        visible: how many tools' schemas the model sees at the start, controls not counted.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    agent = models.TextField()
    session_key = models.TextField(blank=True)
    channel = models.TextField(blank=True)
    sender = models.TextField(blank=True)
    actor = models.TextField()
    context = models.JSONField()
    provider = models.TextField()
    model = models.TextField(blank=True)
    form = models.TextField()
    client_tools = models.JSONField(default=list)
    required = ArrayField(models.TextField(), default=list)
    task = models.TextField(blank=True)
    only_runnable = models.BooleanField(default=True)
    takes_code = models.BooleanField(default=True)

    begun_at = models.DateTimeField()
    last_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.TextField(blank=True)

    snapshot_digest = models.TextField(blank=True)
    asked_mode = models.TextField(blank=True)
    mode = models.TextField(blank=True)
    why = models.TextField(blank=True)
    sources = models.JSONField(default=dict)
    catalogue_size = models.PositiveIntegerField(default=0)
    direct_bytes = models.PositiveIntegerField(default=0)
    surface_bytes = models.PositiveIntegerField(default=0)
    directory_characters = models.PositiveIntegerField(default=0)
    visible = models.PositiveIntegerField(default=0)

    searches = models.PositiveIntegerField(default=0)
    describes = models.PositiveIntegerField(default=0)
    codes = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    described = ArrayField(models.TextField(), default=list)

    class Meta:
        ordering: ClassVar = ["-begun_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["environment", "-begun_at", "-id"], name="tool_run_newest"),
            models.Index(fields=["last_at"], name="tool_run_age"),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("trun", self.pk)

    @property
    def is_open(self) -> bool:
        return self.ended_at is None


class RunSearch(models.Model):
    """One query of a run and what it found, best first; the query is masked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(ToolRun, on_delete=models.CASCADE, related_name="queries")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    query = models.TextField()
    found = ArrayField(models.TextField(), default=list)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["run", "id"], name="run_search_of_run"),
            models.Index(fields=["environment", "-at"], name="run_search_empty", condition=Q(found=[])),
        ]

    def __str__(self) -> str:
        return self.query


class RunCall(models.Model):
    """One call of a run, under the id that the ledger knows it by.

    Args:
        tool: its id in the catalogue; `source` is where it came from.
        through: as `Bridge` says.
        rank: its best place in what the run had searched; None where no search had found it.
        query: the search that found it there.
    """

    call_id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey(ToolRun, on_delete=models.CASCADE, related_name="tool_calls")
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    tool = models.TextField()
    name = models.TextField()
    source = models.TextField()
    through = models.TextField()
    rank = models.PositiveSmallIntegerField(null=True)
    query = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["at", "call_id"]
        indexes: ClassVar = [
            models.Index(fields=["run", "at"], name="run_call_of_run"),
            models.Index(fields=["environment", "-at"], name="run_call_newest"),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("call", self.call_id)


class ClientCall(models.Model):
    """A call that the run's caller runs itself: told with its params, then reported; both sealed until it is closed."""

    class State(models.TextChoices):
        TOLD = "told"
        REPORTED = "reported"
        ENDED = "ended"

    call_id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey(ToolRun, on_delete=models.CASCADE, related_name="+")
    tool = models.TextField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.TOLD)
    told_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    sealed_params = models.BinaryField(null=True)
    sealed_report = models.BinaryField(null=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["run", "state"], name="client_call_of_run")]

    def __str__(self) -> str:
        return str(self.call_id)


class SearchLabel(models.Model):
    """A query and the tools that it means in an environment, by their names: what search is measured with."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.CASCADE, related_name="+")
    query = models.TextField()
    tools = ArrayField(models.TextField())
    added_by = models.TextField()
    added_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-added_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "query"], name="search_label_once"),
        ]

    def __str__(self) -> str:
        return self.query

    @property
    def shown_id(self) -> str:
        return show_id("label", self.pk)
