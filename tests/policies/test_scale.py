"""A large environment: 1,000 agents, 10,000 groups, 100,000 rules by sender."""

import json
import random
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.policies.compiler import compile_draft
from apps.policies.services import document_import

TOOLS = ["read", "write", "exec", "process", "web_search", "web_fetch", "message", "group:fs", "group:web", "browser"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def large_document(*, agents: int, groups: int, rules: int) -> dict[str, Any]:
    """Make a document of a given size with some 2,000 distinct blocks."""
    rng = random.Random(1)
    blocks = [{rng.choice(["allow", "deny"]): rng.sample(TOOLS, rng.randint(1, 5))} for _ in range(2000)]

    def senders(count: int) -> dict[str, Any]:
        return {f"id:{number}": rng.choice(blocks) for number in range(count)}

    per_group = rules * 9 // 10 // groups
    return {
        "agents": {
            "ownership": "explicit",
            "entries": {f"agent-{n}": {"tools": {"profile": "coding", **rng.choice(blocks)}} for n in range(agents)},
        },
        "tools": {"profile": "full", "toolsBySender": senders(rules - per_group * groups)},
        "channels": {
            f"channel-{channel}": {
                "groups": {
                    f"-{channel}{number:05}": {"tools": rng.choice(blocks), "toolsBySender": senders(per_group)}
                    for number in range(groups // 10)
                }
            }
            for channel in range(10)
        },
    }


def test_a_large_draft_is_compiled_whole_and_twice_alike(environment: Any) -> None:
    document = large_document(agents=1000, groups=10_000, rules=100_000)
    report = document_import(environment, json.dumps(document), by=None)
    assert report.records["senderrule"] == 100_000

    first, second = compile_draft(environment), compile_draft(environment)

    assert first.to_bytes() == second.to_bytes()
    assert decide(first, CallContext(agent_id="agent-7"), "nonesuch").layer == "unknown_tool"
