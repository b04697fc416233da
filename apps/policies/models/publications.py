"""What was published: snapshots as bytes, and the list of publications. Rows are only ever added."""

from typing import ClassVar

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q

from apps.firewall.identifiers import new_id
from apps.policies.fields import OrderedJSONField
from apps.registry.models import Environment


def append_only() -> pgtrigger.Protect:
    return pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)


class StoredSnapshot(models.Model):
    """A compiled, signed snapshot; found by the digest of its content."""

    digest = models.CharField(max_length=64, primary_key=True)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="snapshots")
    content = models.BinaryField()
    signature = models.BinaryField()
    key_id = models.CharField(max_length=64)
    format = models.PositiveIntegerField()
    dialect = models.CharField(max_length=16)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(digest__regex=r"^[0-9a-f]{64}$"), name="snapshot_digest_is_hex"),
        ]
        triggers: ClassVar = [append_only()]

    def __str__(self) -> str:
        return self.digest[:12]


class Publication(models.Model):
    """One publication; the newest of an environment is live.

    `document`, `approvals_document` and `guards_document` are the draft as it was (secrets sealed), `log_marks` the
    last row of each change log that it contains. Publications from before there were guards have no document of them.
    `is_emergency` marks a rollback that one person made alone where two must publish.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="publications")
    number = models.PositiveIntegerField()
    snapshot = models.ForeignKey(StoredSnapshot, on_delete=models.PROTECT, related_name="publications")
    message = models.TextField()
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="publications"
    )
    actor = models.CharField(max_length=200)
    published_at = models.DateTimeField(auto_now_add=True)
    rollback_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="rollbacks")
    is_emergency = models.BooleanField(default=False)
    document = OrderedJSONField()
    approvals_document = OrderedJSONField(null=True)
    guards_document = OrderedJSONField(null=True)
    log_marks = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "number"], name="publication_number_once"),
            models.CheckConstraint(condition=~Q(message=""), name="publication_has_message"),
        ]
        triggers: ClassVar = [append_only()]

    def __str__(self) -> str:
        return f"v{self.number}"
