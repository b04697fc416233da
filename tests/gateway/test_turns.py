"""A turn of a model through the door: what runs, what the model is told, and how a turn goes on."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.db import connection

from apps.approvals.models import Approval
from apps.audit.selectors import call_record
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import read_id
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.providers import PROVIDERS
from apps.firewall.tools.wire_names import wire_name
from apps.gateway.runtime_api import turns as turns_module
from tests.gateway.conftest import snapshot_with
from tests.gateway.replies import REPLIES, Call, told
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds, workspace
from tests.gateway.test_decisions import Token, eventually, reload
from tests.gateway.test_waiting import TOUCH, answer

URL = "/api/v1/turns"
every_form = pytest.mark.parametrize("form", REPLIES)
WRITE = ("write", {"path": "a.txt", "content": "hello"})
READ = ("read", {"path": "a.txt"})


def body_of(calls: Sequence[Call], *, form: str = "openai-chat", name: str = "one", **more: Any) -> dict[str, Any]:
    return {"agent": "bot", "provider": "acme", "form": form, "response": REPLIES[form](calls, name), **more}


def turn(client: httpx.Client, calls: Sequence[Call], **more: Any) -> httpx.Response:
    return client.post(URL, json=body_of(calls, **more))


def denials() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tool, status FROM audit_entry WHERE kind = 'denial' ORDER BY seq")
        return list(cursor.fetchall())


@every_form
def test_calls_that_write_run_before_those_that_follow(agent: httpx.Client, settings: Any, form: str) -> None:
    answered = turn(agent, [WRITE, READ], form=form)

    assert answered.status_code == 200, answered.text
    body = answered.json()
    assert (workspace(settings) / "a.txt").read_text() == "hello"
    assert (body["status"], body["append_to"]) == ("completed", PROVIDERS[form].APPEND_TO)
    assert [(each["tool"], each["call_id"], each["status"]) for each in body["calls"]] == [
        ("write", "one_0", "completed"),
        ("read", "one_1", "completed"),
    ]
    written, read = told(form, body["messages"])
    assert json.loads(written)["bytes"] == 5 and "hello" in read
    for each in body["calls"]:
        assert kinds(each["id"]) == [("call_intent", "started"), ("call_outcome", "completed")]


@every_form
def test_a_model_hears_of_each_mistake_and_the_record_has_the_denials(agent: httpx.Client, form: str) -> None:
    malformed = '{"path": "a.txt", ' if form.startswith("openai") else ["a.txt"]
    calls = [("read", {"offset": 0}), ("read", malformed), ("launch_rocket", {"now": True})]

    body = turn(agent, calls, form=form).json()

    wrong, unreadable, unknown = (json.loads(text) for text in told(form, body["messages"]))
    assert wrong["error"] == unreadable["error"] == "parameter_validation_failed"
    assert {detail["code"] for detail in wrong["details"]} == {"minimum_violation", "required_field_missing"}
    assert [detail["code"] for detail in unreadable["details"]] == ["malformed_arguments"]
    assert unknown == {"error": "tool_not_found", "message": "no tool named `launch_rocket`"}
    assert [each["status"] for each in body["calls"]] == ["denied"] * 3
    assert sorted(denials()) == [("launch_rocket", "denied"), ("read", "denied"), ("read", "denied")]


def test_the_record_keeps_nothing_of_arguments_that_cannot_be_read(agent: httpx.Client) -> None:
    body = turn(agent, [("read", '{"password": "hush')]).json()

    record = call_record(read_id("call", body["calls"][0]["id"]))

    assert record is not None and record.params == {} and "hush" not in str(record.error)


def test_a_denied_and_an_unknown_tool_are_told_alike(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)

    denied, unknown = (turn(agent, [(tool, {"any": "thing"})], idempotency=tool).json() for tool in ("write", "wrjte"))

    for body in (denied, unknown):
        del body["calls"][0]["id"]
    assert json.dumps(denied).replace("write", "x") == json.dumps(unknown).replace("wrjte", "x")


def test_a_reply_without_calls_is_answered_with_no_message(agent: httpx.Client) -> None:
    body = turn(agent, []).json()

    assert body == {"status": "no_calls", "append_to": "messages", "messages": [], "calls": []}


@pytest.mark.parametrize("form", ["openai-chat", "anthropic"])
def test_streamed_pieces_and_the_text_of_events_are_replies_too(agent: httpx.Client, form: str) -> None:
    recorded: dict[str, list[dict[str, Any]]] = {
        "openai-chat": [
            {"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}]}
            for piece in (
                {"index": 0, "id": "x", "function": {"name": "write", "arguments": '{"path": "s.txt",'}},
                {"index": 0, "function": {"arguments": '"content": "streamed"}'}},
            )
        ],
        "anthropic": [
            {"type": "message_start", "message": {"id": "m"}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "x", "name": "write"},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": '{"path": "s.txt", "content": "streamed"}'},
            },
            {"type": "content_block_stop", "index": 0},
        ],
    }
    chunks = recorded[form]
    text = "".join(f"event: piece\r\ndata: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks) + "data: [DONE]\r\n\r\n"
    base = {"agent": "bot", "provider": "acme", "form": form}

    from_chunks = agent.post(URL, json={**base, "chunks": chunks}).json()
    from_text = agent.post(URL, json={**base, "stream": text}).json()

    assert from_chunks["calls"][0]["status"] == "completed"
    assert from_text == from_chunks  # the same turn: nothing ran again


def test_a_turn_that_waits_for_a_person_says_so_and_goes_on(agent: httpx.Client, operator: Any, settings: Any) -> None:
    calls = [WRITE, ("exec", TOUCH), ("read", {"path": "a.txt"})]
    opened = turn(agent, calls, wait_ms=50)
    assert eventually(lambda: turn(agent, calls, wait_ms=0).json()["status"] == "awaiting_approval")
    waiting = turn(agent, calls, wait_ms=0).json()

    assert opened.status_code == 202
    assert [each["tool"] for each in waiting["calls"]] == ["write", "exec"] and waiting["calls_left"] == 1
    assert waiting["waiting"]["approval"]["id"].startswith("ap_")
    assert "messages" not in waiting

    answer("allow-once", operator)
    body = body_of(calls, idempotency=waiting["go_on"]["idempotency"])
    done = agent.post(waiting["go_on"]["path"], json=body).json()

    assert done["status"] == "completed"
    assert [each["id"] for each in done["calls"]][:2] == [each["id"] for each in waiting["calls"]]
    assert (workspace(settings) / "made").exists()
    assert Approval.objects.count() == 1
    assert [kind for kind, _ in kinds(done["calls"][0]["id"])] == ["call_intent", "call_outcome"]


def test_a_person_who_says_no_is_heard_by_the_model(agent: httpx.Client, operator: Any) -> None:
    calls = [("exec", TOUCH)]
    assert eventually(lambda: turn(agent, calls, wait_ms=50).json()["status"] == "awaiting_approval")

    answer("deny", operator, reason="not on a Friday")
    body = turn(agent, calls).json()

    (text,) = told("openai-chat", body["messages"])
    assert json.loads(text)["error"] == "approval_denied" and "not on a Friday" in text


def test_the_same_turn_again_is_the_same_calls(agent: httpx.Client) -> None:
    first, second = turn(agent, [WRITE]).json(), turn(agent, [WRITE]).json()

    assert first == second
    assert json.loads(told("openai-chat", second["messages"])[0])["created"] is True


def test_one_turn_sent_many_times_at_once_runs_once(server: Server, token: Token) -> None:
    _, secret = token("calls_make")
    calls = [("exec", {"command": "sleep 0.2"}), READ]

    def make(_: int) -> list[str]:
        with server.client(secret) as client:
            return [each["id"] for each in turn(client, calls).json()["calls"]]

    with ThreadPoolExecutor(6) as pool:
        found = {tuple(ids) for ids in pool.map(make, range(6))}

    assert len(found) == 1
    assert [kind for kind, _ in kinds(found.pop()[0])] == ["call_intent", "call_outcome"]


def test_another_call_under_the_same_ids_is_refused(agent: httpx.Client) -> None:
    turn(agent, [("read", {"path": "a"})])

    answered = turn(agent, [("read", {"path": "b"})])

    assert (answered.status_code, answered.json()["code"]) == (409, "idempotency_conflict")


def test_a_name_of_ones_own_tells_turns_apart_whose_ids_repeat(agent: httpx.Client) -> None:
    first = turn(agent, [WRITE], idempotency="turn-1").json()
    second = turn(agent, [WRITE], idempotency="turn-2").json()
    by_header = agent.post(URL, json=body_of([WRITE]), headers={"Idempotency-Key": "turn-2"}).json()

    assert first["calls"][0]["id"] != second["calls"][0]["id"] == by_header["calls"][0]["id"]


@pytest.mark.parametrize("reply_id", ["", " ", None], ids=["empty", "blank", "absent"])
@every_form
def test_a_reply_without_an_id_is_a_new_turn_though_its_calls_are_counted_from_0(
    agent: httpx.Client, settings: Any, form: str, reply_id: str | None
) -> None:
    body = body_of([WRITE], form=form, name="0")
    named = "responseId" if form == "gemini" else "id"
    body["response"].pop(named)
    body["response"] |= {} if reply_id is None else {named: reply_id}

    first = agent.post(URL, json=body).json()
    (workspace(settings) / "a.txt").unlink()
    second = agent.post(URL, json=body).json()

    assert first["calls"][0]["id"] != second["calls"][0]["id"]
    assert (workspace(settings) / "a.txt").read_text() == "hello", "the second turn ran nothing"


def test_a_reply_without_any_id_can_still_be_gone_on_with(agent: httpx.Client, operator: Any) -> None:
    call = {"functionCall": {"name": "exec", "args": TOUCH}}
    reply = {"candidates": [{"content": {"role": "model", "parts": [call]}}]}
    body = {"agent": "bot", "provider": "google", "response": reply, "wait_ms": 0}
    key = agent.post(URL, json=body).json()["go_on"]["idempotency"]

    assert eventually(
        lambda: agent.post(URL, json={**body, "idempotency": key}).json()["status"] == "awaiting_approval"
    )
    answer("allow-once", operator)
    done = agent.post(URL, json={**body, "idempotency": key, "wait_ms": 20_000}).json()

    assert done["status"] == "completed" and Approval.objects.count() == 1
    assert done["messages"][0]["parts"][0]["functionResponse"]["name"] == "exec"


def dotted() -> Snapshot:
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    return build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[*entries, ToolEntry("notes.list", params={"type": "object"}), ToolEntry("notes.burn")],
            agents=[AgentSource("bot", policy=Policy(deny=("notes.burn",)))],
        )
    )


def test_a_tool_that_goes_by_another_name_there_is_recorded_by_its_own(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = dotted()
    reload(server)
    rule = PROVIDERS["openai-chat"].NAMES
    seen, hidden = wire_name("notes.list", rule), wire_name("notes.burn", rule)

    body = turn(agent, [(seen, {}), (hidden, {})]).json()

    assert [each["tool"] for each in body["calls"]] == ["notes.list", hidden]
    assert [each["error"]["code"] for each in body["calls"]] == ["no_executor", "tool_not_found"]
    assert "notes.burn" not in json.dumps(body)
    assert sorted(denials()) == [("notes.burn", "denied"), ("notes.list", "denied")]


def test_a_long_result_is_cut_for_the_model_and_whole_for_programs(agent: httpx.Client) -> None:
    turn(agent, [("write", {"path": "long.txt", "content": "x" * 5000})], name="w")

    body = turn(agent, [("read", {"path": "long.txt"})], name="r", text_limit=100).json()

    (text,) = told("openai-chat", body["messages"])
    assert len(text) < 250 and "characters are shown] Ask for less at once" in text
    assert "x" * 5000 in agent.get(f"/api/v1/calls/{body['calls'][0]['id']}").text


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        ({"provider": None}, ["provider"]),
        ({"form": "telepathy"}, ["form"]),
        ({"form": 7}, ["form"]),
        ({"response": None}, ["response"]),
        ({"chunks": []}, ["response"]),
        ({"response": []}, ["response"]),
        ({"response": None, "stream": "data: {\n\n"}, ["stream"]),
        ({"wait_ms": 30_001, "text_limit": -1}, ["wait_ms", "text_limit"]),
        ({"idempotency": "x" * 201}, ["idempotency"]),
        ({"surprise": 1}, ["surprise"]),
        ({"context": {"provider": "other"}}, ["context.provider"]),
        ({"model": "gpt-5", "context": {"model_id": "gpt-4"}}, ["context.model_id"]),
        ({"session": "agent:clerk:main"}, ["session"]),
    ],
)
def test_mistakes_of_the_request_itself_are_listed(
    agent: httpx.Client, change: dict[str, Any], paths: list[str]
) -> None:
    answered = agent.post(URL, json={**body_of([READ]), **change})

    assert (answered.status_code, answered.json()["code"]) == (422, "invalid_request")
    assert [detail["path"] for detail in answered.json()["details"]] == paths


def test_a_reply_of_another_provider_is_refused_and_nothing_runs(agent: httpx.Client) -> None:
    body = body_of([READ]) | {"form": "anthropic"}

    answered = agent.post(URL, json=body)

    assert (answered.status_code, answered.json()["code"]) == (422, "response_invalid")
    assert denials() == []


def test_a_turn_with_too_many_calls_is_refused(agent: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "CALLS_LIMIT", 1)

    answered = turn(agent, [READ, READ])

    assert (answered.status_code, answered.json()["code"]) == (422, "too_many_calls")


def test_a_token_speaks_for_its_own_agent_and_with_its_own_scope_only(server: Server, token: Token) -> None:
    with server.client(token("calls_make", agents=["clerk"])[1]) as clerk:
        assert turn(clerk, [READ]).json()["code"] == "agent_not_allowed"
    with server.client(token("decisions_ask")[1]) as asker:
        assert turn(asker, [READ]).json()["code"] == "permission_denied"


def test_the_policy_for_the_provider_holds(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()],
            agents=[AgentSource("bot")],
            by_provider=[("acme", Policy(deny=("read",)))],
        )
    )
    reload(server)

    refused = turn(agent, [READ]).json()
    allowed = agent.post(URL, json={**body_of([READ], name="two"), "provider": "other"}).json()

    assert refused["calls"][0]["error"]["code"] == "tool_not_found"
    assert allowed["calls"][0]["error"]["code"] == "not_found"


@pytest.mark.parametrize("name", ["", "a\0b", "\ud83d".encode("utf-8", "surrogatepass").decode("latin-1"), "x" * 5000])
def test_whatever_a_model_calls_a_tool_is_answered(agent: httpx.Client, name: str) -> None:
    answered = turn(agent, [(name, {})])

    assert answered.status_code == 200, answered.text
    assert answered.json()["calls"][0]["status"] == "denied"
