"""Tools, the choice among them, and what became of calls, in each provider's own form."""

import json
from typing import Any

import pytest

from apps.firewall.tools.model_calls import (
    ImagePart,
    TextPart,
    ToolChoice,
)
from apps.firewall.tools.providers import PROVIDERS, Provider, provider_for
from tests.firewall.tools.provider_calls import PIXEL, answer, every_provider

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
