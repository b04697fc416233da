"""Sentences of documents, and the page that says which test proves which of them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "promises.md"
DOCUMENTS = (
    "README.md",
    "SECURITY.md",
    "docs/approvals.md",
    "docs/tools.md",
    "docs/reliability.md",
    "docs/kill-switch.md",
)
PROMISING = re.compile(r"\b(never|always|cannot|every|no call|nothing|nobody|only|at once|whatever)\b", re.IGNORECASE)
"""Words with which promises are made."""

_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z*`\[\"(])")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
_RULE = set("|-: ")
_CELL = re.compile(r"(?<!\\)\|")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
_SKIPS = ("skip", "xfail")  # `skipif` names what a machine may not have


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the page.

    Args:
        said: names of tests in the part of promises, the reason in that of sentences that are none.
    """

    document: str
    section: str
    sentence: str
    said: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return _TEST.findall(self.said)


def sentences(text: str) -> list[tuple[str, str]]:
    """Cut a document into its sentences, each with the heading above it; cells of tables and items begin their own."""
    section, found = "", []
    for heading, block in _blocks(_FENCE.sub("", text)):
        section = heading or section
        found += [(section, each) for each in _END.split(" ".join(block.split())) if each]
    return found


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Give headings, with no text, and pieces of text, with no heading."""
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        is_row, is_heading, item = line.startswith("|"), line.startswith("#"), _ITEM.match(line)
        if block and (is_row or is_heading or item or not line.strip()):
            yield "", " ".join(block)
            block = []
        if is_heading:
            yield line.lstrip("# ").strip(), ""
        elif is_row:
            yield from (("", cell) for cell in cells(line))
        elif line.strip():
            block.append(line[item.end() :] if item else line)


def cells(row: str) -> list[str]:
    """Give the cells of a row of a table; none of the row that rules it off."""
    if set(row.strip()) <= _RULE:
        return []
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(row.strip())[1:-1]]


@cache
def lines() -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Read the page: promises, and sentences that are none."""
    promises: list[Line] = []
    others: list[Line] = []
    document, into = "", promises
    for row in PAGE.read_text().splitlines():
        if row.startswith("## "):
            into = others if row == "## No promises" else promises
            document = row[3:].strip() if into is promises else ""
        elif into is others and row.startswith("### "):
            document = row[4:].strip()
        elif row.startswith("|") and (found := cells(row)) and found[0] != "Section":
            into.append(Line(document, *found))
    return tuple(promises), tuple(others)


@cache
def suite_of(path: str) -> dict[str, bool]:
    """Name the tests of a file, and whether each is skipped or expected to fail."""
    tree = ast.parse((ROOT / path).read_text())
    is_whole = any(_skips(node.value) for node in tree.body if isinstance(node, ast.Assign) and _is_mark(node))
    found = {}
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        outer = isinstance(node, ast.ClassDef) and any(map(_skips, node.decorator_list))
        for each in inside:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_"):
                found[each.name] = is_whole or outer or any(map(_skips, each.decorator_list))
    return found


def _is_mark(node: ast.Assign) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "pytestmark" for each in node.targets)


def _skips(mark: ast.expr) -> bool:
    """Say whether a mark, or one of several, keeps a test from running."""
    return any(isinstance(each, ast.Attribute) and each.attr in _SKIPS for each in ast.walk(mark))
