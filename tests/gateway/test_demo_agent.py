"""The scripted agents of the tour make real calls and end."""

from io import StringIO

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.gateway.server import Server


def play(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("demo_agent", *arguments, "--pause", "0", "--patience", "0", stdout=out)
    return out.getvalue().splitlines()


@pytest.mark.slow
def test_every_kind_of_answer_is_shown(server: Server) -> None:
    lines = play("--url", server.url, "--agent", "bot")

    text = "\n".join(lines)
    for form in ("openai-chat", "anthropic", "gemini"):
        assert text.count(f"a model asks for it ({form})") == 2
    assert text.count("a run with tool search") == 4
    for expected in ("completed", "awaiting_approval", "404 tool_not_found", "422 parameter_validation_failed"):
        assert expected in text
    assert all(line.startswith(("bot ", "call_")) for line in lines)


@pytest.mark.slow
def test_a_given_token_is_used(server: Server, agent: httpx.Client) -> None:
    secret = agent.headers["authorization"].removeprefix("Bearer ")

    assert play("--url", server.url, "--agent", "bot", "--token", secret)


@pytest.mark.parametrize("rounds", ["0", "1001"])
def test_the_number_of_rounds_is_bounded(rounds: str) -> None:
    with pytest.raises(CommandError):
        play("--rounds", rounds, "--agent", "bot")


def test_a_server_that_is_not_there_is_named(transactional_db: None) -> None:
    with pytest.raises(CommandError, match="no answer from"):
        play("--url", "http://127.0.0.1:9", "--agent", "bot")
