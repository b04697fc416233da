"""Names in lists: normal form, groups, renames, patterns."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.names import (
    compile_names,
    expand_groups,
    follow_renames,
    normalize_name,
    read_glob,
    trim,
)

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]
dialects = st.sampled_from([NEW, OLD])
names = st.text(st.sampled_from("abB *:_-\u00a0\ufeff\n\u2028İß") | st.characters(codec="utf-8"), max_size=12)
patterns = st.text("ab*\n", max_size=8).filter(lambda text: "*" in text)


def _is_what_javascript_matches(pattern: str, name: str) -> bool:
    body = "".join("[^\n\r\u2028\u2029]*" if each == "*" else re.escape(each) for each in pattern)
    return re.fullmatch(body, name) is not None


@given(dialects, names)
def test_the_normal_form_of_a_normal_form_is_itself(dialect: Dialect, name: str) -> None:
    once = normalize_name(dialect, name)
    assert normalize_name(dialect, once) == once


@given(dialects, st.lists(names | st.sampled_from(["group:fs", "GROUP:WEB ", "bash", "group:none"]), max_size=6))
def test_expanded_lists_hold_no_blanks_no_duplicates_and_stay_when_expanded_again(
    dialect: Dialect, entries: list[str]
) -> None:
    expanded = expand_groups(dialect, entries)
    assert len(set(expanded)) == len(expanded)
    assert all(trim(name) for name in expanded)
    assert expand_groups(dialect, expanded) == expanded


@given(patterns, st.text("ab\n", max_size=12))
def test_a_pattern_matches_what_javascript_would_match(pattern: str, name: str) -> None:
    assert read_glob(pattern).matches(name) == _is_what_javascript_matches(pattern, name)


def test_a_pattern_of_many_stars_is_refused_in_no_time() -> None:
    assert not read_glob("*a" * 400 + "*b").matches("a" * 20_000)


@pytest.mark.parametrize("blank", ["\u00a0", "\ufeff", "\u2003", "\t", "\u2028", "\u3000"])
def test_every_blank_of_javascript_is_trimmed(blank: str) -> None:
    assert normalize_name(NEW, f"{blank}Read{blank}") == "read"


@pytest.mark.parametrize("kept", ["\u200b", "\x85", "\x1c", "\u180e"])
def test_what_javascript_does_not_trim_stays(kept: str) -> None:
    assert normalize_name(NEW, f"read{kept}") == f"read{kept}"


@pytest.mark.parametrize("name", ["__proto__", "constructor", "tostring", "hasownproperty", "group:__proto__"])
def test_names_of_built_in_members_are_names_like_any_other(name: str) -> None:
    for dialect in DIALECTS.values():
        assert normalize_name(dialect, name) == name
        assert expand_groups(dialect, [name]) == [name]


def test_each_release_knows_its_own_aliases() -> None:
    assert normalize_name(NEW, "Cron") == "automations"
    assert normalize_name(OLD, "Cron") == "cron"


def test_renames_and_families_act_on_whole_entries_only() -> None:
    assert follow_renames(NEW, ["update_plan", "Canvas", "update_*", "group:ui"]) == [
        "progress_card",
        "canvas",
        "show_widget",
        "update_*",
        "group:ui",
    ]
    assert follow_renames(OLD, ["update_plan", "canvas"]) == ["update_plan", "canvas"]


def test_a_list_of_patterns_and_names_is_asked_as_one() -> None:
    matcher = compile_names(NEW, ["web_*", " Bash ", "group:memory"])
    assert [name for name in ("web_search", "exec", "memory_get", "bash", "read") if matcher.matches(name)] == [
        "web_search",
        "exec",
        "memory_get",
    ]
