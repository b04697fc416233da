"""The authoring lint: every flaw has its code, and what is well written is left alone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import read_definition
from apps.firewall.tools.lint import RULES, lint_definition
from tests.firewall.tools.lint.clean import CLEAN
from tests.firewall.tools.lint.flaws import FLAWS, weather, with_param


def codes(document: dict[str, Any]) -> set[str]:
    return {finding.code for finding in lint_definition(read_definition(document))}


@pytest.mark.parametrize(
    ("code", "document"), FLAWS, ids=[f"{code}-{number}" for number, (code, _) in enumerate(FLAWS)]
)
def test_a_flaw_is_told_by_its_code(code: str, document: dict[str, Any]) -> None:
    assert code in codes(document)


def test_every_rule_has_a_flaw_that_shows_it() -> None:
    assert {code for code, _ in FLAWS} == RULES.keys()


@pytest.mark.parametrize("document", CLEAN, ids=[document["name"] for document in CLEAN])
def test_nothing_is_said_of_a_clean_definition(document: dict[str, Any]) -> None:
    assert [(each.code, each.message) for each in lint_definition(read_definition(document))] == []


def test_there_are_fifty_clean_definitions() -> None:
    assert len({document["name"] for document in CLEAN}) == 50


def test_what_providers_do_is_told_with_their_names() -> None:
    document = with_param("day", type="string", format="date", description="Day of the forecast wanted")

    (finding,) = lint_definition(read_definition(document))

    assert (finding.code, finding.path) == ("format_stripped", "parameters.day")
    assert finding.message == "the format of `day` is stripped by Gemini: say it in the description"


def test_a_choice_at_the_root_names_every_provider_that_refuses_it() -> None:
    document = weather(
        parameters={"oneOf": [{"type": "object", "properties": {}}, {"type": "object", "properties": {}}]}
    )

    (finding,) = [each for each in lint_definition(read_definition(document)) if each.code == "union_at_root"]

    assert finding.values["providers"] == "OpenAI, Anthropic and Gemini"


def test_a_secret_that_is_marked_or_referred_to_is_no_finding() -> None:
    marked = with_param("api_key", type="string", sensitive=True, description="Credential of the weather service")
    referred = weather(config={"api_key": {"$secret": "weather"}, "token": "${WEATHER_TOKEN}"})

    assert codes(marked) == codes(referred) == set()


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYWORDS = st.sampled_from(
    ["type", "properties", "items", "enum", "required", "default", "pattern", "anyOf", "$ref", "minimum", "description"]
)


@given(st.text(max_size=80), st.text(max_size=200), st.dictionaries(KEYWORDS, JSON_VALUES, max_size=6))
def test_whatever_strangers_write_is_judged_and_never_fails(
    name: str, description: str, parameters: dict[str, Any]
) -> None:
    definition = Definition(name=name, description=description, parameters=parameters)

    for finding in lint_definition(definition):
        assert finding.message
        assert finding.severity in {"error", "warning", "hint"}


@pytest.mark.parametrize("bait", ["one of " + "a," * 50_000, "one of " + "a " * 50_000, "either " + "-" * 100_000])
def test_a_hostile_description_takes_no_longer_than_its_length(bait: str) -> None:
    assert "description_long" in codes(weather(description=bait))
    assert codes(with_param(type="string", description=bait)) <= {"param_should_be_enum"}
