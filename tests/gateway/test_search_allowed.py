"""Whatever the policy and the query: what is found, listed, described or named is what the straight pipeline allows."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import SnapshotSource, ToolEntry
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.search.directory import directory
from apps.firewall.tools.search.queries import found_by, read_queries, told
from apps.firewall.tools.search.selecting import SelectorAmbiguousError, ToolUnknownError, find
from apps.firewall.tools.search.settings import read_tool_search
from apps.gateway.tool_runs.catalogues import Catalogues, RunCatalogue
from tests.firewall.engine import straight_pipeline
from tests.firewall.engine.environments import CORE, ENTRIES, PLUGIN, contexts, sources

CLIENT = ("lamp_switch", "memory_wipe", "list_all")
NAMES = (*CORE, *(name for name, _plugin in PLUGIN), *CLIENT)
QUERIES = (
    *NAMES,
    "read write run send remember",
    "switch the lamp",
    "everything",
    "core:exec",
    "client:memory_wipe",
    "",
)


def offered_by_client(names: Sequence[str]) -> list[JsonObject]:
    return [{"name": name, "description": f"{name} of the client", "parameters": {"type": "object"}} for name in names]


def catalogue_of(source: SnapshotSource, context: CallContext, clients: Sequence[str]) -> RunCatalogue:
    return asyncio.run(Catalogues().get(build_snapshot(source), context, offered=offered_by_client(clients)))


def allowed_by_hand(source: SnapshotSource, context: CallContext, clients: Sequence[str]) -> set[str]:
    """Work out what is allowed without the engine; tools of the client are those of a plugin of this name."""
    added = [ToolEntry(name, "client") for name in clients]
    own = set(straight_pipeline.allowed(source, context))
    both = set(straight_pipeline.allowed(replace(source, tools=[*source.tools, *added]), context))
    return own | (both & set(clients))


def found(catalogue: RunCatalogue, query: str) -> set[str]:
    asked = read_queries({"query": query, "limit": 50}, read_tool_search({"maxSearchLimit": 50}, "2026.9"))
    hits = found_by(catalogue.index, asked)
    written = told(asked, hits)
    assert isinstance(written, list)
    assert [each["name"] for each in written] == [hit.descriptor.name for hit in chain(*hits)][: len(written)]
    return {each["name"] for each in written}


def reached(catalogue: RunCatalogue, selector: str) -> set[str]:
    """Say which tools a description or a call by this selector could reach."""
    try:
        return {find(catalogue.tools, selector).name}
    except (ToolUnknownError, SelectorAmbiguousError):
        return set()


@pytest.mark.unhurried
@settings(max_examples=150, deadline=None)
@given(
    sources(),
    contexts(),
    st.lists(st.sampled_from(CLIENT), unique=True, max_size=3),
    st.lists(st.sampled_from(QUERIES) | st.text(max_size=20), min_size=1, max_size=4),
)
@pytest.mark.slow
def test_nothing_beyond_what_is_allowed_comes_out_of_a_catalogue(
    source: SnapshotSource, context: CallContext, clients: list[str], queries: list[str]
) -> None:
    allowed = allowed_by_hand(source, context, clients)
    catalogue = catalogue_of(source, context, clients)

    assert {each.name for each in catalogue.tools.descriptors} == allowed
    assert {*catalogue.names, *catalogue.always_visible, *(each.name for each in catalogue.clients)} <= allowed
    for query in queries:
        assert found(catalogue, query) <= allowed
        assert reached(catalogue, query) <= allowed
    listed = directory(catalogue.tools.descriptors).text
    assert {line.split(":")[0].removeprefix("- ") for line in listed.splitlines() if line.startswith("- ")} <= allowed


@pytest.mark.unhurried
@settings(max_examples=60, deadline=None)
@given(sources(), contexts(), st.sampled_from(NAMES))
@pytest.mark.slow
def test_a_tool_is_found_by_its_name_exactly_where_it_is_allowed(
    source: SnapshotSource, context: CallContext, name: str
) -> None:
    catalogue = catalogue_of(source, context, CLIENT)
    is_allowed = name in allowed_by_hand(source, context, CLIENT)

    assert (name in found(catalogue, name)) == is_allowed
    assert (reached(catalogue, name) == {name}) == is_allowed


def test_the_vocabulary_of_policies_meets_the_tools() -> None:
    assert {"*", "exec", "lobster"} <= set(ENTRIES) and {"exec", "lobster"} <= set(NAMES)
