"""What the ledger refuses or cannot do."""

from apps.firewall.errors import FirewallError


class AuditError(FirewallError):
    """Anything that goes wrong in the audit room."""

    code = "audit_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details: list[dict[str, str]] = []


class AuditUnavailableError(AuditError):
    """The ledger could not store an entry; what it would have recorded must not happen."""

    code = "audit_unavailable"


class FilterError(AuditError):
    """A filter holds a value that cannot be searched for; `details` names each one."""

    code = "invalid_filter"

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__("the filter cannot be read: " + "; ".join(item["message"] for item in details))
        self.details = details


class ExportNotFoundError(AuditError):
    """No export with this id belongs to this person, or its file has expired."""

    code = "export_not_found"


class ExportFormatError(AuditError):
    """The wanted export format does not exist."""

    code = "export_format_unknown"


class StreamNotFoundError(AuditError):
    """No stream with this id."""

    code = "stream_not_found"


class StreamInvalidError(AuditError):
    """A stream that cannot be kept as it is; `details` names each mistake as `{"path", "code", "message"}`."""

    code = "stream_invalid"

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__("; ".join(item["message"] for item in details))
        self.details = details


class ExportStateError(AuditError):
    """What is asked of an export does not fit its state."""

    code = "export_state"


class AuditKeyError(AuditError):
    """The key that signs statements cannot be used, or is not the one that the last statement names."""

    code = "audit_key_unusable"


class SavedFilterError(AuditError):
    """A search cannot be kept as it was given; the message names the field."""

    code = "saved_filter_invalid"


class SavedFilterNotFoundError(AuditError):
    """No saved search with this id is this person's to remove."""

    code = "saved_filter_not_found"


class VerificationNotFoundError(AuditError):
    """No verification with this id."""

    code = "verification_not_found"


class WitnessNotFoundError(AuditError):
    """No witness with this name, or no such answer of it."""

    code = "witness_not_found"


class WitnessInvalidError(AuditError):
    """A witness that cannot be kept as it is; `details` names each mistake as `{"path", "code", "message"}`."""

    code = "witness_invalid"

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__("; ".join(item["message"] for item in details))
        self.details = details


class RetentionInvalidError(AuditError):
    """What was wanted of retention, a hold or an erasure cannot be: `details` names the field."""

    code = "retention_invalid"

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.details = [{"path": path, "code": "invalid", "message": message}]


class HoldNotFoundError(AuditError):
    """No legal hold has this id."""

    code = "hold_not_found"


class ErasureNotFoundError(AuditError):
    """No erasure has this id."""

    code = "erasure_not_found"


class ErasureHeldError(AuditError):
    """A legal hold keeps what was to be erased."""

    code = "erasure_held"


class ErasureOpenError(AuditError):
    """Calls or requests of the subject have not ended."""

    code = "erasure_open"
