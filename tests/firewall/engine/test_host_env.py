"""What a command finds in its environment: nothing that makes it load, trust or find something else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.host_env import HostEnvRefusedError, host_env_rules, sanitize_env, validate_env

VECTORS = Path(__file__).parents[2] / "conformance" / "host_env.jsonl"
NEWER, OLDER = DIALECTS["2026.9"], DIALECTS["2026.2"]
BOTH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def _recorded_policy() -> dict[str, Any]:
    rows = map(json.loads, VECTORS.read_text(encoding="utf-8").splitlines())
    policy: dict[str, Any] = next(row for row in rows if row["kind"] == "dump")
    return policy


def _refusal(dialect: Dialect, env: dict[str, Any]) -> HostEnvRefusedError:
    with pytest.raises(HostEnvRefusedError) as caught:
        validate_env(dialect, env)
    return caught.value


def test_the_newer_tables_are_the_recorded_ones() -> None:
    recorded, rules = _recorded_policy()["expect"], host_env_rules(NEWER)
    assert rules.everywhere == set(recorded["blockedKeys"])
    assert rules.override == set(recorded["blockedOverrideKeys"])
    assert rules.inherited == set(recorded["blockedInheritedKeys"])
    assert set(rules.prefixes) == set(recorded["blockedPrefixes"]) == set(recorded["blockedInheritedPrefixes"])
    assert set(rules.override_prefixes) == set(recorded["blockedOverridePrefixes"])


def test_the_older_tables_are_the_recorded_ones() -> None:
    recorded, rules = _recorded_policy()["expect_2026_2"], host_env_rules(OLDER)
    assert rules.everywhere == rules.inherited == set(recorded["blockedKeys"])
    assert rules.override == set(recorded["blockedOverrideKeys"])
    assert set(rules.prefixes) == set(recorded["blockedPrefixes"])


@BOTH
@pytest.mark.parametrize("name", ["LD_PRELOAD", "ld_preload", " LD_PRELOAD\u00a0", "BASH_FUNC_x%%", "PATH", "Path"])
def test_what_decides_what_a_program_loads_is_refused_in_any_spelling(dialect: Dialect, name: str) -> None:
    refusal = _refusal(dialect, {"FOO": "1", name: "x"})
    assert len(refusal.blocked + refusal.invalid) == 1


def test_a_refusal_names_every_variable_at_once() -> None:
    refusal = _refusal(NEWER, {"LD_PRELOAD": "x", "a-b": "1", "path": "y", "FOO": "2"})
    assert (refusal.blocked, refusal.invalid) == (("LD_PRELOAD", "PATH"), ("a-b",))
    assert refusal.message == (
        "the call sets environment variables it may not: forbidden `LD_PRELOAD`, `PATH`; no portable names `a-b`"
    )


def test_a_refusal_of_thousands_stays_short() -> None:
    refusal = _refusal(NEWER, {f"LD_{'X' * 500}{number}": "x" for number in range(5000)})
    assert len(refusal.blocked) == 5000
    assert len(refusal.message) < 2000
    assert refusal.message.endswith("and 4990 more")


@pytest.mark.parametrize("name", ["CARGO_TARGET_X86_LINKER", "cargo_target_a_runner", "TF_VAR_x", "GIT_CONFIG_COUNT"])
def test_the_newer_release_refuses_names_by_their_form(name: str) -> None:
    assert _refusal(NEWER, {name: "x"}).blocked == (name.upper(),)
    validate_env(OLDER, {name: "x"})


def test_the_newer_release_takes_names_as_windows_writes_them() -> None:
    validate_env(NEWER, {"ProgramFiles(x86)": "x"})
    assert _refusal(NEWER, {"a b": "x", "": "y"}).invalid == ("", "a b")


@pytest.mark.parametrize("name", ["__proto__", "constructor", "prototype"])
def test_members_of_every_object_are_no_variables(name: str) -> None:
    assert _refusal(NEWER, {name: "x"}).blocked == (name,)
    assert name not in sanitize_env(NEWER, {name: "x"}, {name: "y"}).env


@pytest.mark.parametrize("name", ["GIT_PAGER", "PAGER", "Pager"])
@pytest.mark.parametrize("value", ["", "cat"])
def test_a_pager_that_only_copies_is_no_pager(name: str, value: str) -> None:
    assert sanitize_env(NEWER, {}, {name: value}).env[name] == ""
    assert sanitize_env(OLDER, {}, {name: value}).rejected_blocked == ()


@pytest.mark.parametrize("value", ["sh -c id", " cat ", " ", "cat;id"])
def test_any_other_pager_is_refused(value: str) -> None:
    assert sanitize_env(NEWER, {"GIT_PAGER": "less"}, {"GIT_PAGER": value}).env["GIT_PAGER"] == "less"
    assert sanitize_env(NEWER, {}, {"PAGER": value}).rejected_blocked == ("PAGER",)


@pytest.mark.parametrize(("given", "kept"), [("2", "0"), ("-01", "0"), (" TRUE ", "0"), ("00", "00"), ("off", "off")])
def test_git_is_never_told_to_follow_a_users_protocol(given: str, kept: str) -> None:
    assert sanitize_env(NEWER, {"GIT_PROTOCOL_FROM_USER": given}, None).env["GIT_PROTOCOL_FROM_USER"] == kept


def test_every_spelling_of_a_name_is_a_variable_of_its_own() -> None:
    assert sanitize_env(NEWER, {"foo": "1"}, {"FOO": "3"}).env == {"foo": "1", "FOO": "3", "OPENCLAW_CLI": "1"}
    assert sanitize_env(OLDER, {"foo": "1"}, {"FOO": "3"}).env == {"foo": "1", "FOO": "3"}
    assert sanitize_env(NEWER, {"Path": "/bin"}, {"PATH": "/tmp"}).env == {"Path": "/bin", "OPENCLAW_CLI": "1"}


def test_the_mark_of_the_newer_release_cannot_be_taken_off() -> None:
    assert sanitize_env(NEWER, {}, {"OPENCLAW_CLI": "0"}).env == {"OPENCLAW_CLI": "1"}


_NAMES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(sorted(host_env_rules(NEWER).override | host_env_rules(NEWER).everywhere)),
    st.sampled_from(["PATH", "Path", "LD_X", "ld_preload", "FOO", "foo", " FOO ", "GIT_ALLOW_PROTOCOL"]),
)
_ENVIRONMENTS = st.dictionaries(_NAMES, st.one_of(st.text(max_size=12), st.integers(), st.none()), max_size=8)


@BOTH
@settings(max_examples=60)
@given(base=_ENVIRONMENTS, overrides=_ENVIRONMENTS)
def test_nothing_blocked_is_ever_left_in_an_environment(
    dialect: Dialect, base: dict[str, Any], overrides: dict[str, Any]
) -> None:
    rules = host_env_rules(dialect)
    env = sanitize_env(dialect, base, overrides).env
    harmless = {"GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER"}
    for name, value in env.items():
        assert isinstance(value, str)
        assert name.upper() in harmless or not rules.blocks(name.upper())
        if name.upper() == "PATH":
            assert value in base.values()


@settings(max_examples=60)
@given(overrides=_ENVIRONMENTS)
def test_a_call_is_refused_exactly_when_it_would_not_get_all_it_asks_for(overrides: dict[str, Any]) -> None:
    result = sanitize_env(NEWER, {}, overrides)
    refused: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    try:
        validate_env(NEWER, overrides)
    except HostEnvRefusedError as refusal:
        refused = refusal.blocked, refusal.invalid
    assert refused == (result.rejected_blocked, result.rejected_invalid)
