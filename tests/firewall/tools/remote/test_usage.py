"""Registries hear how their tools are used when an admin wants it, in sums."""

import json
from datetime import UTC, datetime

import pytest

from apps.firewall.tools.connections import read_connection
from apps.firewall.tools.connector import ConnectorError
from apps.firewall.tools.discovery.remote_usage import ToolUsage, UsageRefusedError, report_usage
from tests.firewall.tools.connector.loopback import names, saying, serving, watching
from tests.firewall.tools.remote.conftest import Registry

SINCE = datetime(2026, 11, 22, 4, tzinfo=UTC)
UNTIL = datetime(2026, 11, 22, 5, tzinfo=UTC)
USAGE = [ToolUsage(name="text_count", version="1.1.0", calls=7, failures=1, p95_ms=12)]


async def test_the_example_takes_a_report(registry: Registry) -> None:
    connection = registry.connection(usage_url=registry.url("/usage"))
    assert await report_usage(connection, USAGE, since=SINCE, until=UNTIL, report_id="rep_1")


async def test_a_report_holds_sums_and_nothing_else() -> None:
    async with serving(saying(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        settings = {"url": server.url(), "usage_url": server.url("/usage"), "allow_networks": ["127.0.0.0/8"]}
        connection = read_connection(source="test", kind="remote", settings=settings, secrets={})
        await report_usage(connection, USAGE, since=SINCE, until=UNTIL, report_id="rep_1", resolve=names())
    assert json.loads(server.requests[0].split(b"\r\n\r\n")[1]) == {
        "format": 1,
        "report_id": "rep_1",
        "since": "2026-11-22T04:00:00+00:00",
        "until": "2026-11-22T05:00:00+00:00",
        "tools": [{"name": "text_count", "version": "1.1.0", "calls": 7, "failures": 1, "p95_ms": 12}],
    }


async def test_without_an_address_for_it_nothing_is_sent(registry: Registry) -> None:
    with watching() as sockets:
        assert not await report_usage(registry.connection(), USAGE, since=SINCE, until=UNTIL, report_id="rep_2")
    assert sockets == []


async def test_a_report_that_is_not_taken_is_an_error(registry: Registry) -> None:
    unsigned = registry.connection(usage_url=registry.url("/usage"), signing=None)
    with pytest.raises(UsageRefusedError, match="401"):
        await report_usage(unsigned, USAGE, since=SINCE, until=UNTIL, report_id="rep_3")


async def test_a_report_goes_nowhere_that_the_rules_do_not_allow(registry: Registry) -> None:
    connection = registry.connection(usage_url="http://169.254.169.254/")
    with watching() as sockets, pytest.raises(ConnectorError):
        await report_usage(connection, USAGE, since=SINCE, until=UNTIL, report_id="rep_4")
    assert sockets == []
