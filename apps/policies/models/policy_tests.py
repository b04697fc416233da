"""Policy tests: what must be allowed, denied or asked about, whatever is published."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import pghistory
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.chain import storable
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.cases import CASE_LAYERS
from apps.firewall.tools.near import did_you_mean
from apps.policies.models.named import NamedRecord

JSON_LIMIT: Final = 16_384


class ExpectedVerdict(models.TextChoices):
    ALLOWED = "allowed", gettext_lazy("Allowed")
    DENIED = "denied", gettext_lazy("Denied")
    ASKS = "asks", gettext_lazy("Asks")


class CaseOrigin(models.TextChoices):
    """What a policy test was made from."""

    HAND = "hand", gettext_lazy("By hand")
    CALL = "call", gettext_lazy("A recorded call")
    EXPLORER = "explorer", gettext_lazy("The explorer")


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent(), append_only=True)
class PolicyTest(NamedRecord):
    """A case that every publication of an environment must answer as expected.

    `context` is what `CallContext` writes, `params` those of the call where they matter, `layer` what must decide where
    that matters, `call` the recorded call that it was made from.
    """

    tool = models.CharField(max_length=512)
    context = models.JSONField(default=dict, blank=True)
    params = models.JSONField(null=True, blank=True)
    verdict = models.CharField(max_length=8, choices=ExpectedVerdict.choices)
    layer = models.CharField(max_length=64, blank=True)
    origin = models.CharField(max_length=8, choices=CaseOrigin.choices, default=CaseOrigin.HAND)
    call = models.UUIDField(null=True, blank=True)

    class Meta(NamedRecord.Meta):
        abstract = False
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="policy_test_name_once_per_environment"),
            models.CheckConstraint(
                condition=models.Q(verdict__in=ExpectedVerdict.values), name="policy_test_verdict_is_known"
            ),
        ]

    @property
    def shown_id(self) -> str:
        return show_id("ptest", self.pk)

    def clean(self) -> None:
        mistakes: dict[str, Any] = {}
        for field in ("context", "params"):
            mistake = _json_mistake(getattr(self, field), is_optional=field == "params")
            if mistake:
                mistakes[field] = mistake
        if "context" not in mistakes:
            try:
                CallContext.from_json(self.context)
            except ContextError as exc:
                mistakes["context"] = exc.message
        if self.layer and self.layer not in CASE_LAYERS:
            hint = did_you_mean(self.layer, CASE_LAYERS)
            mistakes["layer"] = _("no layer is named `%(layer)s`%(hint)s") % {"layer": self.layer, "hint": hint}
        elif self.layer and self.verdict == ExpectedVerdict.ALLOWED:
            mistakes["layer"] = _("nothing decides alone about what is allowed: leave the layer empty")
        if mistakes:
            raise ValidationError(mistakes)


def _json_mistake(value: Any, *, is_optional: bool) -> str:
    if value is None and is_optional:
        return ""
    if not isinstance(value, Mapping):
        return _("must be an object")
    try:
        written = json.dumps(value, allow_nan=False)
        is_storable = storable(value) == value
    except (ValueError, TypeError, RecursionError):
        return _("is not JSON")
    if len(written) > JSON_LIMIT:
        return _("is longer than %(limit)s bytes as JSON") % {"limit": JSON_LIMIT}
    return "" if is_storable else _("holds characters that cannot be stored")
