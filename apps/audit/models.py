"""The ledger's tables as Django sees them.

Entries, contents and boots are made by SQL (partitions, triggers) and written by `writer.py` alone; these models only
read them. They stay unmanaged, so that nothing of Django's alters or empties them.
"""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.audit.apps import AuditConfig
from apps.firewall.identifiers import new_id, show_id

APPEND_ONLY_TABLES: tuple[str, ...] = AuditConfig.append_only_tables


class Boot(models.Model):
    """One process that writes entries: its chain, the head of it, and a lease that says it is alive.

    The id is the id of the chain too. `ended_at` fences: after it, the process writes on a new chain. `swept_at`
    says that each of its intents has an outcome.
    """

    id = models.UUIDField(primary_key=True)
    host = models.TextField()
    pid = models.IntegerField()
    version = models.TextField()
    started_at = models.DateTimeField()
    lease_until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    swept_at = models.DateTimeField(null=True)
    seq = models.BigIntegerField()
    head = models.BinaryField()

    class Meta:
        managed = False
        db_table = "audit_boot"


class Entry(models.Model):
    """One line of the ledger, linked to the one before it in its chain, with what its content says beside."""

    id = models.UUIDField(primary_key=True)
    at = models.DateTimeField()
    chain_id = models.UUIDField()
    seq = models.BigIntegerField()
    format = models.SmallIntegerField()
    kind = models.TextField()
    actor = models.TextField()
    environment = models.TextField()
    agent = models.TextField()
    session_key = models.TextField()
    channel = models.TextField()
    sender = models.TextField()
    tool = models.TextField()
    call_id = models.UUIDField(null=True)
    approval_id = models.UUIDField(null=True)
    status = models.TextField()
    duration_ms = models.BigIntegerField(null=True)
    decision = models.TextField()
    decision_layer = models.TextField()
    decision_label = models.TextField()
    decision_rule = models.TextField()
    decision_reason = models.TextField()
    snapshot_digest = models.TextField()
    trace_id = models.TextField()
    phases = models.JSONField(null=True)
    changes = models.JSONField(null=True)
    content_commitment = models.BinaryField(null=True)
    prev_hash = models.BinaryField()
    hash = models.BinaryField()

    class Meta:
        managed = False
        db_table = "audit_line"
        ordering = ["-at", "-id"]


class Content(models.Model):
    """What an entry carries that may be erased later; the chain holds only its salted digest."""

    entry_id = models.UUIDField(primary_key=True)
    at = models.DateTimeField()
    call_id = models.UUIDField(null=True)
    salt = models.BinaryField()
    params = models.JSONField(null=True)
    result = models.JSONField(null=True)
    error = models.JSONField(null=True)
    masked = models.JSONField(null=True)
    changes = models.JSONField(null=True)
    decision_reason = models.TextField()

    class Meta:
        managed = False
        db_table = "audit_content"


class Stream(models.Model):
    """A system that gets each entry as it is written, at least once: where it is, and how it goes.

    `worker` is whoever sends now; `due_at` is put off while the other side does not answer.
    """

    class Kind(models.TextChoices):
        SYSLOG = "syslog", _("Syslog (RFC 5424)")
        HTTP = "http", _("HTTP, JSON")
        OTLP = "otlp", _("OpenTelemetry logs (OTLP/HTTP)")
        S3 = "s3", _("Object store (S3), JSONL")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    kind = models.TextField(choices=Kind)
    url = models.TextField()
    ca = models.TextField(default="", blank=True)
    region = models.CharField(max_length=64, default="us-east-1", blank=True)
    prefix = models.CharField(max_length=200, default="", blank=True)
    with_content = models.BooleanField(default=True)
    sealed_secret = models.BinaryField(default=b"")
    is_paused = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(default=timezone.now)
    worker = models.UUIDField(null=True)
    touched_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    sent_count = models.BigIntegerField(default=0)
    failures = models.IntegerField(default=0)
    error = models.TextField(default="")

    class Meta:
        ordering = ["name"]

    @property
    def has_secret(self) -> bool:
        return bool(self.sealed_secret)


class StreamCursor(models.Model):
    """How far a stream has got in one chain."""

    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="cursors")
    chain_id = models.UUIDField()
    seq = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "chain_id"], name="audit_streamcursor_one")]


class DeadLetter(models.Model):
    """An entry that a system refused for good; it stays until it is sent again or given up by a person."""

    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="dead")
    chain_id = models.UUIDField()
    seq = models.BigIntegerField()
    at = models.DateTimeField(default=timezone.now)
    reason = models.TextField()
    attempts = models.IntegerField(default=1)

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["stream", "chain_id", "seq"], name="audit_deadletter_one")]


class Export(models.Model):
    """A file made from the ledger for who asked: what was asked, how far it is, where it lies.

    `heads` are those of the chains when it was asked: what was committed later is not in it. `place` is the last entry
    of the last part that is kept, `worker` whoever writes now.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        EXPIRED = "expired"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_token = models.UUIDField(null=True)
    requested_by_label = models.TextField()
    requested_at = models.DateTimeField()
    format = models.TextField()
    filters = models.JSONField(default=dict)
    heads = models.JSONField(null=True)
    state = models.TextField(choices=State, default=State.WAITING)
    rows_total = models.BigIntegerField(null=True)
    rows_done = models.BigIntegerField(default=0)
    size_bytes = models.BigIntegerField(default=0)
    parts = models.IntegerField(default=0)
    place = models.JSONField(null=True)
    is_walked = models.BooleanField(default=False)
    facts = models.JSONField(null=True)
    worker = models.UUIDField(null=True)
    path = models.TextField(default="")
    sha256 = models.TextField(default="")
    error = models.TextField(default="")
    touched_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-requested_at", "-id"]
        indexes = [models.Index(fields=["state", "expires_at"], name="audit_export_state")]

    @property
    def shown_id(self) -> str:
        return show_id("exp", self.pk)

    @property
    def shown_format(self) -> str:
        """Its format as people write it."""
        return {"csv": "CSV", "jsonl": "JSONL", "parquet": "Parquet"}.get(self.format, self.format)

    @property
    def is_open(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}

    @property
    def percent(self) -> int | None:
        """How much of it is written; None while nobody has counted."""
        if self.rows_total is None:
            return None
        return 100 if self.rows_total == 0 else min(100, self.rows_done * 100 // self.rows_total)


class Witness(models.Model):
    """Somebody outside who keeps what was signed, so that not even the holder of the key can take it back.

    `last_number` is the statement up to which it has been told; an attempt that fails is repeated later and later.
    """

    class Kind(models.TextChoices):
        FILE = "file"
        HTTP = "http"
        RFC3161 = "rfc3161"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.TextField(unique=True)
    kind = models.TextField(choices=Kind)
    target = models.TextField()
    roots_pem = models.TextField(default="")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.TextField(default="")
    last_number = models.BigIntegerField(default=0)
    last_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True)
    error_code = models.TextField(default="")
    error = models.TextField(default="")

    class Meta:
        ordering = ["name"]

    @property
    def shown_target(self) -> str:
        return self.target.split("?")[0]


class WitnessReceipt(models.Model):
    """What a witness answered to a statement: for a time-stamp the whole token, which others can verify."""

    witness = models.ForeignKey(Witness, on_delete=models.CASCADE, related_name="receipts")
    number = models.BigIntegerField()
    at = models.DateTimeField()
    token = models.BinaryField(default=bytes)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["witness", "number"], name="audit_receipt_once")]


class Run(models.Model):
    """Long work on the whole ledger: who asked, how far it is, how it ended."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    requested_by = models.TextField()
    requested_at = models.DateTimeField()
    state = models.TextField(choices=State, default=State.WAITING)
    touched_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    error = models.TextField(default="")

    class Meta:
        abstract = True
        ordering = ["-requested_at", "-id"]

    @property
    def is_open(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}


class VerificationRun(Run):
    """One walk over the whole ledger, and what it found."""

    entries_total = models.BigIntegerField(null=True)
    entries_done = models.BigIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    is_intact = models.BooleanField(null=True)
    report = models.JSONField(default=dict)

    @property
    def percent(self) -> int | None:
        return min(100, 100 * self.entries_done // self.entries_total) if self.entries_total else None


class PurgeRun(Run):
    """One purge of a class of records. One of a class goes on at a time."""

    name = models.TextField()
    records_total = models.BigIntegerField()
    records_done = models.BigIntegerField(default=0)

    class Meta(Run.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(state__in=["waiting", "running"]), name="audit_purge_open_once"
            )
        ]

    @property
    def percent(self) -> int:
        return min(100, 100 * self.records_done // self.records_total) if self.records_total else 0


class SavedFilter(models.Model):
    """A search that a person keeps under a name, for themselves or for everybody who reads the ledger.

    `query` is the query string of the page, without cursors.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    query = models.TextField()
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="audit_saved_filter_once")]


class ListPreference(models.Model):
    """How one person wants the list of calls: which columns, in which time zone. Empty members are the default."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+")
    columns = models.JSONField(default=list)
    time_zone = models.TextField(default="")


class Retention(models.Model):
    """How many days one class of records is kept; null, or no row: for ever."""

    name = models.CharField(max_length=32, primary_key=True)
    days = models.PositiveIntegerField(null=True)
    changed_by = models.TextField(default="")
    changed_at = models.DateTimeField(null=True)


class Hold(models.Model):
    """What must not go, whatever retention or an erasure says; empty members mean any. It can only be lifted, once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    reason = models.CharField(max_length=500)
    environment = models.TextField(default="")
    agent = models.TextField(default="")
    channel = models.TextField(default="")
    sender = models.TextField(default="")
    session_key = models.TextField(default="")
    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    placed_at = models.DateTimeField()
    placed_by = models.TextField()
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.TextField(default="")
    lift_reason = models.CharField(max_length=500, default="")

    class Meta:
        ordering = ["-placed_at", "-id"]

    @property
    def shown_id(self) -> str:
        return show_id("hold", self.pk)


class Erasure(models.Model):
    """One subject whose contents are erased. Who it was stands here only until that is done; then its salted hash."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        REFUSED = "refused"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    channel = models.TextField()
    sender = models.TextField()
    salt = models.BinaryField()
    subject = models.CharField(max_length=64)
    reason = models.CharField(max_length=500)
    requested_by = models.TextField()
    requested_at = models.DateTimeField()
    state = models.TextField(choices=State, default=State.RUNNING)
    touched_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    contents_total = models.BigIntegerField(default=0)
    contents_done = models.BigIntegerField(default=0)
    elsewhere = models.JSONField(default=dict)
    error = models.TextField(default="")

    class Meta:
        ordering = ["-requested_at", "-id"]

    @property
    def shown_id(self) -> str:
        return show_id("ers", self.pk)
