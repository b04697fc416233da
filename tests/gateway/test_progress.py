"""News of a running call: by long poll, in their order, masked, and gone when the call has ended."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.gateway.models import CallProgress
from tests.gateway.conftest import call
from tests.gateway.server import Server
from tests.gateway.test_call_events import listen, secret_of
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 (a fixture)
from tests.gateway.test_python_tools import BOT, bot, looked, offered  # noqa: F401 (a fixture)

pytestmark = pytest.mark.unhurried
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2

TOOLS = f'''
import time
import json
from pathlib import Path

from openclaw_admin.tools import ToolContext, tool


@tool(timeout=30)
def walk(context: ToolContext) -> dict:
    """Go on until somebody says that it is enough."""
    for step in range(1, 100):
        context.progress("with {SECRET}", done=step)
        time.sleep(0.2)
        if (Path(context.workspace) / "enough").exists():
            break
    return {{"steps": step}}
'''


def test_a_caller_hears_news_until_the_call_ends(
    environment: Any,
    bot: httpx.Client,  # noqa: F811
    publishing: Server,  # noqa: F811
    tmp_path: Path,
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "walking_tool.py").write_text(TOOLS)
    assert looked(environment, "walking", "folder", {"scan_directories": [str(folder)]}).added == 1
    published(environment, BOT)
    assert eventually(lambda: offered(bot, "walk"))

    begun = call(bot, "walk", wait_ms=0)
    where = f"/api/v1/calls/{begun.json()['id']}"
    first = bot.get(where, params={"wait": 20_000, "after": 0})
    second = bot.get(where, params={"wait": 20_000, "after": first.json()["progress"]["number"]})
    assert begun.status_code == first.status_code == second.status_code == 202
    news = [each.json()["progress"] for each in (first, second)]
    assert news[0]["number"] < news[1]["number"] and news[0]["done"] < news[1]["done"]
    assert SECRET not in first.text and news[0]["message"].startswith("with [masked 44 characters")

    with listen(publishing, begun.json()["id"], secret_of(bot)) as socket:
        seen = [json.loads(socket.recv(timeout=60))["progress"]["number"] for _ in range(2)]
    assert seen[0] < seen[1]

    assert call(bot, "write", {"path": "enough", "content": ""}).json()["status"] == "completed"
    ended = bot.get(where, params={"wait": 20_000}).json()
    assert ended["status"] == "completed" and ended["result"]["steps"] >= news[1]["done"]
    assert eventually(lambda: not CallProgress.objects.exists())


def test_the_number_of_the_news_is_a_whole_number(bot: httpx.Client) -> None:  # noqa: F811
    where = "/api/v1/calls/call_01jd8m3x9kq2v7n5r0t4w6y8zb"
    assert bot.get(where, params={"after": "x"}).status_code == 422
