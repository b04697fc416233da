"""What this door must not forget: which call a key belongs to, what waits to be run, and who wants a call ended."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from apps.accounts.models import ApiToken
from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment
from apps.sessions.models import Session


class CallSlot(models.Model):
    """The call that one token made under one key; the same key is never a second run."""

    token = models.ForeignKey(ApiToken, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    call_id = models.UUIDField(unique=True)
    body_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["created_at"], name="call_slot_age")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["token", "key"], name="call_slot_key_once_per_token"),
        ]

    def __str__(self) -> str:
        return self.key


class AsyncCall(models.Model):
    """A call that is run later: queued by the process that took it, run once by whoever claims it.

    What will run is sealed in `sealed_action` until somebody claims it, or it ends; where its end is told, with the
    shared key, in `sealed_callback` until that is done. Params and result are in the ledger alone.
    """

    class State(models.TextChoices):
        AWAITING = "awaiting_approval"
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"

    class Callback(models.TextChoices):
        NONE = "none"
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, editable=False)  # of the call
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    actor = models.TextField()
    requester = models.TextField(blank=True)
    agent = models.TextField()
    session_key = models.TextField(blank=True)
    channel = models.TextField(blank=True)
    sender = models.TextField(blank=True)
    tool = models.TextField()
    snapshot_digest = models.TextField(blank=True)
    trace_id = models.TextField(blank=True)

    state = models.CharField(max_length=20, choices=State.choices)
    asked_at = models.DateTimeField()
    queued_at = models.DateTimeField(null=True)
    claimed_at = models.DateTimeField(null=True)
    claimed_by = models.UUIDField(null=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True)
    error_code = models.TextField(blank=True)
    approval_id = models.UUIDField(null=True)
    sealed_action = models.BinaryField(null=True)

    callback = models.CharField(max_length=16, choices=Callback.choices, default=Callback.NONE)
    callback_shown = models.TextField(blank=True)
    callback_attempts = models.PositiveSmallIntegerField(default=0)
    callback_due_at = models.DateTimeField(null=True)
    sealed_callback = models.BinaryField(null=True)

    class Meta:
        ordering: ClassVar = ["-asked_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["queued_at", "id"], name="async_call_queue", condition=Q(state="queued")),
            models.Index(fields=["state"], name="async_call_open", condition=~Q(state="done")),
            models.Index(fields=["environment", "-asked_at", "-id"], name="async_call_newest"),
            models.Index(fields=["ended_at"], name="async_call_age", condition=Q(state="done")),
            models.Index(fields=["callback_due_at"], name="async_call_callback", condition=Q(callback="waiting")),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="async_call_sealed_exactly_while_queued",
                condition=Q(state="queued", sealed_action__isnull=False)
                | (~Q(state="queued") & Q(sealed_action__isnull=True)),
            ),
            models.CheckConstraint(
                name="async_call_ended_with_an_outcome",
                condition=(Q(state="done", ended_at__isnull=False) & ~Q(outcome=""))
                | (~Q(state="done") & Q(ended_at__isnull=True, outcome="")),
            ),
            models.CheckConstraint(
                name="async_call_running_for_somebody",
                condition=~Q(state="running") | Q(claimed_by__isnull=False, claimed_at__isnull=False),
            ),
            models.CheckConstraint(
                name="async_call_callback_sealed_while_it_waits",
                condition=Q(callback="waiting", sealed_callback__isnull=False)
                | (~Q(callback="waiting") & Q(sealed_callback__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("call", self.pk)

    @property
    def is_open(self) -> bool:
        return self.state != self.State.DONE


class CallbackAttempt(models.Model):
    """One try to tell somewhere that a call has ended."""

    call = models.ForeignKey(AsyncCall, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True)
    error_code = models.CharField(max_length=64, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["call", "number"], name="callback_attempt_once"),
        ]

    def __str__(self) -> str:
        return f"{self.call_id} {self.number}"


class CallProgress(models.Model):
    """The latest news of a call while it runs, masked; gone when it has ended."""

    call_id = models.UUIDField(primary_key=True, editable=False)
    environment = models.TextField()
    shown = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["at"], name="call_progress_age")]

    def __str__(self) -> str:
        return str(self.call_id)


class CallCancel(models.Model):
    """That somebody wants a call ended, wherever it runs; the first who asks stays on record."""

    call_id = models.UUIDField(primary_key=True, editable=False)
    by = models.TextField()
    asked_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["asked_at"], name="call_cancel_age")]

    def __str__(self) -> str:
        return self.by


class UntoldCall(models.Model):
    """What after-hooks are to hear of a call that waits, should it end without running; taken once.

    Args:
        is_ended: it ended in the queue; else its approval says how it ended.
    """

    call_id = models.UUIDField(primary_key=True, editable=False)
    sealed = models.BinaryField()
    is_ended = models.BooleanField(default=False)

    def __str__(self) -> str:
        return str(self.call_id)


class BackgroundCommand(models.Model):
    """A command that a call left running, or is about to: it belongs to its session, one process holds it.

    The id is that of the call. What it said is kept masked. What the command ended as is in the ledger, too.

    Args:
        family: key of the session at the root of the tree that the session belongs to.
        holder: boot of the process that holds it.
        output_begin, output_total: characters of its output before what is kept, and in all.
        polled: up to where polls have told of it.
        reads_code: the program that runs what is written to it; empty for one that reads data.
        end_asked_code: why its end was asked for; empty while nobody did.
    """

    class State(models.TextChoices):
        STARTING = "starting"
        RUNNING = "running"
        ENDED = "ended"

    id = models.UUIDField(primary_key=True, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    family = models.TextField()
    agent = models.TextField()
    session_key = models.TextField()
    channel = models.TextField(blank=True)
    sender = models.TextField(blank=True)
    actor = models.TextField()
    tool = models.TextField()
    snapshot_digest = models.TextField(blank=True)
    trace_id = models.TextField(blank=True)

    command = models.TextField()
    workdir = models.TextField(blank=True)
    has_terminal = models.BooleanField(default=False)
    reads_code = models.TextField(default="a program", blank=True)
    time_limit_s = models.PositiveIntegerField()

    state = models.CharField(max_length=16, choices=State.choices)
    holder = models.UUIDField()
    started_at = models.DateTimeField()
    output = models.TextField(blank=True)
    output_begin = models.PositiveBigIntegerField(default=0)
    output_total = models.PositiveBigIntegerField(default=0)
    polled = models.PositiveBigIntegerField(default=0)
    accepts_input = models.BooleanField(default=True)

    end_asked_by = models.TextField(blank=True)
    end_asked_code = models.CharField(max_length=32, blank=True)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, blank=True)
    exit_code = models.IntegerField(null=True)
    signal = models.IntegerField(null=True)
    error_code = models.TextField(blank=True)
    error_message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-started_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["session", "-started_at"], name="background_of_session"),
            models.Index(fields=["environment", "agent", "family"], name="background_of_family"),
            models.Index(fields=["holder"], name="background_open", condition=~Q(state="ended")),
            models.Index(fields=["ended_at"], name="background_age", condition=Q(state="ended")),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="background_ended_with_an_outcome",
                condition=(Q(state="ended", ended_at__isnull=False) & ~Q(outcome=""))
                | (~Q(state="ended") & Q(ended_at__isnull=True, outcome="")),
            ),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("proc", self.pk)

    @property
    def is_open(self) -> bool:
        return self.state != self.State.ENDED


class DoorProbe(models.Model):
    """What the last probe of one door found: a call that did nothing, and whether the ledger holds it whole."""

    class State(models.TextChoices):
        RUNNING = "running"
        RECORDED = "recorded"
        MISSING = "missing"
        FAILED = "failed"

    door = models.CharField(max_length=40, primary_key=True)
    state = models.CharField(max_length=20, choices=State)
    reason = models.TextField(blank=True)
    asked_by = models.TextField(blank=True)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    call_id = models.UUIDField(null=True)
    chain_id = models.UUIDField(null=True)
    seq = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return self.door


class CommandInput(models.Model):
    """Something for the input of a background command that another process holds; sealed until that takes it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    command = models.ForeignKey(BackgroundCommand, on_delete=models.CASCADE, related_name="inputs")
    sealed = models.BinaryField()
    is_last = models.BooleanField(default=False)
    asked_at = models.DateTimeField()
    taken_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    error_code = models.TextField(blank=True)
    error_message = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["asked_at"], name="command_input_age")]

    def __str__(self) -> str:
        return str(self.pk)
