"""Bulk edits: one change of many agents, made row by row in the background."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import ApiToken
from apps.firewall.identifiers import new_id, show_id
from apps.registry.models import Environment


class BulkEdit(models.Model):
    """One change of many agents; `worker` is whoever makes it now.

    `change` is a `BulkChange` of `apps.policies.bulk.changes` as JSON.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    requested_token = models.ForeignKey(ApiToken, null=True, on_delete=models.SET_NULL, related_name="+")
    actor = models.TextField()
    requested_at = models.DateTimeField()
    change = models.JSONField()
    state = models.TextField(choices=State, default=State.WAITING)
    rows_total = models.PositiveIntegerField()
    rows_done = models.PositiveIntegerField(default=0)
    worker = models.UUIDField(null=True)
    touched_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-requested_at", "-id"]

    @property
    def shown_id(self) -> str:
        return show_id("bulk", self.pk)

    @property
    def is_open(self) -> bool:
        return self.state != self.State.DONE

    @property
    def percent(self) -> int:
        return self.rows_done * 100 // self.rows_total if self.rows_total else 100


class BulkEditRow(models.Model):
    """One agent of a bulk edit: the version that was seen of what changes, 0 for none, and what came of it."""

    class Result(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Changed")
        UNCHANGED = "unchanged", _("Was so already")
        CHANGED = "changed", _("Changed by somebody meanwhile")
        REFUSED = "refused", _("Refused")
        GONE = "gone", _("Gone")

    edit = models.ForeignKey(BulkEdit, on_delete=models.CASCADE, related_name="rows")
    position = models.PositiveIntegerField()
    agent = models.UUIDField()
    key = models.TextField()
    version = models.PositiveIntegerField()
    result = models.TextField(choices=Result, default=Result.WAITING)
    reason = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["edit", "position"], name="bulk_row_once")]
