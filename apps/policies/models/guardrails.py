"""Guardrails: house rules that every snapshot is held against, and who accepted that one of them fails."""

from typing import ClassVar

import pghistory
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext, gettext_lazy

from apps.audit.chain import storable
from apps.firewall.engine.guardrail_form import GuardrailForm, GuardrailFormError
from apps.firewall.identifiers import new_id, show_id
from apps.policies.models.named import NamedRecord


class GuardrailSeverity(models.TextChoices):
    BLOCKING = "blocking", gettext_lazy("Blocks publishing")
    WARNING = "warning", gettext_lazy("May be accepted")


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class Guardrail(NamedRecord):
    """A house rule of an environment; `form` is what `GuardrailForm` writes."""

    description = models.TextField(max_length=2000, blank=True)
    form = models.JSONField()
    severity = models.CharField(max_length=8, choices=GuardrailSeverity.choices, default=GuardrailSeverity.BLOCKING)

    class Meta(NamedRecord.Meta):
        abstract = False
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="guardrail_name_once_per_environment"),
            models.CheckConstraint(
                condition=models.Q(severity__in=GuardrailSeverity.values), name="guardrail_severity_is_known"
            ),
        ]

    @property
    def shown_id(self) -> str:
        return show_id("grail", self.pk)

    @property
    def is_blocking(self) -> bool:
        return self.severity == GuardrailSeverity.BLOCKING

    def clean(self) -> None:
        try:
            GuardrailForm.from_json(self.form)
        except GuardrailFormError as exc:
            raise ValidationError({"form": f"{exc.field}: {exc.message}" if exc.field else exc.message}) from exc
        if storable(self.form) != self.form:
            raise ValidationError({"form": gettext("holds characters that cannot be stored")})


@pghistory.track(pghistory.InsertEvent(), pghistory.DeleteEvent(), append_only=True)
class GuardrailAcceptance(models.Model):
    """A person's word that a guardrail may fail, as long as exactly the same fails of exactly this version of it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    guardrail = models.ForeignKey(Guardrail, on_delete=models.CASCADE, related_name="acceptances")
    guardrail_version = models.PositiveIntegerField()
    fingerprint = models.CharField(max_length=64)
    reason = models.TextField(max_length=2000)
    accepted_by = models.CharField(max_length=200)
    accepted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-accepted_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["guardrail", "guardrail_version", "fingerprint"], name="guardrail_failure_accepted_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.guardrail_id}: {self.accepted_by}"
