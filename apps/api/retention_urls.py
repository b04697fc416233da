"""Paths about the end of records."""

from django.urls import URLPattern, path

import apps.accounts.converters  # noqa: F401 - registers hold_id, erasure_id
from apps.api.views import audit_retention

retention: list[URLPattern] = [
    path("audit/retention", audit_retention.Retention.as_view(), name="api-audit-retention"),
    path("audit/retention/<str:name>", audit_retention.RetentionDetail.as_view(), name="api-audit-retention-detail"),
    path("audit/retention/<str:name>/purge", audit_retention.RetentionPurge.as_view(), name="api-audit-purge"),
    path("audit/holds", audit_retention.Holds.as_view(), name="api-audit-holds"),
    path("audit/holds/<hold_id:hold_id>/lift", audit_retention.HoldLift.as_view(), name="api-audit-hold-lift"),
    path("audit/erasures", audit_retention.Erasures.as_view(), name="api-audit-erasures"),
    path("audit/erasures/preview", audit_retention.ErasurePreview.as_view(), name="api-audit-erasure-preview"),
    path("audit/erasures/<erasure_id:erasure_id>", audit_retention.ErasureDetail.as_view(), name="api-audit-erasure"),
]
