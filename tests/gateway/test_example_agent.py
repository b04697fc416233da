"""The example agent of docs/examples/agents against three providers' endpoints, run as a program of its own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.selectors import call_record
from apps.firewall.identifiers import read_id
from apps.gateway.demo_model import CALLS, NOTE, model_served
from apps.gateway.example_agent import example_agent
from tests.gateway.server import Server

PROGRAM = Path(__file__).resolve().parents[2] / "docs" / "examples" / "agents" / "agent.py"
FORMS = ("openai-chat", "anthropic", "gemini")


def test_it_is_short() -> None:
    assert len(PROGRAM.read_text().splitlines()) <= 80


@pytest.mark.slow
def test_a_two_tool_turn_reads_the_same_with_every_provider(agent: httpx.Client, settings: Any) -> None:
    converse = example_agent().converse
    transcripts, heard = [], []
    for form in FORMS:
        asked: list[dict[str, Any]] = []
        with model_served(asked) as address, httpx.Client(base_url=address, timeout=30) as model:
            answer, calls = converse(agent, model, form, "some-model", "What do the notes say?", agent="bot")
        records = [call_record(read_id("call", call["id"])) for call in calls]
        assert all(record is not None and record.status == "completed" for record in records)
        transcripts.append(([(call["tool"], call["status"], call["error"]) for call in calls], answer))
        heard.append(len(asked))

    assert transcripts[0] == transcripts[1] == transcripts[2]
    calls, answer = transcripts[0]
    assert calls == [(tool, "completed", None) for tool, _ in CALLS]
    assert "I was told 2 results" in answer and "Two tools, one turn." in answer
    assert heard == [2, 2, 2]
    assert (Path(settings.VAR_DIR) / "workspaces" / "production" / "bot" / NOTE).is_file()


@pytest.mark.unhurried
@pytest.mark.slow
def test_it_runs_as_the_page_says(server: Server, token: Callable[..., tuple[Any, str]]) -> None:
    _, secret = token("calls_make", "decisions_ask")
    environment = {"OPENCLAW_TOKEN": secret, "OPENCLAW_URL": server.url, "MODEL_KEY": "none", "NO_PROXY": "127.0.0.1"}
    with model_served() as address:
        ran = subprocess.run(
            [sys.executable, str(PROGRAM), "anthropic", address, "some-model", "What do the notes say?"],
            env=environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("[write: completed]\n[read: completed]\nI was told 2 results.")
