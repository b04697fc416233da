"""Everything that changes policies. Each function is one transaction; permissions are checked by the doors."""

from apps.policies.services.documents import ImportReport, document_check, document_import, draft_discard

__all__ = ["ImportReport", "document_check", "document_import", "draft_discard"]
