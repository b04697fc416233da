"""One turn in four dialects: the same calls come out, and each model is answered in its own form."""

import base64
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.model_calls import (
    NOTHING,
    CallAnswer,
    ImagePart,
    ModelCall,
    ReplyInvalidError,
    TextPart,
    ToolChoice,
    answer_of,
)
from apps.firewall.tools.providers import PROVIDERS, Provider, provider_for

REPLIES = Path(__file__).parent / "replies"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((REPLIES / "expected.json").read_text())
RECORDED: dict[str, dict[str, dict[str, Any]]] = {
    key: json.loads((REPLIES / f"{key.replace('-', '_')}.json").read_text()) for key in PROVIDERS
}
CASES = [(key, turn, form) for key in PROVIDERS for turn in EXPECTED for form in ("whole", "streamed")]
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()

every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))


def call(name: str = "get_weather", **more: Any) -> ModelCall:
    return ModelCall(**{"id": "call_1", "name": name, "arguments": {}, **more})


def answer(*parts: TextPart | ImagePart, is_error: bool = False, **of: Any) -> CallAnswer:
    return CallAnswer(call=call(**of), parts=parts, is_error=is_error)


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


CHOICES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "auto": {"tool_choice": "auto"},
        "none": {"tool_choice": "none"},
        "required": {"tool_choice": "required"},
        "one": {"tool_choice": {"type": "function", "function": {"name": "read"}}},
    },
    "openai-responses": {
        "auto": {"tool_choice": "auto"},
        "none": {"tool_choice": "none"},
        "required": {"tool_choice": "required"},
        "one": {"tool_choice": {"type": "function", "name": "read"}},
    },
    "anthropic": {
        "auto": {"tool_choice": {"type": "auto"}},
        "none": {"tool_choice": {"type": "none"}},
        "required": {"tool_choice": {"type": "any"}},
        "one": {"tool_choice": {"type": "tool", "name": "read"}},
    },
    "gemini": {
        "auto": {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
        "none": {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
        "required": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        "one": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}}},
    },
}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS: dict[str, list[Any]] = {
    "openai-chat": [
        {"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": SCHEMA}}
    ],
    "openai-responses": [
        {"type": "function", "name": "read", "description": "Read a file.", "parameters": SCHEMA, "strict": False}
    ],
    "anthropic": [{"name": "read", "description": "Read a file.", "input_schema": SCHEMA}],
    "gemini": [
        {"functionDeclarations": [{"name": "read", "description": "Read a file.", "parameters": SCHEMA}]},
    ],
}


@every_provider
@pytest.mark.parametrize("mode", ["auto", "none", "required", "one"])
def test_tools_and_the_choice_among_them_go_out_in_the_providers_form(provider: Provider, mode: Any) -> None:
    tool = provider.tool_json("read", "Read a file.", SCHEMA)

    request = provider.request_json([tool], ToolChoice(mode, "read" if mode == "one" else ""))

    assert request == {"tools": TOOLS[provider.KEY], **CHOICES[provider.KEY][mode]}


def test_gemini_hears_of_no_parameters_where_there_are_none() -> None:
    tool = PROVIDERS["gemini"].tool_json("list_files", "List files.", {"type": "object", "properties": {}})

    assert tool == {"name": "list_files", "description": "List files."}


def test_text_goes_out_in_the_providers_form() -> None:
    told = [answer(TextPart("21 °C")), answer(TextPart("5 files"), id="call_2", name="list_files")]

    assert {key: provider.result_messages(told) for key, provider in PROVIDERS.items()} == {
        "openai-chat": [
            {"role": "tool", "tool_call_id": "call_1", "content": "21 °C"},
            {"role": "tool", "tool_call_id": "call_2", "content": "5 files"},
        ],
        "openai-responses": [
            {"type": "function_call_output", "call_id": "call_1", "output": "21 °C"},
            {"type": "function_call_output", "call_id": "call_2", "output": "5 files"},
        ],
        "anthropic": [
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "21 °C"}]},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": [{"type": "text", "text": "5 files"}]},
                ],
            }
        ],
        "gemini": [
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "call_1", "name": "get_weather", "response": {"output": "21 °C"}}},
                    {"functionResponse": {"id": "call_2", "name": "list_files", "response": {"output": "5 files"}}},
                ],
            }
        ],
    }


def test_an_image_goes_out_in_the_providers_form() -> None:
    told = [answer(TextPart("A map."), ImagePart("image/png", PIXEL))]
    url = f"data:image/png;base64,{PIXEL}"
    inline = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    response = {"id": "call_1", "name": "get_weather", "response": {"output": "A map."}}

    assert PROVIDERS["openai-chat"].result_messages(told) == [
        {"role": "tool", "tool_call_id": "call_1", "content": "A map."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Image from the tool call call_1:"},
                {"type": "image_url", "image_url": {"url": url}},
            ],
        },
    ]
    assert PROVIDERS["openai-responses"].result_messages(told)[0]["output"] == [
        {"type": "input_text", "text": "A map."},
        {"type": "input_image", "image_url": url, "detail": "auto"},
    ]
    assert PROVIDERS["anthropic"].result_messages(told)[0]["content"][0]["content"] == [
        {"type": "text", "text": "A map."},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
    ]
    assert PROVIDERS["gemini"].result_messages(told, model="gemini-3-pro") == [
        {"role": "user", "parts": [{"functionResponse": response | {"parts": [inline]}}]}
    ]
    assert PROVIDERS["gemini"].result_messages(told, model="gemini-2.5-flash") == [
        {"role": "user", "parts": [{"functionResponse": response}]},
        {"role": "user", "parts": [{"text": "Image from the function get_weather:"}, inline]},
    ]


def test_an_error_goes_out_in_the_providers_form() -> None:
    told = [answer(TextPart('{"error": "not_found"}'), is_error=True)]

    assert PROVIDERS["anthropic"].result_messages(told)[0]["content"][0]["is_error"] is True
    response = PROVIDERS["gemini"].result_messages(told)[0]["parts"][0]["functionResponse"]["response"]
    assert response == {"error": '{"error": "not_found"}'}
    assert PROVIDERS["openai-chat"].result_messages(told)[0]["content"] == '{"error": "not_found"}'
    assert PROVIDERS["openai-responses"].result_messages(told)[0]["output"] == '{"error": "not_found"}'


@every_provider
def test_an_image_that_a_provider_does_not_take_is_named_in_text(provider: Provider) -> None:
    messages = json.dumps(provider.result_messages([answer(ImagePart("image/tiff", PIXEL))]))

    assert "an image of the type image/tiff is left out" in messages and PIXEL not in messages


@every_provider
def test_nothing_to_answer_is_no_message(provider: Provider) -> None:
    assert provider.result_messages([]) == []


@pytest.mark.parametrize(
    ("result", "error", "parts"),
    [
        ({"stdout": "hi\n"}, None, (TextPart('{"stdout": "hi\\n"}'),)),
        (None, None, (TextPart(NOTHING),)),
        ({}, None, (TextPart(NOTHING),)),
        ({"content": [{"type": "text", "text": "城市"}], "details": {"n": 1}}, None, (TextPart("城市"),)),
        ({"content": [{"type": "text", "text": " "}]}, None, (TextPart(NOTHING),)),
        ({"content": [], "structuredContent": {"n": 1}}, None, (TextPart('{"n": 1}'),)),
        ({"content": "plain"}, None, (TextPart('{"content": "plain"}'),)),
        (
            {"content": [{"type": "image", "mimeType": "image/png", "data": PIXEL}]},
            None,
            (ImagePart("image/png", PIXEL),),
        ),
        (
            {"content": [{"type": "image", "mimeType": "image/png", "data": "no base64!"}]},
            None,
            (TextPart("[an image that is not base64 is left out]"),),
        ),
        (
            {"content": [{"type": "image", "mimeType": "text/html", "data": PIXEL}]},
            None,
            (TextPart("[an image without its type or its data is left out]"),),
        ),
        (
            {"content": [{"type": "resource_link", "uri": "file:///a"}]},
            None,
            (TextPart('{"type": "resource_link", "uri": "file:///a"}'),),
        ),
        (
            None,
            {"code": "not_found", "message": "no file `a`", "details": []},
            (TextPart('{"error": "not_found", "message": "no file `a`"}'),),
        ),
        (
            {"stdout": ""},
            {"code": "exit_status", "message": "it ended with 1"},
            (TextPart('{"error": "exit_status", "message": "it ended with 1"}'), TextPart('{"stdout": ""}')),
        ),
    ],
)
def test_a_result_becomes_text_and_images(result: Any, error: Any, parts: tuple[Any, ...]) -> None:
    told = answer_of(call(), result=result, error=error)

    assert (told.parts, told.is_error) == (parts, error is not None)


def test_mistakes_in_params_are_told_in_the_form_that_models_know() -> None:
    details = [{"path": "city", "code": "required_field_missing", "message": "`city` is required"}]

    told = answer_of(
        call(), result=None, error={"code": "parameter_validation_failed", "message": "1 mistake", "details": details}
    )

    assert json.loads(told.text) == {
        "error": "parameter_validation_failed",
        "details": [{**details[0], "path": "/city"}],
    }


def test_an_error_that_a_tool_says_in_its_result_is_told_once() -> None:
    result = {"content": [{"type": "text", "text": "no such city"}, {"type": "text", "text": "try another"}]}

    told = answer_of(call(), result=result, error={"code": "tool_failed", "message": "no such city"})

    assert told.text == '{"error": "tool_failed", "message": "no such city"}\n\ntry another'


def test_a_result_that_says_it_is_an_error_is_one() -> None:
    result = {"content": [{"type": "text", "text": "no such city"}], "isError": True}

    assert answer_of(call(), result=result, error=None).is_error


def test_long_text_is_cut_and_says_so() -> None:
    blocks = [{"type": "text", "text": "汉" * 8}, {"type": "text", "text": "b" * 8}, {"type": "text", "text": "c"}]

    told = answer_of(call(), result={"content": blocks}, error=None, text_limit=10)

    assert [part.text for part in told.parts if isinstance(part, TextPart)] == [
        "汉" * 8,
        "bb\n\n[cut: the first 2 of 8 characters are shown]",
        "[cut: the first 0 of 1 characters are shown]",
    ]


def test_notes_follow_the_result() -> None:
    told = answer_of(call(), result={"content": [{"type": "text", "text": "ok"}]}, error=None, notes=["use `b`"])

    assert told.text == "ok\n\nNote: use `b`"


@pytest.mark.parametrize(
    ("name", "form", "key"),
    [
        ("openai", "", "openai-chat"),
        ("openai", "openai-responses", "openai-responses"),
        ("openai-responses", "", "openai-responses"),
        ("Anthropic", "", "anthropic"),
        ("google", "", "gemini"),
        ("google-vertex", "", "gemini"),
        ("google-vertex-anthropic", "", "anthropic"),
        ("ollama", "", "openai-chat"),
        ("ollama", "anthropic", "anthropic"),
    ],
)
def test_a_provider_has_a_form(name: str, form: str, key: str) -> None:
    provider = provider_for(name, form=form)

    assert provider is not None and key == provider.KEY


def test_an_unknown_form_is_none() -> None:
    assert provider_for("openai", form="telepathy") is None
