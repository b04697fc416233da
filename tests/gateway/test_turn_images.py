"""An image that a tool returns, on its way to each model; the tool is one of a real MCP server."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.registry import services
from tests.firewall.tools.mcp.conftest import SERVER
from tests.firewall.tools.mcp.server import PNG
from tests.gateway.replies import REPLIES
from tests.gateway.server import Server
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 (a fixture)

WHERE: dict[str, Callable[[Any], Any]] = {
    "openai-chat": lambda messages: messages[1]["content"][1]["image_url"]["url"],
    "openai-responses": lambda messages: messages[0]["output"][0]["image_url"],
    "anthropic": lambda messages: messages[0]["content"][0]["content"][0]["source"]["data"],
    "gemini": lambda messages: messages[0]["parts"][0]["functionResponse"]["parts"][0]["inlineData"]["data"],
}


@pytest.mark.unhurried
@pytest.mark.slow
def test_an_image_reaches_every_model_in_its_providers_form(
    environment: Any,
    publishing: Server,  # noqa: F811 - the fixture
    token: Callable[..., Any],
    tmp_path: Path,
) -> None:
    tool = {"name": "give_image", "description": "Gives an image.", "inputSchema": {"type": "object"}}
    (tmp_path / "tools.json").write_text(json.dumps([tool]))
    command = [sys.executable, "-I", "-S", SERVER, "normal", str(tmp_path / "tools.json")]
    source = services.source_create(environment, key="tester", kind="mcp_stdio", settings={"command": command})
    assert services.source_look(source).state == "completed"
    published(environment, '{"agents": {"entries": {"bot": {}}}}')

    with publishing.client(token("calls_make", "decisions_ask")[1]) as bot:
        asked = {"agent": "bot", "tool": "tester__give_image"}
        assert eventually(lambda: bool(bot.post("/api/v1/decisions", json=asked).json()["allowed"]))
        for form, where in WHERE.items():
            reply = REPLIES[form]([("tester__give_image", {})], form)
            body = {"agent": "bot", "provider": "acme", "form": form, "model": "gemini-3-pro", "response": reply}
            answered = bot.post("/api/v1/turns", json=body).json()
            assert [call["status"] for call in answered["calls"]] == ["completed"], answered
            assert where(answered["messages"]).endswith(PNG), form
