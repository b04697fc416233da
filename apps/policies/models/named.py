"""What the records have in common that have a name in their environment and hold its drafts to something."""

from typing import ClassVar

from django.db import models

from apps.firewall.identifiers import new_id
from apps.registry.models import Environment


class NamedRecord(models.Model):
    """A record beside the draft; while it is switched on, no publication may fail it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=200)
    made_by = models.CharField(max_length=200)
    is_enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name
