"""A cut says how to get what follows, as far as its tool has a way."""

from pathlib import Path
from typing import Any

import pytest

from apps.firewall.runtime.kit import run_tool
from apps.firewall.runtime.stages.results import how_to_go_on

LONG = """
from openclaw_admin.tools import tool

@tool(result_limit={limit})
def read_log({params}):
    "Read a log."
    return "line " * 5_000
"""


def schema(*names: str) -> dict[str, Any]:
    return {"properties": {name: {"type": "integer"} for name in names}}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("offset", "limit"), "For what follows, call it again with `offset` and `limit`."),
        (("cursor",), "For what follows, call it again with `cursor`."),
        (("page", "per_page", "city"), "For what follows, call it again with `page` and `per_page`."),
        (("city",), "Ask for less at once, or for another part."),
        ((), "Ask for less at once, or for another part."),
    ],
)
def test_it_names_the_params_of_the_tool(names: tuple[str, ...], said: str) -> None:
    assert how_to_go_on(schema(*names)) == said


@pytest.mark.parametrize("limit", [1_000, 12_000])
@pytest.mark.parametrize("params", ["offset: int = 0, limit: int = 100", ""])
def test_a_result_is_cut_at_its_tools_own_limit_and_says_how_to_go_on(tmp_path: Path, limit: int, params: str) -> None:
    (tmp_path / "log_tool.py").write_text(LONG.format(limit=limit, params=params))

    answer = run_tool(tmp_path, "read_log")

    assert answer.result is not None
    text = answer.result["content"][0]["text"]
    assert limit - 300 < len(text) <= limit
    assert (answer.facts["limit"], answer.facts["truncated"]) == (limit, True)
    assert "of 25,019 characters are shown] " in text
    assert text.endswith("call it again with `offset` and `limit`." if params else "or for another part.")
