"""One entry in the words of each kind of system."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import orjson

from apps.audit.chain import EPOCH, instant_text
from apps.audit.formats import PREFIXES
from apps.audit.rows import EntryRow
from apps.firewall.identifiers import show_id

FACILITY_AUDIT: Final = 13
SEVERITIES: Final = {"denial": 4, "kill_switch": 4, "ungoverned_call": 4}
WARNING, INFORMATIONAL = 4, 6
FAILED: Final = frozenset({"failed", "unknown", "denied", "refused"})
# Source: OpenTelemetry, "Logs Data Model", severity numbers.
OTEL_SEVERITY: Final = {WARNING: (13, "WARN"), INFORMATIONAL: (9, "INFO")}
# Source: RFC 5612, the enterprise number for documentation; RFC 5424 wants one in names that are not registered.
STRUCTURED_ID: Final = "openclaw@32473"
STRUCTURED: Final = (
    "id",
    "chain_id",
    "seq",
    "hash",
    "kind",
    "status",
    "environment",
    "actor",
    "agent",
    "tool",
    "call_id",
)
HEADER_LIMIT: Final = 48


def record_of(entry: EntryRow, *, with_content: bool) -> dict[str, Any]:
    """Write an entry as JSON: the columns of an export, the content only where it is wanted."""
    record = {name: _shown(entry, name) for name in entry.__slots__}
    if not with_content:
        for name in ("params", "result", "error", "masked", "changes", "salt"):
            record.pop(name)
    return record


def json_bytes(record: dict[str, Any]) -> bytes:
    return orjson.dumps(record)


def syslog_frame(entry: EntryRow, record: dict[str, Any], *, host: str, version: str) -> bytes:
    """Write an entry as one message with the number of its bytes before it.

    Source: RFC 5424; RFC 6587 and RFC 5425, octet counting.
    """
    priority = FACILITY_AUDIT * 8 + severity_of(entry)
    head = f"<{priority}>1 {instant_text(entry.at)} {_header(host)} openclaw-admin {_header(version)}"
    values = {name: _shown(entry, name) for name in STRUCTURED}
    params = " ".join(f'{name}="{_structured(value)}"' for name, value in values.items() if value not in ("", None))
    text = f"{head} {_header(entry.kind)} [{STRUCTURED_ID} {params}] "
    message = text.encode() + b"\xef\xbb\xbf" + json_bytes(record)
    return str(len(message)).encode() + b" " + message


def otlp_body(entries: Sequence[tuple[EntryRow, dict[str, Any]]], *, host: str, version: str) -> bytes:
    """Write entries as one request of OTLP/HTTP in JSON.

    Source: OpenTelemetry Protocol 1.x, ExportLogsServiceRequest, JSON mapping.
    """
    resource = {"service.name": "openclaw-admin", "service.version": version, "host.name": host}
    scope = {"scope": {"name": "openclaw_admin.audit"}, "logRecords": [_log_record(*each) for each in entries]}
    return orjson.dumps({"resourceLogs": [{"resource": {"attributes": _attributes(resource)}, "scopeLogs": [scope]}]})


def severity_of(entry: EntryRow) -> int:
    """Say how much an entry matters, as syslog counts."""
    if entry.kind in SEVERITIES or entry.status in FAILED:
        return WARNING
    return INFORMATIONAL


def _log_record(entry: EntryRow, record: dict[str, Any]) -> dict[str, Any]:
    number, text = OTEL_SEVERITY[severity_of(entry)]
    told: dict[str, Any] = {
        "timeUnixNano": str(int((entry.at - EPOCH).total_seconds() * 1_000_000) * 1000),
        "observedTimeUnixNano": str(int((datetime.now(UTC) - EPOCH).total_seconds() * 1_000_000) * 1000),
        "severityNumber": number,
        "severityText": text,
        "eventName": f"openclaw.audit.{entry.kind}",
        "body": {"stringValue": json_bytes(record).decode()},
        "attributes": _attributes({f"openclaw.{name}": _plain(getattr(entry, name)) for name in STRUCTURED}),
    }
    if len(entry.trace_id) == 32:
        told["traceId"] = entry.trace_id
    return told


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": name, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}}
        for name, value in values.items()
        if value not in ("", None)
    ]


def _shown(entry: EntryRow, name: str) -> Any:
    """Give a column as an export has it."""
    value = getattr(entry, name)
    if name in PREFIXES and value is not None:
        return show_id(PREFIXES[name], value)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return instant_text(value)
    if isinstance(value, UUID):
        return str(value)
    return value.hex() if isinstance(value, bytes) else value


def _header(text: str) -> str:
    """Keep printable ASCII without blanks, as headers want it."""
    kept = "".join(letter for letter in text if "!" <= letter <= "~")
    return kept[:HEADER_LIMIT] or "-"


def _structured(value: Any) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("]", "\\]")
    return "".join(letter if letter.isprintable() else " " for letter in text)
