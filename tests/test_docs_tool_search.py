"""docs/tool-search.md says the figures and words that the code has, and its examples mean what it says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.errors import FirewallError
from apps.firewall.tools.search import budgets, settings
from apps.firewall.tools.search.controls import CONTROL_NAMES
from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.directory import LIMIT_CHARACTERS
from apps.firewall.tools.search.queries import read_queries
from apps.firewall.tools.search.selecting import read_call

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "tool-search.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith('| `{"')]
TOOLS = [
    Descriptor(id=f"core:{name}", name=name, source="core", parameters={"properties": {each: {} for each in params}})
    for name, params in {"read": ("path",), "write": ("path",), "ticket_update": ("id", "name")}.items()
]


@pytest.mark.parametrize(
    "said",
    [
        f"| `codeTimeoutMs` | {settings.CODE_TIMEOUT_MS} | {' to '.join(map(str, settings.RANGES['codeTimeoutMs']))} |",
        f"| `searchDefaultLimit` | {settings.DEFAULT_LIMIT} | 1 to `maxSearchLimit` |",
        f"| `maxSearchLimit` | {settings.MAX_LIMIT} | {' to '.join(map(str, settings.RANGES['maxSearchLimit']))} |",
        f"gets {settings.LOCAL_LIMITS[0]} candidates by itself and {settings.LOCAL_LIMITS[1]} at most",
        f"at most {LIMIT_CHARACTERS:,} characters",
        f"At most {budgets.BATCH_QUERIES} queries, {budgets.QUERY_CHARACTERS} characters each",
        f"{budgets.BATCH_BYTES} bytes of UTF-8",
        f"{budgets.BATCH_CANDIDATES} candidates together",
        f"has at most {budgets.BATCH_CHARACTERS:,} characters",
        *(f"`{each}`" for each in sorted({*CONTROL_NAMES, *settings.MEMBERS, *settings.CHOSEN_MODES})),
    ],
)
def test_it_states_what_holds(said: str) -> None:
    assert said in PAGE


def test_its_searches_can_be_asked() -> None:
    asked = [json.loads(text) for text in re.findall(r"```json\n(\{.*\})\n```", PAGE)]

    assert [read_queries(each, settings.read_tool_search(None, "2026.9")).is_batch for each in asked] == [False, True]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_its_calls_are_understood_as_it_says(row: list[str]) -> None:
    sent = json.loads(row[0].partition("`,")[0].strip("`"))
    try:
        said: Any = json.dumps(read_call(sent, TOOLS)[1])
    except FirewallError:
        said = "refused"

    assert row[1].startswith(f"`{said}`" if said != "refused" else said)


def test_every_row_is_tried() -> None:
    assert len(ROWS) == 7
