"""The column type of parts of a document that are kept as they are."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from psycopg.types.json import Json


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class OrderedJSONField(models.JSONField):
    """A JSON object or list in a `json` column, which keeps the order of keys (`jsonb` does not).

    PostgreSQL cannot compare `json` values: no lookups, no `distinct()` over it.
    """

    def db_type(self, connection: Any) -> str:  # noqa: ARG002 - Django's signature
        return "json"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:  # noqa: ARG002
        return json.loads(value) if isinstance(value, str) else value

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:  # noqa: ARG002
        if value is None or isinstance(value, Json) or hasattr(value, "as_sql"):
            return value
        return Json(value, dumps=_dump)

    def validate(self, value: Any, model_instance: models.Model | None) -> None:
        super().validate(value, model_instance)
        if value is not None and not isinstance(value, dict | list):
            raise ValidationError(_("Enter a JSON object or list."), code="invalid")
