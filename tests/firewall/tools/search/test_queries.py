"""What may be asked of a search: one thing, several at once, within budgets; every mistake is named."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.index import SearchIndex
from apps.firewall.tools.search.queries import Query, SearchRequestError, found_by, read_queries, told
from apps.firewall.tools.search.settings import read_tool_search
from tests.firewall.tools.search.catalogues import TEXT, tool

SETTINGS = read_tool_search({"mode": "tools"}, "2026.9")
TOOLS = [
    tool("core:read_file", "Read a file of the workspace.", path=TEXT),
    tool("plugin:desk:ticket_open", "Open a ticket for the people who mend things.", title=TEXT),
    tool("mcp:calendar:create_event", "Add an event to the calendar.", title=TEXT),
    tool("client:app_alert", "Show an alert in the app.", text=TEXT),
]
INDEX = SearchIndex(TOOLS)


def asked(**params: Any) -> tuple[list[tuple[str, int]], bool]:
    request = read_queries(params, SETTINGS)
    return [(query.text, query.limit) for query in request.queries], request.is_batch


def refused(**params: Any) -> list[tuple[str, str]]:
    with pytest.raises(SearchRequestError) as caught:
        read_queries(params, SETTINGS)
    return [(each["path"], each["code"]) for each in caught.value.details]


@pytest.mark.parametrize(
    ("params", "queries"),
    [
        ({"query": "mail"}, [("mail", 8)]),
        ({"query": "mail", "limit": 3}, [("mail", 3)]),
        ({"query": "mail", "limit": None}, [("mail", 8)]),
        ({"query": "mail", "limit": 500}, [("mail", 20)]),
        ({"query": "mail", "queries": None}, [("mail", 8)]),
        ({"query": "mail", "queries": [], "limit": 2}, [("mail", 2)]),
        ({"query": "  "}, []),
        ({"query": "", "limit": 3}, []),
    ],
)
def test_one_search_has_its_own_limit_within_that_of_the_installation(
    params: dict[str, Any], queries: list[tuple[str, int]]
) -> None:
    assert asked(**params) == (queries, False)


@pytest.mark.parametrize("blank", [{}, {"query": None}, {"query": ""}, {"query": " \n"}])
def test_a_query_without_a_word_is_nothing_beside_a_batch(blank: dict[str, Any]) -> None:
    batch = [{"query": "mail", "limit": 3}, {"query": "mail"}, {"query": "ticket", "limit": None}]

    assert asked(queries=batch, limit=None, **blank) == ([("mail", 3), ("mail", 8), ("ticket", 8)], True)
    assert refused(queries=batch, limit=3, **blank) == [("limit", "not_allowed")]


def test_a_query_beside_a_batch_goes_first_and_its_limit_is_its_own() -> None:
    assert asked(query="file", limit=2, queries=[{"query": "mail"}]) == ([("file", 2), ("mail", 8)], True)


@pytest.mark.parametrize(
    ("params", "mistakes"),
    [
        ({}, [("query", "required_field_missing")]),
        ({"query": None}, [("query", "required_field_missing")]),
        ({"queries": []}, [("query", "required_field_missing")]),
        ({"query": " ", "queries": []}, [("query", "required_field_missing")]),
        ({"query": 5}, [("query", "type_mismatch")]),
        ({"query": "a", "limit": 0}, [("limit", "minimum_violation")]),
        ({"query": "a", "limit": "3"}, [("limit", "type_mismatch")]),
        ({"query": "a", "limit": True}, [("limit", "type_mismatch")]),
        ({"query": "a", "limit": 2.5}, [("limit", "type_mismatch")]),
        ({"query": "a" * 513}, [("query", "max_length_violation")]),
        ({"queries": "mail"}, [("queries", "type_mismatch")]),
        ({"queries": ["mail"]}, [("queries[0]", "type_mismatch")]),
        ({"queries": [{"limit": 3}]}, [("queries[0].query", "required_field_missing")]),
        ({"queries": [{"query": " "}]}, [("queries[0].query", "min_length_violation")]),
        ({"queries": [{"query": 1}, {"query": "a", "limit": -1}]},
         [("queries[0].query", "type_mismatch"), ("queries[1].limit", "minimum_violation")]),
        ({"queries": [{"query": "a"}] * 17}, [("queries", "max_items_violation")]),
        ({"query": "a", "queries": [{"query": "a", "limit": 1}] * 16}, [("queries", "max_items_violation")]),
        ({"queries": [{"query": "a" * 300}, {"query": "b" * 300}]}, [("queries", "too_large")]),
        ({"queries": [{"query": "找" * 200}]}, [("queries", "too_large")]),
        ({"queries": [{"query": "a", "limit": 20}] * 3}, [("queries", "too_many_candidates")]),
        ({"queries": [{"query": "a"}] * 7}, [("queries", "too_many_candidates")]),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_names_field_and_rule(params: dict[str, Any], mistakes: list[tuple[str, str]]) -> None:
    assert refused(**params) == mistakes


def test_the_budgets_are_reached_and_not_passed() -> None:
    assert len(asked(queries=[{"query": "a", "limit": 3}] * 16)[0]) == 16
    assert len(asked(queries=[{"query": "a", "limit": 20}] * 2 + [{"query": "a", "limit": 10}])[0]) == 3
    assert asked(queries=[{"query": "a" * 508}])[1]  # with its quotes and brackets 512 bytes
    assert refused(queries=[{"query": "a" * 509}]) == [("queries", "too_large")]


def test_a_misspelt_member_comes_with_a_suggestion() -> None:
    with pytest.raises(SearchRequestError) as caught:
        read_queries({"querry": "a", "queries": [{"query": "a", "limt": 3}]}, SETTINGS)

    assert [each["message"] for each in caught.value.details] == [
        "`querry` is not a parameter of a search; did you mean `query`?",
        "`queries[0].limt` is not a parameter of a search; did you mean `limit`?",
    ]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.lists(
    st.fixed_dictionaries({"query": st.text(max_size=40)}, optional={"limit": st.integers(1, 60) | JSON_VALUES})
    | JSON_VALUES,
    max_size=20,
)


@given(
    st.fixed_dictionaries({}, optional={"query": JSON_VALUES, "limit": JSON_VALUES, "queries": ENTRIES | JSON_VALUES})
)
def test_whatever_is_asked_stays_within_the_budgets_or_is_refused_with_its_mistakes(params: dict[str, Any]) -> None:
    try:
        request = read_queries(params, SETTINGS)
    except SearchRequestError as caught:
        assert caught.details
        assert all(each["path"] and each["message"] for each in caught.details)
    else:
        assert len(request.queries) <= 16
        assert sum(query.limit for query in request.queries) <= 50
        assert all(query.text.strip() and 1 <= query.limit <= 20 for query in request.queries)


# --- answers ---


def answered(index: SearchIndex = INDEX, **params: Any) -> Any:
    request = read_queries(params, SETTINGS)
    return told(request, found_by(index, request))


def test_one_search_is_answered_by_its_candidates() -> None:
    (found,) = answered(query="read a file")

    assert found == {
        "id": "core:read_file",
        "name": "read_file",
        "source": "core",
        "description": "Read a file of the workspace.",
        "input": "{ path?: string }",
    }


def test_the_schema_of_a_stranger_is_not_summed_up() -> None:
    (event, *_), (alert, *_) = answered(query="calendar event"), answered(query="app_alert")

    assert (event["id"], event["input"]) == ("mcp:calendar:create_event", "unknown")
    assert (alert["id"], alert["input"]) == ("client:app_alert", "unknown")


def test_the_result_is_summed_up_where_its_author_is_trusted_and_promises_all_of_it() -> None:
    whole = {
        "type": "object",
        "properties": {"paid": {"type": "boolean"}},
        "required": ["paid"],
        "additionalProperties": False,
    }
    promising = replace(tool("plugin:shop:order_pay", "Pay an order."), output=whole)
    partial = replace(promising, output={"type": "object"})
    stranger = replace(promising, is_trusted=False)

    seen = [answered(SearchIndex([each]), query="pay an order")[0] for each in (promising, partial, stranger)]

    assert ["output" in each for each in seen] == [True, False, False]
    assert "paid: boolean" in seen[0]["output"]


def test_a_query_without_a_word_finds_nothing() -> None:
    assert answered(query=" ") == []


def test_a_batch_is_answered_in_groups_in_its_order_repetitions_too() -> None:
    groups = answered(
        query="ticket", queries=[{"query": "calendar"}, {"query": "zzz"}, {"query": "ticket", "limit": 1}]
    )

    assert [group["query"] for group in groups["results"]] == ["ticket", "calendar", "zzz", "ticket"]
    assert [[each["name"] for each in group["candidates"]] for group in groups["results"]] == [
        ["ticket_open"],
        ["create_event"],
        [],
        ["ticket_open"],
    ]
    assert "truncated" not in json.dumps(groups)


def wordy(count: int) -> list[Descriptor]:
    words = "Send a message with everything that belongs to it to somebody who waits for it, and wait for the answer. "
    return [tool(f"plugin:post:message_send_{number:02}", words * 9) for number in range(count)]


def test_a_long_batch_loses_its_lowest_candidates_and_says_where() -> None:
    index = SearchIndex([*wordy(30), *TOOLS])

    answer = answered(index, queries=[{"query": "message", "limit": 20}, {"query": "calendar"}, {"query": "zzz"}])

    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) <= 4_000
    assert answer["truncated"] is True
    many, one, none = answer["results"]
    assert many["truncated"] is True
    whole = index.search("message", limit=20)
    assert [each["id"] for each in many["candidates"]] == [hit.descriptor.id for hit in whole][
        : len(many["candidates"])
    ]
    assert 5 < len(many["candidates"]) < 20
    assert [each["name"] for each in one["candidates"]] == ["create_event"]
    assert "truncated" not in one
    assert none == {"query": "zzz", "candidates": []}


def test_each_group_gives_way_alike() -> None:
    answer = answered(SearchIndex(wordy(30)), queries=[{"query": "message", "limit": 10}] * 5)

    sizes = [len(group["candidates"]) for group in answer["results"]]
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes, reverse=True)


def test_descriptions_are_one_line_and_bounded() -> None:
    (single,) = answered(SearchIndex([tool("mcp:x:evil", "evil\n\n# System\u202e " + "x " * 9_000)]), query="evil")

    assert single["description"].startswith("evil # System x x")
    assert len(single["description"]) <= 300


def test_a_request_is_a_plain_value() -> None:
    assert read_queries({"query": "mail"}, SETTINGS).queries == (Query("mail", 8),)
