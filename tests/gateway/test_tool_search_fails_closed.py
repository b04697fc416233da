"""Tool search is no way around the policy: what that forbids is not found, described, listed or called by any way."""

# ruff: noqa: F811 - fixtures are imported
import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource
from tests.gateway.searching import (
    ARGUMENTS,
    VAULT,
    VAULT_ID,
    WORDS,
    Live,
    Run,
    holder,  # noqa: F401 (a fixture)
    intents,
    layers,
    live,  # noqa: F401 (a fixture)
    needs_node,
    vault,
)

NO_VAULT = Policy(deny=(VAULT,))
ALL_BUT_VAULT = Policy(allow=("*",), deny=(VAULT,))  # a sandbox has few tools, unless it is told to have more


@dataclass(frozen=True)
class Case:
    """Why the vault is closed: what the snapshot says, and what the run says of itself."""

    source: dict[str, Any]
    body: dict[str, Any] = field(default_factory=dict)
    vault: dict[str, Any] = field(default_factory=dict)


def bot(policy: Policy | None = None, **more: Any) -> dict[str, Any]:
    return {"agents": [AgentSource("bot", policy=policy, **more), AgentSource("clerk")]}


def group(**more: Any) -> dict[str, Any]:
    return {"channels": [ChannelSource("telegram", {"groups": [GroupSource("-100", **more)]})]}


IN_GROUP = {"session": "agent:bot:telegram:group:-100", "context": {"channel": "telegram", "sender_id": "7"}}
SENDER = {"context": {"channel": "telegram", "sender_id": "7"}}
CLOSED: dict[str, Case] = {
    "the agent's deny list": Case(bot(NO_VAULT)),
    "a pattern of the agent's deny list": Case(bot(Policy(deny=("vault_*",)))),
    "the plugin in the agent's deny list": Case(bot(Policy(deny=("vault",)))),
    "the agent's allow list": Case(bot(Policy(allow=("read", "write", "crm")))),
    "everybody's deny list": Case({"policy": NO_VAULT}),
    "everybody's allow list": Case({"policy": Policy(allow=("group:fs", "crm"))}),
    "the profile": Case({"policy": Policy(profile="minimal", also_allow=("read", "crm"))}),
    "the agent's profile": Case(bot(Policy(profile="coding", also_allow=("crm",)))),
    "the provider": Case({"by_provider": [("acme", NO_VAULT)]}),
    "the agent's provider": Case(bot(by_provider=[("acme", NO_VAULT)])),
    "the sender": Case({"by_sender": [("id:7", NO_VAULT)]}, SENDER),
    "the agent's sender": Case(bot(by_sender=[("id:7", NO_VAULT)]), SENDER),
    "the sandbox": Case({"sandbox": ALL_BUT_VAULT}, {"context": {"sandboxed": True}}),
    "the agent's sandbox": Case(bot(sandbox=ALL_BUT_VAULT), {"context": {"sandboxed": True}}),
    "being a sub-agent": Case({"subagents": NO_VAULT}, {"context": {"subagent_depth": 1}}),
    "the group": Case(group(tools=NO_VAULT), IN_GROUP),
    "the sender in the group": Case(group(by_sender=[("id:7", NO_VAULT)]), IN_GROUP),
    "being no owner": Case({"owners": ["telegram:1"], "dialect": "2026.2"}, SENDER, {"owner_only": True}),
    "being optional and named by nobody": Case({}, {}, {"optional": True}),
}


def seen_by(run: Run) -> str:
    """Gather all that a run is told without calling the vault: its surface, searches, and what its model reads."""
    queries = [{"query": WORDS}, {"query": "vault"}]
    answers = [run.search(each, limit=20) for each in (WORDS, VAULT, VAULT_ID, "bank gold plugin vault")]
    answers.append(run.tools("search", {"queries": queries}))
    told = [each.text for each in answers]
    assert {each.status_code for each in answers} == {200}, told
    told.append(json.dumps(run.begun) + json.dumps(run.offered()))
    told.append(json.dumps(run.model_reads(("tool_search", {"query": WORDS, "limit": 20}))))
    return "".join(told)


def test_the_vault_is_open_to_whom_nothing_forbids_it(agent: httpx.Client, live: Live) -> None:
    live(search={"mode": "directory"})
    run = Run(agent)

    assert VAULT in run.begun["directory"]
    assert run.search(WORDS).json()["result"]["candidates"][0]["id"] == VAULT_ID
    assert run.describe(VAULT).json()["result"]["id"] == VAULT_ID
    assert run.call(VAULT).json()["result"] == run.direct(VAULT).json()["result"] == {"given": ARGUMENTS}
    assert run.model_reads((VAULT, ARGUMENTS), ("tool_call", {"id": VAULT_ID, "args": ARGUMENTS})) == [
        {"given": ARGUMENTS},
        {"given": ARGUMENTS},
    ]
    assert (intents(), layers()) == (4, [])


@pytest.mark.parametrize("mode", ["tools", "directory"])
@pytest.mark.parametrize("why", CLOSED)
def test_what_the_policy_forbids_is_not_found_and_a_call_is_refused_as_a_direct_one(
    agent: httpx.Client, live: Live, folder: str, why: str, mode: str
) -> None:
    case = CLOSED[why]
    live(search={"mode": mode}, tools=[vault(folder, **case.vault)], **case.source)
    run = Run(agent, **case.body)
    assert run.begun["mode"] == mode

    assert VAULT not in seen_by(run)
    described = run.describe(VAULT)
    assert described.json()["error"]["code"] == "tool_unknown"
    direct, called, by_id = run.direct(VAULT), run.call(VAULT), run.call(VAULT_ID)
    made_up = run.call("vault_shut")
    assert (called.status_code, called.content) == (direct.status_code, direct.content)
    assert called.status_code == 404 and called.json()["message"] == f"no tool named `{VAULT}`"
    assert by_id.json() == {**direct.json(), "message": f"no tool named `{VAULT_ID}`"}
    assert made_up.content.replace(b"vault_shut", VAULT.encode()) == called.content
    read = run.model_reads((VAULT, ARGUMENTS), ("tool_call", {"id": VAULT}), ("tool_call", {"id": VAULT_ID}))
    assert read == [
        {"error": "tool_not_found", "message": f"no tool named `{each}`"} for each in (VAULT, VAULT, VAULT_ID)
    ]
    assert intents() == 0
    # the record names the layer of the policy, whichever way the call came
    assert len(layers()) == 6 and len(set(layers())) == 1
    assert not {"tool_search", "unknown_tool", ""} & set(layers())


@needs_node
@pytest.mark.parametrize("why", ["the agent's deny list", "the sender", "the sandbox", "being a sub-agent"])
def test_code_meets_the_same_policy(agent: httpx.Client, live: Live, why: str) -> None:
    case = CLOSED[why]
    live(search=True, **case.source)
    run = Run(agent, **case.body)

    answered = run.code(f"""
        const said = [JSON.stringify(await openclaw.tools.search({json.dumps(WORDS)}, {{limit: 20}}))];
        for (const [does, id] of [["describe", "{VAULT}"], ["call", "{VAULT}"], ["call", "{VAULT_ID}"]]) {{
            try {{ said.push(await openclaw.tools[does](id, {{name: "gold"}})); }}
            catch (error) {{ said.push([error.code, error.message]); }}
        }}
        return said;
    """).json()

    found, described, *called = answered["result"]["value"]
    assert VAULT not in found
    assert described[0] == "tool_unknown"
    assert called == [["tool_not_found", f"no tool named `{each}`"] for each in (VAULT, VAULT_ID)]
    assert intents() == 0 and len(layers()) == 2
    assert not {"tool_search", "unknown_tool"} & set(layers())
