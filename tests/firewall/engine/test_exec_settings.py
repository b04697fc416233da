"""The settings of command execution for an agent: its own before the global ones, member by member."""

from typing import Any

import pytest

from apps.firewall.engine.exec_settings import ExecSettings, read_exec_settings


def _read(shared: dict[str, Any], own: dict[str, Any], *, modes: bool = True) -> ExecSettings:
    return read_exec_settings("bot", {"exec": shared}, {"exec": own}, {}, modes=modes)


@pytest.mark.parametrize(
    ("shared", "own", "security", "ask", "mode"),
    [
        ({}, {}, None, None, None),
        ({"mode": "ask"}, {}, "allowlist", "on-miss", "ask"),
        ({"mode": "ask"}, {"mode": "full"}, "full", "off", "full"),
        ({"mode": "full"}, {"ask": "always"}, "full", "always", None),
        ({"security": "full", "ask": "off"}, {"mode": "deny"}, "deny", "off", "deny"),
        ({"ask": "always"}, {"security": "allowlist"}, "allowlist", "always", None),
        ({"mode": "bogus"}, {}, "deny", "off", "bogus"),
        ({"mode": "deny", "host": "gateway"}, {"mode": None, "security": None, "ask": None}, "deny", "off", "deny"),
    ],
)
def test_a_mode_stands_for_its_pair_and_the_agent_comes_first(
    shared: dict[str, Any], own: dict[str, Any], security: str | None, ask: str | None, mode: str | None
) -> None:
    settings = _read(shared, own)
    assert (settings.security, settings.ask, settings.mode) == (security, ask, mode)


def test_the_older_release_knows_no_mode() -> None:
    assert _read({"mode": "full"}, {}, modes=False).security is None


def test_members_are_merged_one_by_one() -> None:
    settings = _read(
        {"host": "gateway", "timeoutSeconds": 60, "safeBins": ["jq"]}, {"host": "node", "pathPrepend": ["/x"]}
    )
    assert (settings.host, settings.timeout_s, settings.safe_bins) == ("node", 60, ("jq",))
    assert settings.path_prepend == ("/x",)


def test_null_leaves_what_everybody_has() -> None:
    settings = _read({"host": "gateway", "node": "n1"}, {"host": None, "node": None})
    assert (settings.host, settings.node) == ("gateway", "n1")


def test_what_is_of_the_wrong_kind_counts_as_absent() -> None:
    settings = _read({"host": 5, "timeoutSeconds": True, "safeBins": "jq", "strictInlineEval": "yes"}, {})
    assert (settings.host, settings.timeout_s, settings.safe_bins, settings.strict_inline_eval) == (
        None,
        None,
        None,
        False,
    )


def test_each_word_says_which_setting_it_came_from() -> None:
    settings = _read({"mode": "ask", "host": "gateway"}, {"ask": "always"})
    assert settings.security_from == "tools.exec.mode"
    assert settings.ask_from == "agents.entries.bot.tools.exec.ask"
    assert settings.host_from == "tools.exec.host"
    assert _read({"host": "gateway"}, {"host": "sandbox"}).host_from == "agents.entries.bot.tools.exec.host"


def test_elevated_is_kept_level_by_level() -> None:
    shared = {"elevated": {"allowFrom": {"telegram": ["1"]}}, "elevatedDefault": "ask"}
    settings = read_exec_settings("bot", shared, {"elevated": {"enabled": False}}, {}, modes=True)
    assert settings.elevated == {"allowFrom": {"telegram": ["1"]}}
    assert settings.elevated_own == {"enabled": False}
    assert settings.elevated_level == "ask"
