"""`tools.toolSearch`: every form that it may have, its ranges, and what is said of the rest."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.search.settings import (
    MODES,
    ToolSearchSettings,
    is_local_model,
    read_tool_search,
    tool_search_problems,
)

SEPTEMBER, FEBRUARY = "2026.9", "2026.2"


@pytest.mark.parametrize(
    ("value", "dialect", "mode", "is_explicit"),
    [
        (None, SEPTEMBER, "tools", False),
        (None, FEBRUARY, "off", False),
        (True, SEPTEMBER, "code", True),
        (True, FEBRUARY, "code", True),
        (False, SEPTEMBER, "off", True),
        ({}, SEPTEMBER, "code", True),
        ({"enabled": True}, SEPTEMBER, "code", True),
        ({"enabled": False, "mode": "tools"}, SEPTEMBER, "off", True),
        ({"mode": "tools"}, FEBRUARY, "tools", True),
        ({"mode": "directory"}, SEPTEMBER, "directory", True),
        ({"maxSearchLimit": 9}, SEPTEMBER, "code", True),
    ],
)
def test_each_form_means_a_mode(value: object, dialect: str, mode: str, is_explicit: bool) -> None:
    settings = read_tool_search(value, dialect)

    assert (settings.mode, settings.is_explicit, settings.problems) == (mode, is_explicit, ())


def test_what_nobody_set_has_the_usual_limits() -> None:
    assert read_tool_search({"mode": "code"}, SEPTEMBER) == ToolSearchSettings(
        mode="code", is_explicit=True, code_timeout_ms=10_000, default_limit=8, max_limit=20
    )


@pytest.mark.parametrize(
    ("block", "numbers"),
    [
        ({"codeTimeoutMs": 1}, (1_000, 8, 20)),
        ({"codeTimeoutMs": 600_000}, (60_000, 8, 20)),
        ({"maxSearchLimit": 0}, (10_000, 1, 1)),
        ({"maxSearchLimit": 500}, (10_000, 8, 50)),
        ({"maxSearchLimit": 5}, (10_000, 5, 5)),
        ({"searchDefaultLimit": 30}, (10_000, 20, 20)),
        ({"searchDefaultLimit": -3}, (10_000, 1, 20)),
        ({"searchDefaultLimit": 40, "maxSearchLimit": 45}, (10_000, 40, 45)),
    ],
)
def test_numbers_are_brought_into_their_range(block: dict[str, int], numbers: tuple[int, int, int]) -> None:
    settings = read_tool_search(block, SEPTEMBER)

    assert (settings.code_timeout_ms, settings.default_limit, settings.max_limit) == numbers


@pytest.mark.parametrize(
    ("value", "path", "code", "words"),
    [
        ("yes", "tools.toolSearch", "type_mismatch", 'must be true, false or an object, got "yes"'),
        ({"mode": "directry"}, "tools.toolSearch.mode", "enum_mismatch", "did you mean `directory`?"),
        ({"mode": 3}, "tools.toolSearch.mode", "type_mismatch", "got 3"),
        ({"enabled": "on"}, "tools.toolSearch.enabled", "type_mismatch", "true or false"),
        (
            {"max_search_limit": 3},
            "tools.toolSearch.max_search_limit",
            "unknown_field",
            "did you mean `maxSearchLimit`?",
        ),
        ({"codeTimeoutMs": "5s"}, "tools.toolSearch.codeTimeoutMs", "type_mismatch", "a whole number"),
        ({"codeTimeoutMs": True}, "tools.toolSearch.codeTimeoutMs", "type_mismatch", "a whole number"),
        ({"codeTimeoutMs": 5}, "tools.toolSearch.codeTimeoutMs", "out_of_range", "is brought to the least, 1000"),
        ({"maxSearchLimit": 51}, "tools.toolSearch.maxSearchLimit", "out_of_range", "is brought to the most, 50"),
        (
            {"searchDefaultLimit": 9, "maxSearchLimit": 4},
            "tools.toolSearch.searchDefaultLimit",
            "out_of_range",
            "is brought to `maxSearchLimit`, 4",
        ),
    ],
)
def test_a_mistake_names_field_and_rule(value: object, path: str, code: str, words: str) -> None:
    (problem,) = tool_search_problems(value)

    assert (problem["path"], problem["code"]) == (path, code)
    assert words in problem["message"]


def test_a_mode_that_nobody_knows_runs_no_code() -> None:
    assert read_tool_search({"mode": "codes"}, SEPTEMBER).mode == "tools"


def test_a_local_model_gets_less_unless_somebody_chose() -> None:
    unset = read_tool_search(None, SEPTEMBER, is_local=True)
    chosen = read_tool_search({"mode": "tools"}, SEPTEMBER, is_local=True)

    assert (unset.default_limit, unset.max_limit) == (5, 10)
    assert (chosen.default_limit, chosen.max_limit) == (8, 20)


@pytest.mark.parametrize(
    ("provider", "model", "is_local"),
    [
        ("ollama", "qwen3:8b", True),
        ("Ollama", "", True),
        ("lmstudio", "gpt-oss-20b", True),
        ("ollama", "gpt-oss:120b-cloud", False),
        ("ollama", "kimi-k2.5:cloud", False),
        ("ollama-cloud", "kimi-k2.6", False),
        ("openai", "ollama", False),
        ("", "", False),
    ],
)
def test_only_what_is_known_to_run_at_home_is_local(provider: str, model: str, is_local: bool) -> None:
    assert is_local_model(provider, model) is is_local


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["enabled", "mode", "codeTimeoutMs", "searchDefaultLimit", "maxSearchLimit", "moed"])


@given(JSON_VALUES | st.dictionaries(MEMBERS, JSON_VALUES, max_size=6))
def test_whatever_stands_there_gives_settings_within_their_ranges(value: Any) -> None:
    settings = read_tool_search(value, SEPTEMBER)

    assert settings.mode in MODES
    assert 1_000 <= settings.code_timeout_ms <= 60_000
    assert 1 <= settings.default_limit <= settings.max_limit <= 50
