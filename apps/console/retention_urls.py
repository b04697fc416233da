"""Paths of the pages about the end of records."""

from django.urls import URLPattern, URLResolver, path

import apps.accounts.converters  # noqa: F401 - registers hold_id, erasure_id
from apps.console.views import audit_retention

BASE = "audit/retention/"

retention: list[URLPattern | URLResolver] = [
    path(BASE, audit_retention.page, name="audit-retention"),
    path(f"{BASE}classes/<str:name>/", audit_retention.records, name="audit-retention-class"),
    path(f"{BASE}classes/<str:name>/left/", audit_retention.purging, name="audit-retention-left"),
    path(f"{BASE}classes/<str:name>/purge/", audit_retention.purge, name="audit-retention-purge"),
    path(f"{BASE}purges/", audit_retention.runs, name="audit-retention-purges"),
    path(f"{BASE}holds/add/", audit_retention.hold, name="audit-retention-hold-add"),
    path(f"{BASE}holds/<hold_id:hold_id>/lift/", audit_retention.lift, name="audit-retention-hold-lift"),
    path(f"{BASE}erase/preview/", audit_retention.look, name="audit-retention-erase-preview"),
    path(f"{BASE}erase/", audit_retention.erase, name="audit-retention-erase"),
    path(f"{BASE}erasures/<erasure_id:erasure_id>/", audit_retention.erasure, name="audit-retention-erasure"),
]
