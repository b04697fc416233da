"""Whether a command runs that nobody answered for: as `askFallback` says, read the narrow way."""

from typing import Any

import pytest

from apps.firewall.engine.exec_policy import AllowEntry, ExecRules, ExecVerdict
from apps.firewall.engine.exec_policy.line import Evidence
from apps.firewall.engine.exec_policy.unanswered import runs_unanswered

LISTED = AllowEntry(pattern="/bin/ls")


def asked(**more: Any) -> ExecVerdict:
    return ExecVerdict(outcome="ask", reason="ask_always", message="", **more)


@pytest.mark.parametrize(
    ("fallback", "security", "matched", "runs"),
    [
        ("deny", "full", LISTED, False),
        ("allowlist", "full", LISTED, True),
        ("allowlist", "full", None, False),
        ("allowlist", "allowlist", LISTED, True),
        ("full", "full", None, True),
        ("full", "allowlist", None, False),
        ("full", "allowlist", LISTED, True),
        ("bogus", "full", LISTED, False),
    ],
)
def test_silence_adds_no_right(fallback: str, security: str, matched: AllowEntry | None, runs: bool) -> None:
    rules = ExecRules(security=security, ask="always", ask_fallback=fallback)
    assert runs_unanswered(asked(matched=matched), rules) is runs


def test_code_and_elevated_commands_need_a_person() -> None:
    rules = ExecRules(security="full", ask="always", ask_fallback="full")
    assert not runs_unanswered(asked(evidence=(Evidence("inline_code", "-c"),)), rules)
    assert not runs_unanswered(asked(), ExecRules(security="full", ask="always", ask_fallback="full", elevated="ask"))
    assert not runs_unanswered(
        asked(matched=LISTED, is_granted=True), ExecRules(ask="always", ask_fallback="allowlist")
    )
    assert not runs_unanswered(ExecVerdict(outcome="deny", reason="x", message=""), rules)
