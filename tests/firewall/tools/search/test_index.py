"""Search: what is found, in which order, and what never is."""

import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.search.descriptors import SOURCES, Descriptor
from apps.firewall.tools.search.index import SearchIndex
from tests.firewall.tools.search.catalogues import tool

WORDS = st.sampled_from(
    ["create", "issue", "mail", "天气", "read", "list", "send_message", "GitHub", "delete", "x9", "café"]
)
TEXTS = st.lists(WORDS, max_size=5).map(" ".join) | st.text(st.characters(exclude_categories=()), max_size=30)
DESCRIPTORS = st.builds(
    Descriptor,
    id=st.tuples(st.sampled_from(SOURCES), TEXTS).map(":".join),
    name=WORDS | TEXTS,
    source=st.sampled_from(SOURCES),
    label=TEXTS,
    description=TEXTS,
    parameters=st.dictionaries(
        st.just("properties"), st.dictionaries(TEXTS, st.fixed_dictionaries({"description": TEXTS}), max_size=2)
    ),
    is_trusted=st.booleans(),
)
CATALOGUES = st.lists(DESCRIPTORS, max_size=12, unique_by=lambda each: each.id)

ISSUE = tool("plugin:github:create_issue", "Create an issue in a repository", title={"description": "The headline."})
MAIL = tool("plugin:mail:send_email", "Send an email with attachments")
CRON = tool("core:cron", "Schedule a recurring task")
WEB = tool("core:web_search", "Search the web")
CALENDAR = tool("mcp:calendar:create_event", "Put an event into a calendar", zebra={"description": "A striped horse."})
WEATHER = tool("mcp:cma:tianqi", "查询城市未来几天的天气、气温和降雨")
INDEX = SearchIndex([ISSUE, MAIL, CRON, WEB, CALENDAR, WEATHER])


def found(query: str, index: SearchIndex = INDEX, **options: Any) -> list[str]:
    return [hit.descriptor.id for hit in index.search(query, **{"limit": 10, **options})]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("create a GitHub issue", ISSUE),
        ("mail somebody a file", MAIL),
        ("scheduling", CRON),
        ("look up the price", WEB),
        ("what is the headline", ISSUE),
        ("calendar events", CALENDAR),
        ("明天天气怎么样", WEATHER),
    ],
)
def test_it_finds_what_a_query_means(query: str, expected: Descriptor) -> None:
    assert found(query)[0] == expected.id


@pytest.mark.parametrize("query", ["", "   ", "the of and", "?!", "qqqq zzzz", "\x00\ud800\u202e"])
def test_a_query_without_a_usable_term_finds_nothing(query: str) -> None:
    assert found(query) == []


@pytest.mark.parametrize("query", ["zebra", "striped horse", "a striped zebra"])
def test_the_schema_of_an_untrusted_tool_is_never_matched(query: str) -> None:
    assert found(query) == []


def test_parameters_inside_others_are_matched() -> None:
    inner = {"items": {"properties": {"sku": {"description": "Stock keeping unit."}}}}
    index = SearchIndex([tool("plugin:shop:order", "Buys", lines=inner), MAIL])

    assert found("sku", index) == ["plugin:shop:order"]


@pytest.mark.parametrize("query", ["cron", "CRON", " cron ", "core:cron", "Core:Cron"])
def test_an_exact_name_stands_first(query: str) -> None:
    noisy = [tool(f"plugin:p{number}:t{number}", "cron cron cron cron") for number in range(9)]

    assert found(query, SearchIndex([*noisy, CRON]))[0] == "core:cron"


def test_an_exact_name_within_a_sentence_stands_first() -> None:
    assert found("call `create_event` and mail me about the issue")[0] == CALENDAR.id


@pytest.mark.parametrize("name", ["of", "的", "the", "!?", "a b", "…"])
def test_a_name_that_holds_no_term_is_still_found(name: str) -> None:
    index = SearchIndex([MAIL, Descriptor(id=f"client:{name}", name=name, source="client", parameters={})])

    assert found(name, index) == [f"client:{name}"]


def test_names_that_differ_in_case_only_are_both_found_the_exact_one_first() -> None:
    index = SearchIndex([tool("plugin:a:Read"), tool("plugin:b:read")])

    assert found("read", index) == ["plugin:b:read", "plugin:a:Read"]


@pytest.mark.parametrize("limit", [-1, 0, 1, 3, 50])
def test_there_are_never_more_than_were_asked_for(limit: int) -> None:
    index = SearchIndex([tool(f"plugin:p:send_{number:02}", "Send mail") for number in range(60)])

    hits = index.search("send mail", limit=limit)

    assert [hit.rank for hit in hits] == list(range(1, max(limit, 0) + 1))
    assert [hit.descriptor.id for hit in hits] == [f"plugin:p:send_{number:02}" for number in range(max(limit, 0))]


def test_an_empty_catalogue_holds_nothing() -> None:
    assert SearchIndex([]).search("mail", limit=5) == []


def test_tools_without_any_word_are_found_by_name_alone() -> None:
    index = SearchIndex([Descriptor(id="client:!", name="!", source="client", parameters={})])

    assert found("!", index) == ["client:!"] and found("mail", index) == []


def test_a_tool_that_changed_is_found_by_its_new_words() -> None:
    SearchIndex([tool("plugin:p:t", "paints walls")])

    assert found("walls", SearchIndex([tool("plugin:p:t", "bakes bread")])) == []


def test_a_schema_that_became_untrusted_is_matched_no_more() -> None:
    def described(*, is_trusted: bool) -> SearchIndex:
        return SearchIndex([tool("plugin:p:t", "bakes", trusted=is_trusted, zebra={"type": "string"}), MAIL])

    assert found("zebra", described(is_trusted=True)) == ["plugin:p:t"]
    assert found("zebra", described(is_trusted=False)) == []


@given(catalogue=CATALOGUES, query=TEXTS, limit=st.integers(-1, 15))
def test_hits_are_tools_of_the_catalogue_once_and_bounded(
    catalogue: Sequence[Descriptor], query: str, limit: int
) -> None:
    hits = SearchIndex(catalogue).search(query, limit=limit)

    ids = [hit.descriptor.id for hit in hits]
    assert set(ids) <= {each.id for each in catalogue}
    assert len(ids) == len(set(ids)) <= max(limit, 0)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


@given(catalogue=CATALOGUES, query=TEXTS)
def test_the_order_of_the_catalogue_changes_nothing(catalogue: Sequence[Descriptor], query: str) -> None:
    one = found(query, SearchIndex(catalogue))

    assert one == found(query, SearchIndex(list(reversed(catalogue))))


@given(catalogue=CATALOGUES.filter(len), pick=st.data())
def test_every_name_and_id_is_found_first(catalogue: Sequence[Descriptor], pick: st.DataObject) -> None:
    wanted = pick.draw(st.sampled_from(catalogue))
    name = pick.draw(st.sampled_from([wanted.name, wanted.id]).filter(str.strip))
    name = name.upper() if name.isascii() else name  # elsewhere, capitals do not always lead back

    hits = SearchIndex(catalogue).search(name, limit=len(catalogue))

    first = hits[0].descriptor
    spoken = name.strip().casefold()
    assert spoken in {each.strip().casefold() for each in (first.name, first.id, first.id.partition(":")[2])}


@given(catalogue=CATALOGUES, word=st.sampled_from(["zebrafish", "quagga", "斑马鱼"]))
def test_no_word_of_an_untrusted_schema_finds_its_tool(catalogue: Sequence[Descriptor], word: str) -> None:
    hidden = Descriptor(
        id="mcp:zoo:feed",
        name="feed",
        source="mcp",
        description="Feeds animals",
        parameters={"properties": {word: {"description": f"Which {word}"}}, "description": word, "title": word},
        is_trusted=False,
    )

    assert "mcp:zoo:feed" not in found(word, SearchIndex([*catalogue, hidden]))


@pytest.mark.parametrize(
    "text", ["mail " * 200_000, "邮件" * 500_000, "\ud800" * 10**6, "a" * 10**6, "\u202ex_" * 300_000]
)
def test_a_megabyte_of_anything_is_searched_and_indexed_in_time(text: str) -> None:
    started = time.process_time()

    hostile = Descriptor(
        id=f"plugin:p:{text}",
        name=text,
        source="plugin",
        label=text,
        description=text,
        parameters={"properties": {f"{text}{number}": {"description": text} for number in range(3)}},
    )
    index = SearchIndex([hostile, MAIL])

    assert len(index.search(text, limit=5)) <= 2
    assert time.process_time() - started < 20


def test_a_schema_within_itself_is_indexed_to_its_limit() -> None:
    within: dict[str, Any] = {"properties": {}}
    within["properties"]["again"] = within
    index = SearchIndex([Descriptor(id="plugin:p:t", name="t", source="plugin", parameters=within)])

    assert found("again", index) == ["plugin:p:t"]


@pytest.mark.parametrize(
    "schema", [{"properties": []}, {"properties": {"a": 5}}, {"items": [{}]}, {"properties": {5: {}}}]
)
def test_a_schema_that_is_none_is_indexed_all_the_same(schema: dict[str, Any]) -> None:
    index = SearchIndex([Descriptor(id="plugin:p:t", name="bake", source="plugin", parameters=schema)])

    assert found("baking", index) == ["plugin:p:t"]


def test_threads_index_and_search_as_one_would() -> None:
    tools = [tool(f"plugin:p:send_{number:02}", f"Sends mail number{number} as written") for number in range(40)]
    queries = [f"sending mails number{number}" for number in range(40)]
    alone = [found(query, SearchIndex(tools)) for query in queries]

    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda query: found(query, SearchIndex(tools)), queries))

    assert together == alone


def test_a_process_that_never_searches_does_not_load_what_counts() -> None:
    asked = "import sys, apps.firewall.tools.search.index; print(sorted({'numpy', 'bm25s'} & set(sys.modules)))"

    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=120)

    assert answer.stdout.strip() == "[]"
