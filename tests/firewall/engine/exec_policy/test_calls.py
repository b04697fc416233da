"""What a call may ask of its command: stricter always, looser only elevated, and every refusal names its gate."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.exec_policy import ExecHostError, ExecRules, exec_rules, rules_of_call
from apps.firewall.engine.exec_policy.modes import ASK, SECURITY
from apps.firewall.engine.exec_settings import read_exec_settings

ALICE = CallContext(channel="telegram", sender_id="42", sender_name="Alice")
FROM_ALICE: dict[str, Any] = {"allowFrom": {"telegram": ["42"]}}


def answer(
    params: dict[str, Any] | None = None,
    *,
    exec: dict[str, Any] | None = None,  # noqa: A002 - the setting's name
    own: dict[str, Any] | None = None,
    level: str | None = None,
    document: dict[str, Any] | None = None,
    context: CallContext = ALICE,
    release: str = "2026.9",
    **elevated: Any,
) -> ExecRules:
    shared = {"exec": exec or {}, "elevated": elevated, **({"elevatedDefault": level} if level else {})}
    dialect = DIALECTS[release]
    settings = read_exec_settings("bot", shared, own or {}, document or {}, modes=dialect.exec_modes)
    rules = exec_rules(settings, dialect=release)
    return rules_of_call(rules, settings, params or {}, context)


def refusal(params: dict[str, Any], **more: Any) -> ExecHostError:
    with pytest.raises(ExecHostError) as caught:
        answer(params, **more)
    return caught.value


# --- stricter ---


@pytest.mark.parametrize("release", DIALECTS)
def test_a_call_may_ask_to_be_held_stricter(release: str) -> None:
    asked = answer({"security": "deny", "ask": "always"}, exec={"security": "full", "ask": "on-miss"}, release=release)
    assert (asked.security, asked.ask) == ("deny", "always")
    assert (asked.security_from, asked.ask_from) == ("params.security", "params.ask")


@pytest.mark.parametrize("release", DIALECTS)
def test_a_call_cannot_ask_to_be_held_looser(release: str) -> None:
    asked = answer({"security": "full", "ask": "off"}, exec={"security": "allowlist", "ask": "always"}, release=release)
    assert (asked.security, asked.ask) == ("allowlist", "always")
    assert (asked.security_from, asked.ask_from) == ("tools.exec.security", "tools.exec.ask")


def test_a_chat_cannot_ask_for_questions_where_nobody_is_asked() -> None:
    settings = {"security": "full", "ask": "off"}
    assert answer({"ask": "always"}, exec=settings).ask == "off"
    assert answer({"ask": "always"}, exec=settings, context=CallContext()).ask == "always"
    assert answer({"ask": "always"}, exec=settings, release="2026.2").ask == "always"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"ask": "sometimes"}, "ask_invalid"),
        ({"security": "loose"}, "security_invalid"),
        ({"host": "docker"}, "host_invalid"),
        ({"host": 5}, "host_invalid"),
        ({"elevated": "yes"}, "elevated_invalid"),
    ],
)
@pytest.mark.parametrize("release", DIALECTS)
def test_a_word_that_means_nothing_is_a_named_error(params: dict[str, Any], code: str, release: str) -> None:
    error = refusal(params, release=release)
    assert error.code == code
    assert error.rule == f"params.{next(iter(params))}"


def test_words_are_read_with_blanks_and_capitals() -> None:
    assert answer({"ask": " ALWAYS ", "host": " Gateway"}).ask == "always"


# --- hosts ---


def test_commands_run_in_the_sandbox_of_a_sandboxed_session_and_else_on_the_gateway() -> None:
    assert answer(context=CallContext(sandboxed=True)).host == "sandbox"
    assert answer(context=CallContext()).host == "gateway"


def test_another_host_than_the_configured_one_is_refused_by_name() -> None:
    error = refusal({"host": "sandbox"}, exec={"host": "gateway"})
    assert error.code == "host_not_allowed"
    assert "`sandbox`" in error.message
    assert "`gateway`" in error.message
    assert error.rule == "tools.exec.host"


def test_a_sandboxed_session_is_not_left_by_naming_a_host() -> None:
    inside = CallContext(sandboxed=True)
    assert refusal({"host": "gateway"}, context=inside).code == "host_not_allowed"
    assert refusal({"host": "gateway"}, context=inside, exec={"host": "auto"}).code == "host_not_allowed"


@pytest.mark.parametrize("exec_host", [{"host": "sandbox"}, {"host": "auto"}])
def test_a_sandbox_that_is_not_there_is_no_sandbox(exec_host: dict[str, Any]) -> None:
    assert refusal({"host": "sandbox"}, exec=exec_host).code == "sandbox_missing"


def test_a_node_stays_the_host_so_that_the_judge_refuses_it() -> None:
    assert answer({}, exec={"host": "node"}).host == "node"


# --- elevated ---


@pytest.mark.parametrize(
    ("given_settings", "code", "rule"),
    [
        ({"enabled": False, **FROM_ALICE}, "elevated_disabled", "tools.elevated.enabled"),
        ({}, "elevated_not_allowed", "tools.elevated.allowFrom.telegram"),
        ({"allowFrom": {"telegram": ["7"]}}, "elevated_not_allowed", "tools.elevated.allowFrom.telegram"),
        ({"allowFrom": {"slack": ["42"]}}, "elevated_not_allowed", "tools.elevated.allowFrom.telegram"),
    ],
)
def test_a_refusal_names_the_gate(given_settings: dict[str, Any], code: str, rule: str) -> None:
    error = refusal({"elevated": True}, **given_settings)
    assert (error.code, error.rule) == (code, rule)
    assert f"`{rule}`" in error.message


def test_the_gates_of_the_agent_can_only_narrow() -> None:
    shut = {"elevated": {"enabled": False}}
    assert refusal({"elevated": True}, own=shut, **FROM_ALICE).rule == "agents.entries.bot.tools.elevated.enabled"
    narrowed = {"elevated": {"allowFrom": {"telegram": ["7"]}}}
    wanted = "agents.entries.bot.tools.elevated.allowFrom.telegram"
    assert refusal({"elevated": True}, own=narrowed, **FROM_ALICE).rule == wanted
    opened = {"elevated": {"allowFrom": {"telegram": ["42"]}}}
    assert refusal({"elevated": True}, own=opened).code == "elevated_not_allowed"


def test_a_call_without_a_channel_is_not_elevated() -> None:
    error = refusal({"elevated": True}, context=CallContext(sender_id="42"), allowFrom={"": ["*"]})
    assert (error.code, error.rule) == ("elevated_not_allowed", "channel")


@pytest.mark.parametrize("release", DIALECTS)
@pytest.mark.parametrize("level", [None, "on", "ask"])
def test_elevated_commands_wait_for_a_person_every_time(release: str, level: str | None) -> None:
    settings = {"security": "full", "ask": "off"}
    asked = answer({"elevated": True}, exec=settings, level=level, release=release, **FROM_ALICE)
    assert (asked.host, asked.ask, asked.ask_from) == ("gateway", "always", "params.elevated")


def test_elevated_full_asks_nobody_where_both_settings_allow_it() -> None:
    settings = {"security": "full", "ask": "off"}
    full = answer({"elevated": True}, exec=settings, level="full", **FROM_ALICE)
    assert (full.elevated, full.security, full.ask) == ("full", "full", "off")
    held = answer({"elevated": True}, exec={"security": "allowlist"}, level="full", **FROM_ALICE)
    assert (held.elevated, held.security) == ("full", "allowlist")


def test_in_the_older_release_elevated_full_lifts_the_settings() -> None:
    full = answer({"elevated": True}, exec={"ask": "always"}, level="full", release="2026.2", **FROM_ALICE)
    assert (full.security, full.ask, full.security_from) == ("full", "off", "params.elevated")


def test_what_is_switched_off_stays_so_elevated_or_not() -> None:
    settings = {"security": "deny"}
    full = answer({"elevated": True}, exec=settings, level="full", release="2026.2", **FROM_ALICE)
    assert full.security == "deny"


def test_a_level_that_is_configured_elevates_calls_that_say_nothing() -> None:
    inside = CallContext(sandboxed=True, channel="telegram", sender_id="42")
    assert answer(context=inside, **FROM_ALICE).host == "sandbox"
    assert answer(context=inside, level="on", **FROM_ALICE).host == "gateway"
    assert answer({"elevated": False}, context=inside, level="on", **FROM_ALICE).host == "sandbox"


# --- never looser ---

WORD = {
    "security": st.sampled_from([None, *SECURITY]),
    "ask": st.sampled_from([None, *ASK]),
    "host": st.sampled_from([None, "auto", "sandbox", "gateway", "node"]),
}
BLOCK = st.fixed_dictionaries(
    {},
    optional={
        "security": WORD["security"],
        "ask": WORD["ask"],
        "mode": st.sampled_from(["deny", "allowlist", "ask", "auto", "full"]),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {}, optional={"defaults": BLOCK, "agents": st.dictionaries(st.sampled_from(["*", "bot", "default", "main"]), BLOCK)}
)


@given(
    shared=BLOCK,
    own=BLOCK,
    document=DOCUMENTS,
    params=st.fixed_dictionaries(WORD),
    host=WORD["host"],
    sandboxed=st.booleans(),
    elevated=st.sampled_from([None, False]),
    release=st.sampled_from(list(DIALECTS)),
)
def test_without_elevation_no_call_is_held_looser_than_its_agent(
    shared: dict[str, Any],
    own: dict[str, Any],
    document: dict[str, Any],
    params: dict[str, Any],
    host: str | None,
    sandboxed: bool,
    elevated: bool | None,
    release: str,
) -> None:
    dialect = DIALECTS[release]
    levels = {"exec": {**shared, "host": host}, "elevated": FROM_ALICE}
    settings = read_exec_settings("bot", levels, {"exec": own}, document, modes=dialect.exec_modes)
    rules = exec_rules(settings, dialect=release)
    context = CallContext(sandboxed=sandboxed, channel="telegram", sender_id="42")
    try:
        asked = rules_of_call(rules, settings, {**params, "elevated": elevated}, context)
    except ExecHostError:
        return
    assert SECURITY.index(asked.security) <= SECURITY.index(rules.security)
    assert ASK.index(asked.ask) >= ASK.index(rules.ask)
    assert not (sandboxed and asked.host == "gateway" and host in (None, "auto", "sandbox"))
    if params["security"] is not None:
        assert SECURITY.index(asked.security) <= SECURITY.index(params["security"])


@given(
    elevated=st.booleans(),
    level=st.sampled_from([None, "off", "on", "ask", "full", "bogus"]),
    shared=BLOCK,
    document=DOCUMENTS,
)
def test_in_the_newer_release_not_even_elevated_is_held_looser(
    elevated: bool, level: str | None, shared: dict[str, Any], document: dict[str, Any]
) -> None:
    levels = {"exec": shared, "elevated": FROM_ALICE, "elevatedDefault": level}
    settings = read_exec_settings("bot", levels, {}, document, modes=True)
    rules = exec_rules(settings, dialect="2026.9")
    asked = rules_of_call(rules, settings, {"elevated": elevated}, ALICE)
    assert SECURITY.index(asked.security) <= SECURITY.index(rules.security)
    assert ASK.index(asked.ask) >= ASK.index(rules.ask)
