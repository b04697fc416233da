"""The control tools: their definitions are sound, and each mode offers its own."""

import json
from typing import Any

import pytest

from apps.firewall.tools.definition_json import definition_problems
from apps.firewall.tools.parameters import prepare_params
from apps.firewall.tools.presenting import present, schema_rules
from apps.firewall.tools.providers import PROVIDERS
from apps.firewall.tools.search.controls import CONTROL_NAMES, CONTROLS, controls_of
from apps.firewall.tools.search.settings import Mode


@pytest.mark.parametrize("name", sorted(CONTROL_NAMES))
def test_a_control_tool_is_a_sound_definition_that_stays_visible(name: str) -> None:
    definition = CONTROLS[name]

    assert definition.name == name
    assert definition_problems(definition) == []
    assert definition.catalog_mode == "direct_only"


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("off", []),
        ("tools", ["tool_search", "tool_describe", "tool_call"]),
        ("directory", ["tool_search", "tool_describe", "tool_call"]),
        ("code", ["tool_search_code"]),
    ],
)
def test_a_mode_offers_its_own(mode: Mode, names: list[str]) -> None:
    assert [each.name for each in controls_of(mode)] == names


@pytest.mark.parametrize("name", ["tool_search", "tool_search_code"])
def test_models_are_told_to_search_in_english(name: str) -> None:
    assert "in English" in CONTROLS[name].description


def test_a_call_with_its_params_beside_the_id_passes_the_schema() -> None:
    prepared = prepare_params(CONTROLS["tool_call"], {"id": "core:read", "path": "notes.md"})

    assert (prepared.params, prepared.problems) == ({"id": "core:read", "path": "notes.md"}, [])


@pytest.mark.parametrize(
    "params",
    [
        {"query": "mail", "limit": None, "queries": None},
        {"query": None, "limit": None, "queries": [{"query": "mail", "limit": None}]},
        {"query": "", "queries": []},
        {"query": "mail", "limit": 500},
    ],
)
def test_what_a_search_understands_passes_the_schema_as_it_is(params: dict[str, Any]) -> None:
    prepared = prepare_params(CONTROLS["tool_search"], params)

    assert (prepared.params, prepared.warnings, prepared.problems) == (params, [], [])


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
@pytest.mark.parametrize("name", sorted(CONTROL_NAMES))
def test_every_provider_is_told_of_every_control_and_its_params(name: str, provider: str) -> None:
    definition = CONTROLS[name]

    form = PROVIDERS[provider]
    told = present(definition, form, rules=schema_rules(form))

    assert told.wire_name == name
    for param in definition.parameters["properties"]:
        assert f'"{param}"' in json.dumps(told.sent)
