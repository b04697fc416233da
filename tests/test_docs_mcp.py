"""docs/mcp-server.md says what holds, and its program runs as it stands."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.gateway.mcp import answers, calling, door, joining
from tests.gateway.catalogues import CODE, plugin_tools, snapshot_of
from tests.gateway.conftest import server  # noqa: F401 - a fixture
from tests.gateway.server import Holder, Server

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "mcp-server.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "said",
    [
        f"`{door.PATH}`",
        f"{joining.WAIT_MS:,} when absent",
        f"{joining.WAIT_LIMIT_MS:,} at most",
        f'`_meta."{answers.CALL_KEY}"`',
        f"`{answers.AWAITING}`",
        *(f"`{each}`" for each in sorted(joining.MEMBERS_OF_QUERY)),
    ],
)
def test_it_states_what_holds(said: str) -> None:
    assert said in PAGE


def test_it_states_how_often_a_client_hears() -> None:
    assert calling.NEWS_S == 5 and "every five seconds" in PAGE


@pytest.fixture
def holder(tmp_path: Path) -> Holder:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "answering.py").write_text(CODE)
    return Holder(snapshot_of(plugin_tools(str(folder), 60)))


def test_its_program_runs_as_it_stands(
    server: Server,  # noqa: F811 - a fixture
    token: Callable[..., tuple[Any, str]],
) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    given = {"OPENCLAW_ADMIN_URL": server.url, "OPENCLAW_ADMIN_TOKEN": token("calls_make")[1]}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    names, made = ran.stdout.splitlines()
    assert "tool_search" in names.split()
    assert made == "made {'given': {'name': 'Repairs'}}"
