"""The examples for agents in docs/tools.md run as they stand there."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.server import Server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "tools.md").read_text()
SECTION = PAGE.split("## Models: tools out, turns in")[1].split("\n## ")[0]
EXAMPLES = re.findall(r"```sh\n(.*?)```", SECTION, flags=re.DOTALL)


@pytest.mark.unhurried
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
@pytest.mark.slow
def test_every_example_works_as_it_stands(server: Server, token: Callable[..., tuple[Any, str]]) -> None:
    _, secret = token("calls_make", "decisions_ask")
    environment = {"DOOR": server.url, "TOKEN": secret, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    commands = [
        f"curl{command}" for example in EXAMPLES for command in re.split(r"^curl", example, flags=re.MULTILINE)[1:]
    ]

    answers = []
    for command in commands:
        ran = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=60)
        assert ran.returncode == 0, (command, ran.stderr)
        answers.append(json.loads(ran.stdout))

    tools, turns = [each for each in answers if "request" in each], [each for each in answers if "messages" in each]
    assert [each["form"] for each in tools] == ["openai-chat", "openai-responses", "anthropic", "gemini"]
    assert all(each["request"]["tools"] for each in tools)
    assert [each["append_to"] for each in turns] == ["messages", "input", "messages", "contents"]
    assert [call["status"] for each in turns for call in each["calls"]] == ["completed"] * 4
    assert all("hello" in json.dumps(each["messages"]) for each in turns[1:])
