"""What holds for an agent: configuration and approvals document, and the setting that each word came from."""

from typing import Any

import pytest

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.exec_policy import ExecRules, exec_rules
from apps.firewall.engine.exec_policy.approvals_file import ApprovalsFileError, resolve_approvals
from apps.firewall.engine.exec_settings import ExecSettings, read_exec_settings


def rules(
    shared: dict[str, Any], own: dict[str, Any] | None = None, document: Any = None, *, release: str = "2026.9"
) -> ExecRules:
    settings = read_exec_settings(
        "bot", {"exec": shared}, {"exec": own or {}}, document or {}, modes=DIALECTS[release].exec_modes
    )
    return exec_rules(settings, dialect=release)


@pytest.mark.parametrize("release", DIALECTS)
def test_where_nothing_is_written_a_person_is_asked(release: str) -> None:
    found = rules({}, release=release)
    assert (found.security, found.ask, found.ask_fallback) == ("allowlist", "on-miss", "deny")
    assert (found.security_from, found.ask_from, found.ask_fallback_from) == ("default", "default", "default")


def test_the_stricter_of_both_counts_and_is_named() -> None:
    document = {"defaults": {"security": "full"}, "agents": {"*": {"security": "allowlist"}, "bot": {"ask": "off"}}}
    found = rules({"security": "full", "ask": "always"}, None, document)
    assert (found.security, found.security_from) == ("allowlist", "execApprovals.agents.*.security")
    assert (found.ask, found.ask_from) == ("always", "tools.exec.ask")


def test_a_mode_of_the_agent_is_named_as_such() -> None:
    found = rules({"security": "full", "ask": "off"}, {"mode": "ask"})
    assert (found.security, found.security_from) == ("allowlist", "agents.entries.bot.tools.exec.mode")
    assert found.ask_from == "agents.entries.bot.tools.exec.mode"


def test_the_answer_without_an_answerer_comes_from_the_nearest_entry() -> None:
    document = {"defaults": {"askFallback": "full"}, "agents": {"*": {"askFallback": "allowlist"}, "bot": {}}}
    found = rules({}, None, document)
    assert (found.ask_fallback, found.ask_fallback_from) == ("allowlist", "execApprovals.agents.*.askFallback")


@pytest.mark.parametrize("release", DIALECTS)
def test_a_word_that_means_nothing_is_the_strictest(release: str) -> None:
    document = {"defaults": {"security": "full", "ask": "off"}, "agents": {"bot": {"security": "ful", "ask": "never"}}}
    found = rules({"security": "full", "ask": "off"}, None, document, release=release)
    assert (found.security, found.ask) == ("deny", "always")
    assert found.security_from == "execApprovals.agents.bot.security"


def test_a_document_that_cannot_be_read_denies() -> None:
    found = rules({"mode": "full"}, None, {"agents": {"bot": None}})
    assert (found.security, found.security_from) == ("deny", "execApprovals")


def test_an_old_default_entry_is_that_of_main() -> None:
    document = {"agents": {"default": {"allowlist": ["/bin/ls"]}, "main": {"allowlist": ["/bin/cat"]}}}
    settings = read_exec_settings("main", {}, {}, document, modes=True)
    assert [entry.pattern for entry in exec_rules(settings, dialect="2026.9").allowlist] == []
    listed: dict[str, Any] = {
        "agents": {"default": {"allowlist": [{"pattern": "/bin/ls"}, {"pattern": "/BIN/cat"}]}, "main": {}}
    }
    listed["agents"]["main"] = {"allowlist": [{"pattern": "/bin/cat"}]}
    settings = read_exec_settings("main", {}, {}, listed, modes=True)
    assert [entry.pattern for entry in exec_rules(settings, dialect="2026.9").allowlist] == ["/bin/cat", "/bin/ls"]


@pytest.mark.parametrize(
    "document",
    [
        [],
        None,
        {"agents": {"bot": None}},
        {"socket": {"path": 5}},
        {"agents": {"main": {"allowlist": [None]}, "default": {}}},
        {"agents": {"main": {"allowlist": {}}, "default": {}}},
    ],
)
def test_what_is_no_document_is_an_error(document: Any) -> None:
    with pytest.raises(ApprovalsFileError):
        resolve_approvals(DIALECTS["2026.9"], document, "bot")


def test_a_long_list_is_read_once_and_another_document_anew() -> None:
    def settings(*patterns: str) -> ExecSettings:
        allowlist = [{"pattern": pattern} for pattern in (*patterns, *map(str, range(300)))]
        return ExecSettings("bot", approvals={"agents": {"bot": {"allowlist": allowlist}}})

    first, second = settings("/bin/ls"), settings("/bin/rm")

    assert exec_rules(first, dialect="2026.9").allowlist is exec_rules(first, dialect="2026.9").allowlist
    assert exec_rules(second, dialect="2026.9").allowlist[0].pattern == "/bin/rm"
    assert exec_rules(first, dialect="2026.2").allowlist[0].pattern == "/bin/ls"
