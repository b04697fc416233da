"""A second ranking: it reorders what words found, and can do no harm."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.search.index import SearchIndex
from apps.firewall.tools.search.rerank import FIRST, Candidate, Reranker, RerankerError, reranker_named
from tests.firewall.tools.search.catalogues import tool

PAGE = Path(__file__).parents[4] / "docs" / "tool-search.md"
SHOWN = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
FAILING = """

def broken():
    raise OSError("no model here")


nothing = object
"""
NAMES = "trigrams = small_reranker:Trigrams\nbroken = small_reranker:broken\nnothing = small_reranker:nothing\n"
POTATO = tool("plugin:food:peel", "Send potatoes through the peeler", speed={"description": "How fast it peels."})
MAIL = tool("plugin:mail:forward", "Send messages on to somebody")
PRIVATE = tool("mcp:post:deliver", "Send by the postman", secretword={"description": "secretword"})
INDEX = SearchIndex([POTATO, MAIL, PRIVATE])


class Fixed:
    """Gives what it was told to, and remembers what it was asked."""

    def __init__(self, scores: Sequence[float] | Exception) -> None:
        self.scores = scores
        self.asked: list[Candidate] = []

    def order(self, query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
        self.asked += candidates
        if isinstance(self.scores, Exception):
            raise self.scores
        return self.scores


class Backwards:
    """Ranks the other way round."""

    def order(self, query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
        return list(range(len(candidates)))


def found(query: str, rerank: Reranker | None = None) -> list[str]:
    return [hit.descriptor.name for hit in INDEX.search(query, limit=9, rerank=rerank)]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package that the page shows."""
    assert SHOWN is not None
    package = tmp_path / "small_reranker-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: small-reranker\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[openclaw_admin.search_rerankers]\n{NAMES}")
    (tmp_path / "small_reranker.py").write_text(SHOWN[1] + FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_an_installed_one_ranks_by_what_it_reads() -> None:
    reranker = reranker_named("trigrams")

    assert found("send through the peelers", reranker)[0] == "peel"
    assert found("send somebody a message", reranker)[0] == "forward"


def test_none_is_used_unless_it_is_named() -> None:
    assert reranker_named("") is None


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("absent", "no second ranking `absent`: `broken`, `nothing`, `trigrams`"),
        ("broken", "`broken` cannot be loaded: OSError"),
        ("nothing", "`nothing` is no second ranking"),
    ],
)
def test_one_that_cannot_rank_is_refused_by_the_name_of_its_setting(name: str, reason: str) -> None:
    with pytest.raises(RerankerError) as caught:
        reranker_named(name)

    assert caught.value.code == "search_reranker_unusable"
    assert caught.value.message.startswith("TOOL_SEARCH_RERANKER: ") and reason in caught.value.message


def test_where_none_is_installed_the_refusal_says_so() -> None:
    with pytest.raises(RerankerError, match="none is installed"):
        reranker_named("absent")


def test_it_turns_the_order_round() -> None:
    assert found("send", Backwards()) == list(reversed(found("send")))


@pytest.mark.parametrize(
    "scores", [OSError("gone"), [], [1.0], [1.0] * 9, [math.nan] * 3, [math.inf] * 3, ["a", "b", "c"], None]
)
def test_one_that_fails_leaves_the_order_of_words(scores: Sequence[float] | Exception) -> None:
    assert found("send", Fixed(scores)) == found("send")


def test_it_never_reads_the_schema_of_an_untrusted_tool() -> None:
    reranker = Fixed([])

    found("send", reranker)

    texts = {each.name: each.text for each in reranker.asked}
    assert "secretword" not in texts["deliver"] and "How fast it peels." in texts["peel"]


def test_a_tool_that_is_named_stays_first() -> None:
    assert found("forward", Backwards())[0] == "forward"


def test_it_reorders_the_first_fifty_only() -> None:
    index = SearchIndex([tool(f"plugin:p:t{number:02}", "Send mail") for number in range(80)])

    names = [hit.descriptor.name for hit in index.search("send mail", limit=70, rerank=Backwards())]

    assert names == [f"t{number:02}" for number in [*reversed(range(FIRST)), *range(FIRST, 70)]]


@given(scores=st.lists(st.floats(), max_size=5))
def test_whatever_it_says_the_same_tools_are_found(scores: list[float]) -> None:
    assert Counter(found("send mail", Fixed(scores))) == Counter(found("send mail"))
