"""What each provider is sent for one tool, and what a person is told about the difference."""

from typing import Any

import pytest
from hypothesis import given

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.presenting import Presented, present, previews, schema_rules
from apps.firewall.tools.providers import PROVIDERS, Provider
from apps.firewall.tools.schema import Family, SchemaRefusedError, refusals
from tests.firewall.tools.test_wire_names import NAMES

every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=list(PROVIDERS))
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1, "description": "Where."},
        "tenant": {"type": "string"},
        "unit": {"anyOf": [{"const": "c"}, {"const": "f"}]},
    },
    "required": ["city", "tenant"],
    "additionalProperties": False,
}
WEATHER = Definition(
    name="weather.get",
    description="Tell the weather.",
    parameters=SCHEMA,
    context_mappings={"tenant": "account.id"},
)
SCHEMA_OF: dict[str, Any] = {
    "openai-chat": lambda sent: sent["function"]["parameters"],
    "openai-responses": lambda sent: sent["parameters"],
    "anthropic": lambda sent: sent["input_schema"],
    "gemini": lambda sent: sent.get("parameters", {"type": "object", "properties": {}}),
}


def codes(presented: Presented) -> list[str]:
    return [remark.code for remark in presented.remarks]


def test_params_that_are_filled_here_are_not_sent() -> None:
    for key, presented in previews(WEATHER).items():
        schema = SCHEMA_OF[key](presented.sent)
        assert "tenant" not in schema["properties"] and schema["required"] == ["city"], key
        assert "params_filled_here" in codes(presented)


def test_a_preview_says_what_was_stripped_and_why() -> None:
    shown = previews(WEATHER)

    gemini = shown["gemini"]
    assert SCHEMA_OF["gemini"](gemini.sent)["properties"]["city"] == {"type": "string", "description": "Where."}
    assert {(change.keyword, str(change.kind)) for change in gemini.changes} >= {
        ("minLength", "removed"),
        ("additionalProperties", "removed"),
    }
    assert all(change.reason for change in gemini.changes)
    assert SCHEMA_OF["anthropic"](shown["anthropic"].sent)["properties"]["city"] == SCHEMA["properties"]["city"]  # type: ignore[index]


def test_a_name_that_a_provider_refuses_goes_out_under_another_and_says_so() -> None:
    shown = previews(WEATHER)

    assert shown["gemini"].wire_name == "weather.get" and "renamed" not in codes(shown["gemini"])
    for key in ("openai-chat", "openai-responses", "anthropic"):
        assert shown[key].wire_name.startswith("weather_get-h") and "renamed" in codes(shown[key])


def test_a_description_is_cut_only_where_a_provider_has_a_limit() -> None:
    long = Definition(name="long", description="d" * 2000)
    shown = previews(long)

    chat = shown["openai-chat"].sent["function"]["description"]
    assert len(chat) == 1024 and chat.endswith("…") and codes(shown["openai-chat"]) == ["description_cut"]
    assert shown["anthropic"].sent["description"] == "d" * 2000 and not shown["anthropic"].remarks


def test_the_rules_for_schemas_follow_provider_and_model() -> None:
    chat, gemini = PROVIDERS["openai-chat"], PROVIDERS["gemini"]

    assert schema_rules(chat, provider="openai", model="gpt-5") == ""
    assert schema_rules(chat, provider="openrouter", model="google/gemini-2.5-pro") == "google"
    assert schema_rules(chat, provider="google") == "google"
    assert schema_rules(gemini, provider="acme") == "google"
    for provider, rules in (("acme", ""), ("google", "google")):
        sent = present(WEATHER, chat, rules=schema_rules(chat, provider=provider)).sent
        assert ("minLength" in sent["function"]["parameters"]["properties"]["city"]) == (not rules)


@every_provider
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "null"}]},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a", "b"]},
    ],
)
def test_every_tool_goes_out_with_a_schema_that_the_endpoint_takes(provider: Provider, parameters: Any) -> None:
    definition = Definition(name="t", parameters=parameters)

    schema = SCHEMA_OF[provider.KEY](present(definition, provider).sent)

    assert refusals(schema, provider.FAMILY) == ()


@every_provider
@given(name=NAMES)
def test_every_tool_goes_out_under_a_name_that_the_endpoint_takes(provider: Provider, name: str) -> None:
    presented = present(Definition(name=name), provider)

    assert provider.NAMES.takes(presented.wire_name) and presented.name == name


def test_a_schema_beyond_all_limits_is_refused() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(2000):
        deep = {"type": "object", "properties": {"a": deep}}

    with pytest.raises(SchemaRefusedError):
        present(Definition(name="deep", parameters=deep), PROVIDERS["gemini"])


def test_each_form_knows_its_family() -> None:
    assert {key: form.FAMILY for key, form in PROVIDERS.items()} == {
        "openai-chat": Family.OPENAI,
        "openai-responses": Family.OPENAI,
        "anthropic": Family.ANTHROPIC,
        "gemini": Family.GEMINI,
    }
