"""Paths about the ledger itself."""

from django.urls import URLPattern, path

import apps.accounts.converters  # noqa: F401 - registers run_id
from apps.api.views import audit_integrity

integrity: list[URLPattern] = [
    path("audit/integrity", audit_integrity.Integrity.as_view(), name="api-audit-integrity"),
    path("audit/chains", audit_integrity.Chains.as_view(), name="api-audit-chains"),
    path("audit/statements", audit_integrity.Statements.as_view(), name="api-audit-statements"),
    path("audit/checkpoints", audit_integrity.Checkpoints.as_view(), name="api-audit-checkpoints"),
    path("audit/verifications", audit_integrity.Verifications.as_view(), name="api-audit-verifications"),
    path(
        "audit/verifications/<run_id:run_id>",
        audit_integrity.VerificationDetail.as_view(),
        name="api-audit-verification",
    ),
]
