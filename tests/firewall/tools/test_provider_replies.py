"""One turn in four dialects: the same calls come out of it."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.model_calls import (
    ReplyInvalidError,
    answer_of,
)
from apps.firewall.tools.providers import PROVIDERS, Provider
from tests.firewall.tools.provider_calls import every_provider

REPLIES = Path(__file__).parent / "replies"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((REPLIES / "expected.json").read_text())
RECORDED: dict[str, dict[str, dict[str, Any]]] = {
    key: json.loads((REPLIES / f"{key.replace('-', '_')}.json").read_text()) for key in PROVIDERS
}
CASES = [(key, turn, form) for key in PROVIDERS for turn in EXPECTED for form in ("whole", "streamed")]


@pytest.mark.parametrize(("key", "turn", "form"), CASES)
def test_the_same_turn_reads_as_the_same_calls(key: str, turn: str, form: str) -> None:
    calls = PROVIDERS[key].read_calls(RECORDED[key][turn][form])

    assert [{"id": each.id, "name": each.name, "arguments": each.arguments} for each in calls] == EXPECTED[turn]
    assert [bool(each.problem) for each in calls] == [each["arguments"] is None for each in EXPECTED[turn]]


@pytest.mark.parametrize(("key", "turn", "form"), CASES)
def test_a_reply_tells_its_own_id(key: str, turn: str, form: str) -> None:
    recorded = RECORDED[key][turn]

    assert PROVIDERS[key].reply_id(recorded[form]) == PROVIDERS[key].reply_id(recorded["whole"]) != ""


def test_a_problem_tells_the_model_what_is_wrong_and_quotes_nothing() -> None:
    for key in PROVIDERS:
        (whole,) = PROVIDERS[key].read_calls(RECORDED[key]["malformed_arguments"]["whole"])
        (cut,) = PROVIDERS[key].read_calls(RECORDED[key]["malformed_arguments"]["streamed"])
        assert "北" not in whole.problem + cut.problem
        assert "ended before the call was complete" in cut.problem


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("[1]", "must be a JSON object, not a list"),
        ("7", "must be a JSON object, not a number"),
        ("null", "must be a JSON object, not null"),
        ('"{}"', "must be a JSON object, not a text"),
        ('{"a": NaN}', "are not JSON"),
        ('{"a": 1} and more', "are not JSON"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested deeper than 64 levels"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "are not JSON"),
    ],
)
def test_arguments_that_are_no_object_are_told_apart(arguments: str, problem: str) -> None:
    reply = {"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]}}]}

    (found,) = PROVIDERS["openai-chat"].read_calls(reply)

    assert found.arguments is None and problem in found.problem


def test_a_stream_that_breaks_off_before_any_argument_is_no_call_without_arguments() -> None:
    for key in PROVIDERS:
        pieces = RECORDED[key]["one_call"]["streamed"]
        begun = next(number for number, piece in enumerate(pieces) if "get_weather" in json.dumps(piece))
        (found,) = PROVIDERS[key].read_calls(pieces[: begun + 1])
        assert (found.name, found.arguments) == ("get_weather", None), key


def test_calls_that_all_have_the_number_0_are_told_apart_by_their_ids() -> None:
    def chunk(identifier: str, arguments: str) -> dict[str, Any]:
        part = {"index": 0, "id": identifier, "function": {"name": "f", "arguments": arguments}}
        return {"choices": [{"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": "tool_calls"}]}

    found = PROVIDERS["openai-chat"].read_calls([chunk("a", '{"n":1}'), chunk("b", '{"n":2}')])

    assert [(each.id, each.arguments) for each in found] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_a_call_of_another_kind_than_was_offered_is_answered_not_run() -> None:
    chat = {"choices": [{"message": {"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sql"}}]}}]}
    responses = {"output": [{"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"}]}

    for key, reply in (("openai-chat", chat), ("openai-responses", responses)):
        (found,) = PROVIDERS[key].read_calls(reply)
        assert (found.id, found.name, found.arguments) == ("a", "sql", None)
        assert "only functions were offered" in found.problem


def test_calls_that_the_provider_runs_itself_are_not_ours() -> None:
    message = {"content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}]}
    response = {"output": [{"type": "web_search_call", "id": "ws_1", "status": "completed"}]}

    assert PROVIDERS["anthropic"].read_calls(message) == ()
    assert PROVIDERS["openai-responses"].read_calls(response) == ()


def test_a_call_that_gemini_keeps_to_itself_is_answered_in_words() -> None:
    reply = {
        "candidates": [
            {
                "finishReason": "MALFORMED_FUNCTION_CALL",
                "finishMessage": "Malformed function call: print(default_api.get_weather(city='北京'",
            }
        ]
    }
    gemini = PROVIDERS["gemini"]

    (found,) = gemini.read_calls(reply)

    assert (found.name, found.arguments) == ("get_weather", None)
    told = answer_of(found, result=None, error={"code": "parameter_validation_failed", "message": found.problem})
    assert gemini.result_messages([told]) == [{"role": "user", "parts": [{"text": told.text}]}]


def test_streamed_values_of_gemini_find_their_place() -> None:
    pieces = [
        {"name": "edit", "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.edits[0].old", "stringValue": "a"}], "willContinue": True},
        {
            "partialArgs": [{"jsonPath": "$.edits[0].new", "stringValue": "b", "willContinue": True}],
            "willContinue": True,
        },
        {"partialArgs": [{"jsonPath": "$.edits[0].new", "stringValue": "c"}], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$.edits[1].old", "nullValue": "NULL_VALUE"}], "willContinue": True},
        {"partialArgs": [{"jsonPath": "$['dry run']", "boolValue": True}]},
    ]
    chunks = [{"candidates": [{"content": {"parts": [{"functionCall": piece}]}}]} for piece in pieces]

    (found,) = PROVIDERS["gemini"].read_calls(chunks)

    assert found.arguments == {"edits": [{"old": "a", "new": "bc"}, {"old": None}], "dry run": True}


@pytest.mark.parametrize("path", ["city", "$", "$.a[1]", "$.a.b[x]", "$..a", "$.c.d", "$[0]", 7])
def test_a_streamed_value_without_a_place_makes_the_call_malformed(path: object) -> None:
    piece = {"name": "f", "args": {"c": 1}, "partialArgs": [{"jsonPath": path, "stringValue": "x"}]}

    (found,) = PROVIDERS["gemini"].read_calls([{"candidates": [{"content": {"parts": [{"functionCall": piece}]}}]}])

    assert (found.arguments, found.problem) == (None, "a piece of the arguments does not say where it belongs")


@pytest.mark.parametrize(
    ("key", "reply"),
    [
        ("openai-chat", {}),
        ("openai-chat", {"choices": {}}),
        ("openai-chat", {"choices": [{"message": {"tool_calls": ["x"]}}]}),
        ("openai-chat", {"error": {"message": "overloaded"}}),
        ("openai-chat", [7]),
        ("openai-chat", [{"choices": [{"delta": {"tool_calls": [{"index": []}]}}]}]),
        ("openai-responses", {"type": "message"}),
        ("openai-responses", {"output": "x"}),
        ("openai-responses", [{"type": "error", "message": "overloaded"}]),
        ("openai-responses", [{"type": "x", "output_index": "0"}]),
        ("anthropic", {"choices": []}),
        ("anthropic", {"content": "text"}),
        ("anthropic", [{"type": "error", "error": {"type": "overloaded_error"}}]),
        ("anthropic", [{"type": "content_block_start", "index": []}]),
        ("gemini", {"choices": []}),
        ("gemini", {"candidates": [{"content": {"parts": "x"}}]}),
        ("gemini", [{"error": {"code": 503}}]),
    ],
)
def test_what_is_no_reply_of_the_provider_is_refused(key: str, reply: Any) -> None:
    with pytest.raises(ReplyInvalidError) as caught:
        PROVIDERS[key].read_calls(reply)

    assert caught.value.code == "response_invalid" and caught.value.details


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "index",
                    "output",
                    "item",
                    "type",
                    "content",
                    "input",
                    "parts",
                    "functionCall",
                    "candidates",
                    "args",
                    "partialArgs",
                    "jsonPath",
                    "stringValue",
                    "willContinue",
                    "content_block",
                    "response",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@every_provider
@given(reply=JSON)
def test_whatever_is_sent_reads_as_calls_or_is_refused(provider: Provider, reply: Any) -> None:
    if not isinstance(reply, dict | list):
        return
    try:
        calls = provider.read_calls(reply)
        provider.reply_id(reply)
    except ReplyInvalidError:
        return
    assert all((each.arguments is None) == bool(each.problem) for each in calls)
    answers = [answer_of(each, result={"ok": True}, error=None) for each in calls]
    orjson.dumps(provider.result_messages(answers))
