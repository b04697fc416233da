"""Random policies: the real package and the engine leave each kind of session the same tools."""

import pytest

from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.mcp import policy_names
from tests.openclaw.random_documents import TOOLS, RandomDocument
from tests.openclaw.verdicts import RealVerdicts, differences, situations

SEEDS = range(120)
AT_ONCE = 20


@pytest.mark.slow
@pytest.mark.parametrize("first", SEEDS[::AT_ONCE])
def test_the_package_and_the_engine_leave_the_same_tools_whatever_is_written(first: int, real: RealVerdicts) -> None:
    found = []
    for seed in range(first, first + AT_ONCE):
        document = RandomDocument(seed).document()
        snapshot = build_snapshot(parse_document(document, dialect="2026.9", tools=TOOLS))
        asked = [each for agent in document["agents"]["entries"] for each in situations(agent)]
        found += [f"{seed}: {each}" for each in differences(document, snapshot, asked, real)]
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize("server", ["files", "12306", "_x", "My Server", "a" * 50, "Docs.v2", "é"])
def test_tools_of_servers_have_the_names_that_rules_of_the_package_mean(server: str, real: RealVerdicts) -> None:
    listed = ["read", "Read.Docs", "2fa", "a.b", "a-b", "_y", "x" * 80, "x" * 81]
    connection = Connection(source=server, kind="mcp_stdio")

    assert list(policy_names(connection, [{"name": each} for each in listed])) == real.names(server, listed)
