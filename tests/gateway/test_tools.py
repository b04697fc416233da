"""The tools of a context, ready to be sent: which, in whose form, and what is said of those that are not."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.ports import Standing
from apps.firewall.tools.providers import PROVIDERS
from apps.firewall.tools.wire_names import wire_name
from apps.gateway.lifecycle import gateway
from apps.gateway.listings import Listings
from tests.gateway.conftest import snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import Token, reload

URL = "/api/v1/tools"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string", "maxLength": 9}}, "required": ["q"]}


def wide(count: int = 2, **more: Any) -> Snapshot:
    tools = [ToolEntry(f"find.{number}", description="Find.", params=SCHEMA) for number in range(count)]
    options: dict[str, Any] = {"agents": [AgentSource("bot"), AgentSource("clerk", policy=Policy(deny=("find.1",)))]}
    return build_snapshot(SnapshotSource(environment="production", tools=tools, **{**options, **more}))


@pytest.fixture
def wide_server(server: Server, holder: Holder) -> Iterator[Server]:
    holder.snapshot = wide()
    reload(server)
    yield server


def tools(client: httpx.Client, provider: str = "openai", **more: Any) -> Any:
    answered = client.get(URL, params={"agent": "bot", "provider": provider, **more})
    assert answered.status_code == 200, answered.text
    return answered.json()


def test_the_answer_is_what_a_request_takes(agent: httpx.Client, holder: Holder) -> None:
    body = tools(agent, model="gpt-5")

    assert holder.snapshot is not None
    assert (body["provider"], body["form"], body["model"]) == ("openai", "openai-chat", "gpt-5")
    assert body["snapshot"] == holder.snapshot.digest
    assert [each["function"]["name"] for each in body["request"]["tools"]] == list(holder.snapshot.tool_names)
    assert body["request"]["tool_choice"] == "auto"
    assert (body["renamed"], body["left_out"], body["warnings"]) == ({}, [], [])


@pytest.mark.parametrize(
    ("provider", "form", "where"),
    [
        ("openai", "openai-chat", lambda request: request["tools"][0]["function"]),
        ("openai-responses", "openai-responses", lambda request: request["tools"][0]),
        ("anthropic", "anthropic", lambda request: request["tools"][0]),
        ("google", "gemini", lambda request: request["tools"][0]["functionDeclarations"][0]),
        ("ollama", "openai-chat", lambda request: request["tools"][0]["function"]),
    ],
)
def test_each_provider_is_told_in_its_own_form(
    wide_server: Server, agent: httpx.Client, provider: str, form: str, where: Any
) -> None:
    body = tools(agent, provider)

    first = where(body["request"])
    wire = wire_name("find.0", PROVIDERS[form].NAMES)
    assert (body["form"], first["name"], first["description"]) == (form, wire, "Find.")
    assert body["renamed"] == (
        {} if form == "gemini" else {wire_name(f"find.{n}", PROVIDERS[form].NAMES): f"find.{n}" for n in (0, 1)}
    )
    assert ("maxLength" in str(first)) == (form != "gemini")


def test_an_agent_is_told_of_its_own_tools_only(wide_server: Server, agent: httpx.Client) -> None:
    body = tools(agent, "google", agent="clerk")

    assert [each["name"] for each in body["request"]["tools"][0]["functionDeclarations"]] == ["find.0"]


def test_the_facts_of_the_query_are_those_of_the_context(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = wide(
        by_provider=[("google", Policy(deny=("find.0",)))], by_sender=[("id:7", Policy(deny=("find.1",)))]
    )
    reload(server)

    def names(**more: Any) -> list[str]:
        request = tools(agent, form="gemini", **more)["request"]
        return [each["name"] for each in request["tools"][0]["functionDeclarations"]] if request else []

    assert names() == ["find.0", "find.1"]
    assert names(provider="google") == ["find.1"]
    assert names(sender_id="7", channel="telegram", sender_is_owner="false") == ["find.0"]
    assert names(provider="google", sender_id="7") == []


@pytest.mark.parametrize(
    ("wanted", "choice"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("read", {"type": "function", "function": {"name": "read"}}),
    ],
)
def test_the_choice_of_tools_goes_out_with_them(agent: httpx.Client, wanted: str, choice: Any) -> None:
    assert tools(agent, tool_choice=wanted)["request"]["tool_choice"] == choice


def test_a_tool_that_must_be_called_is_named_as_the_provider_knows_it(wide_server: Server, agent: httpx.Client) -> None:
    body = tools(agent, "anthropic", tool_choice="find.1")

    assert body["request"]["tool_choice"] == {"type": "tool", "name": wire_name("find.1", PROVIDERS["anthropic"].NAMES)}


def test_a_hidden_and_an_unknown_tool_cannot_be_chosen_alike(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)

    hidden, unknown = (
        agent.get(URL, params={"agent": "bot", "provider": "openai", "tool_choice": name})
        for name in ("write", "wrjte")
    )

    assert hidden.status_code == unknown.status_code == 404
    assert hidden.content.replace(b"write", b"x") == unknown.content.replace(b"wrjte", b"x")


def test_without_tools_there_is_nothing_to_send(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = snapshot_with(deny=("*",))
    reload(server)

    assert tools(agent)["request"] == {}
    refused = agent.get(URL, params={"agent": "bot", "provider": "openai", "tool_choice": "required"})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_tools")


def test_without_a_publication_there_is_a_warning(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = None
    reload(server)

    body = tools(agent)

    assert (body["request"], body["snapshot"]) == ({}, None)
    assert [warning["code"] for warning in body["warnings"]] == ["no_publication"]


def test_more_tools_than_a_provider_takes_are_warned_of(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = wide(130)
    reload(server)

    assert [warning["code"] for warning in tools(agent)["warnings"]] == ["too_many_tools"]
    assert tools(agent, "anthropic")["warnings"] == []


def test_what_cannot_run_here_is_left_out_on_request(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[ToolEntry("read", params=SCHEMA), ToolEntry("find", params=SCHEMA)],
            agents=[AgentSource("bot")],
        )
    )
    reload(server)

    def names(**more: Any) -> list[str]:
        return [each["name"] for each in tools(agent, "anthropic", **more)["request"]["tools"]]

    assert names() == ["read", "find"] and names(runnable="true") == ["read"]


def test_a_withdrawn_tool_is_not_offered_any_more(
    wide_server: Server, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = {
        "production": {"find.0": Standing(code="tool_disabled", message="off"), "find.1": Standing(message="old")}
    }
    monkeypatch.setattr(gateway().tool_states, "_standings", states)

    assert list(tools(agent, "anthropic")["renamed"].values()) == ["find.1"]


def test_a_tool_whose_schema_cannot_be_sent_keeps_no_other_from_its_place(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        deep = {"type": "object", "properties": {"a": deep}}
    holder.snapshot = build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[
                ToolEntry("deep", params=deep),
                ToolEntry("odd name!", params=SCHEMA),
                ToolEntry("good", params=SCHEMA),
            ],
            agents=[AgentSource("bot")],
        )
    )
    reload(server)

    body = tools(agent, "anthropic")

    assert [each["name"] for each in body["request"]["tools"]] == ["good"]
    assert [each["tool"] for each in body["left_out"]] == ["deep", "odd name!"]
    assert all(each["code"] and each["message"] for each in body["left_out"])


@pytest.mark.parametrize(
    ("params", "paths"),
    [
        ({"agent": "bot"}, ["provider"]),
        ({"provider": "openai"}, ["agent"]),
        ({"agent": "bot", "provider": "openai", "form": "x"}, ["form"]),
        ({"agent": "bot", "provider": "openai", "surprise": "x"}, ["surprise"]),
        ({"agent": "bot", "provider": "openai", "runnable": "maybe"}, ["runnable"]),
        (
            {"agent": "bot", "provider": "openai", "sandboxed": "maybe", "subagent_depth": "x"},
            ["sandboxed", "subagent_depth"],
        ),
        ({"agent": "bot", "provider": "openai", "channel": ["a", "b"]}, ["channel"]),
        ({"agent": "bot", "provider": "openai", "subagent_depth": "-1"}, ["context.subagent_depth"]),
        ({"agent": "bot", "provider": "openai", "stored_session": "{}"}, ["stored_session"]),
        ({"agent": "bot", "provider": "openai", "session": "agent:clerk:main"}, ["session"]),
    ],
)
def test_mistakes_of_the_query_are_listed(agent: httpx.Client, params: dict[str, Any], paths: list[str]) -> None:
    answered = agent.get(URL, params=params)

    assert (answered.status_code, answered.json()["code"]) == (422, "invalid_request")
    assert [detail["path"] for detail in answered.json()["details"]] == paths


def test_a_query_that_is_no_text_is_a_mistake(agent: httpx.Client) -> None:
    answered = agent.get(f"{URL}?agent=bot&provider=%ff")

    assert answered.status_code == 422


def test_a_token_asks_for_its_own_agent_and_with_its_own_scope_only(server: Server, token: Token) -> None:
    with server.client(token("decisions_ask", agents=["clerk"])[1]) as clerk:
        answered = clerk.get(URL, params={"agent": "bot", "provider": "openai"})
        assert answered.json()["code"] == "agent_not_allowed"
    with server.client(token("calls_make")[1]) as caller:
        answered = caller.get(URL, params={"agent": "bot", "provider": "openai"})
        assert answered.json()["code"] == "permission_denied"


async def test_contexts_with_the_same_tools_share_one_listing_and_old_ones_make_room() -> None:
    snapshot = wide()
    chat, gemini = PROVIDERS["openai-chat"], PROVIDERS["gemini"]
    kept = Listings(kept_bytes=1)

    first = await kept.get(snapshot, ("find.0",), chat, provider="openai", model="gpt-5")
    same = await kept.get(snapshot, ("find.0",), chat, provider="ollama", model="qwen")
    other = await kept.get(snapshot, ("find.0",), gemini, provider="google", model="")
    again = await kept.get(snapshot, ("find.0",), chat, provider="openai", model="gpt-5")

    assert first is same and first is not again and other.encoded != first.encoded
    assert first.encoded == again.encoded and len(kept) == 1
