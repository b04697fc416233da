"""Tells a remote registry how its tools were used, in sums: no callers, no parameters, no results."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Connector, Resolve, system_resolve
from apps.firewall.tools.discovery.remote import FORMAT
from apps.firewall.tools.http_tool import signed_headers

SETTING: Final = "usage_url"


class UsageRefusedError(FirewallError):
    """The registry did not take a report."""

    code = "usage_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUsage:
    """How one tool was used in a period; `p95_ms` is None without calls."""

    name: str
    version: str
    calls: int
    failures: int
    p95_ms: int | None


async def report_usage(
    connection: Connection,
    usages: Sequence[ToolUsage],
    *,
    since: datetime,
    until: datetime,
    report_id: str,
    resolve: Resolve = system_resolve,
) -> bool:
    """Post a report to the address in the setting `usage_url` of the source, which only an admin sets.

    Args:
        since, until: aware; the second one is outside the period.
        report_id: the same when a report is sent again, so that a registry counts it once.
    Returns:
        False when the source has no such setting, so that nothing was sent.
    Raises:
        ConnectorError, SigningKeyError, UsageRefusedError.
    """
    url = connection.settings.get(SETTING)
    if not isinstance(url, str) or not url:
        return False
    report = {
        "format": FORMAT,
        "report_id": report_id,
        "since": since.astimezone(UTC).isoformat(),
        "until": until.astimezone(UTC).isoformat(),
        "tools": [asdict(usage) for usage in usages],
    }
    body = json.dumps(report, separators=(",", ":")).encode()
    headers = signed_headers(url, connection, body, report_id)
    answer = await Connector.of(connection, resolve).post(url, body, headers=headers)
    if not 200 <= answer.status < 300:
        raise UsageRefusedError(f"the registry does not take the report (status {answer.status})")
    return True
