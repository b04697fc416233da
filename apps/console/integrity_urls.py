"""Paths of the page about the ledger itself."""

from django.urls import URLPattern, URLResolver, path

import apps.accounts.converters  # noqa: F401 - registers run_id, id_number
from apps.console.views import audit_integrity

integrity: list[URLPattern | URLResolver] = [
    path("audit/integrity/", audit_integrity.page, name="audit-integrity"),
    path("audit/integrity/verify/", audit_integrity.verify, name="audit-integrity-verify"),
    path("audit/integrity/runs/<run_id:run_id>/", audit_integrity.verification, name="audit-integrity-run"),
    path("audit/integrity/checkpoint/", audit_integrity.checkpoint, name="audit-integrity-checkpoint"),
    path("audit/integrity/verify_audit.py", audit_integrity.verifier, name="audit-integrity-verifier"),
    path("audit/integrity/key.pem", audit_integrity.key, name="audit-integrity-key"),
    path("audit/integrity/witnesses/add/", audit_integrity.witness_new, name="audit-integrity-witness-add"),
    path(
        "audit/integrity/witnesses/<slug:name>/remove/",
        audit_integrity.witness_end,
        name="audit-integrity-witness-remove",
    ),
    path(
        "audit/integrity/witnesses/<slug:name>/retry/",
        audit_integrity.witness_again,
        name="audit-integrity-witness-retry",
    ),
    path(
        "audit/integrity/witnesses/<slug:name>/stamps/<id_number:number>/",
        audit_integrity.witness_token,
        name="audit-integrity-witness-stamp",
    ),
]
