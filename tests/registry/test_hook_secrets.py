"""What a plugin says never says what its record keeps sealed; params that it makes are its own."""

from pathlib import Path
from typing import Any

import pytest

from apps.registry.hooks import hook_try
from apps.registry.models import Environment, Hook
from apps.registry.services import hook_create, plugin_save
from tests.firewall.runtime.hook_runners.packages import installed

pytestmark = pytest.mark.django_db
TOKEN = "a-made-up-token-of-nobody"
CODE = """
def before_tool_call(event):
    token, do = event["config"]["token"], event["toolName"]
    if do == "raise":
        raise ValueError("https://example.test/?key=" + token)
    if do == "block":
        return {"block": True, "blockReason": "the server said: bad key " + token}
    if do == "ask":
        return {"requireApproval": {"title": token, "description": "by " + token}}
    return {"params": {"key": token}}
"""


@pytest.fixture
def gate(environment: Environment, tmp_path: Path) -> Hook:
    place = installed(tmp_path, CODE)
    config = {"token": TOKEN}
    settings = {"entry_point": place.entry_point, "scan_directories": list(place.folders), "config": config}
    plugin = plugin_save(environment, key="acme")
    return hook_create(plugin, name="gate", event="before_tool_call", kind="python_hook", settings=settings)


def test_a_secret_that_a_plugin_raises_is_hidden(gate: Hook) -> None:
    failure = hook_try(gate, tool="raise", params={}).failure
    assert failure is not None and failure.kind == "raised"
    assert "https://example.test/?key=" in failure.said and TOKEN not in failure.said


@pytest.mark.parametrize("tool", ["block", "ask"])
def test_a_secret_in_its_words_for_agents_and_people_is_hidden(gate: Hook, tool: str) -> None:
    answer: Any = hook_try(gate, tool=tool, params={}).answer
    assert answer and TOKEN not in str(answer)


def test_params_that_it_makes_stay_as_they_are(gate: Hook) -> None:
    assert hook_try(gate, tool="read", params={}).answer == {"params": {"key": TOKEN}}
