"""Which tool is meant, and with what: flattened arguments are understood, and what may mean two things is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.errors import FirewallError
from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.selecting import (
    CallRequestError,
    Catalogue,
    SelectorAmbiguousError,
    ToolUnknownError,
    describe,
    find,
    read_call,
)
from tests.firewall.tools.search.catalogues import TEXT, tool

READ = tool("core:read", "Read a file.", path=TEXT)
TICKET = tool("plugin:desk:ticket_update", "Change a ticket.", id=TEXT, name=TEXT, title=TEXT)
EVENT = tool("mcp:calendar:create_event", "Add an event.", summary=TEXT, start=TEXT)
RUN = tool("plugin:shell:run_program", "Run a program.", program=TEXT, args={"type": "array", "items": TEXT})
ONE, OTHER = tool("mcp:a:send", "Send."), tool("mcp:b:send", "Send.")
TOOLS = Catalogue([READ, TICKET, EVENT, RUN, ONE, OTHER])


@pytest.mark.parametrize("selector", ["mcp:calendar:create_event", "create_event", " create_event "])
def test_a_tool_goes_by_its_id_and_by_its_name(selector: str) -> None:
    assert find(TOOLS, selector) is EVENT


def test_a_name_of_two_tools_is_refused_with_their_ids() -> None:
    with pytest.raises(SelectorAmbiguousError) as refused:
        find(TOOLS, "send")

    assert refused.value.ids == ("mcp:a:send", "mcp:b:send")
    assert "`mcp:a:send`, `mcp:b:send`" in refused.value.message
    assert find(TOOLS, "mcp:b:send") is OTHER


def test_an_unknown_tool_is_answered_from_the_catalogue_alone() -> None:
    with pytest.raises(ToolUnknownError) as misspelt:
        find(TOOLS, "create_evnet")
    with pytest.raises(ToolUnknownError) as elsewhere:
        find([READ], "create_event")

    assert misspelt.value.message == 'no tool "create_evnet" can be called here; did you mean `create_event`?'
    assert elsewhere.value.message == 'no tool "create_event" can be called here'


@pytest.mark.parametrize("selector", ["READ", "tool_call", "core:", "__proto__", "", "core:read\0"])
def test_nothing_but_an_exact_name_will_do(selector: str) -> None:
    with pytest.raises(ToolUnknownError):
        find(TOOLS, selector)


@pytest.mark.parametrize(
    ("params", "called", "args"),
    [
        ({"id": "core:read", "args": {"path": "a"}}, READ, {"path": "a"}),
        ({"id": "read", "args": {"path": "a"}}, READ, {"path": "a"}),
        ({"name": "read", "args": {"path": "a"}}, READ, {"path": "a"}),
        ({"id": "read"}, READ, {}),
        ({"id": "read", "args": None}, READ, {}),
        # flattened
        ({"id": "read", "path": "a"}, READ, {"path": "a"}),
        ({"name": "create_event", "summary": "Ball", "start": "20:00"}, EVENT, {"summary": "Ball", "start": "20:00"}),
        ({"id": "read", "args": {}, "path": "a"}, READ, {"path": "a"}),
        ({"id": "read", "args": {"path": "a"}, "path": "a"}, READ, {"path": "a"}),
        # other words for `args`
        ({"id": "read", "arguments": {"path": "a"}}, READ, {"path": "a"}),
        ({"id": "read", "parameters": '{"path": "a"}'}, READ, {"path": "a"}),
        ({"id": "read", "args": '{"path": "a"}'}, READ, {"path": "a"}),
        # fields of the target stay
        ({"id": "ticket_update", "name": "Broken door"}, TICKET, {"name": "Broken door"}),
        ({"name": "ticket_update", "id": "T-17", "title": "Door"}, TICKET, {"id": "T-17", "title": "Door"}),
        ({"name": "ticket_update", "id": 17}, TICKET, {"id": 17}),
        ({"id": "ticket_update", "args": {"id": "T-17", "name": "read"}}, TICKET, {"id": "T-17", "name": "read"}),
        ({"id": "run_program", "program": "ls", "args": ["-l"]}, RUN, {"program": "ls", "args": ["-l"]}),
        ({"id": "run_program", "args": {"program": "ls", "args": []}}, RUN, {"program": "ls", "args": []}),
        # a selector that only repeats the first
        ({"id": "core:read", "name": "read", "path": "a"}, READ, {"path": "a"}),
    ],
)
def test_a_call_is_understood(params: dict[str, Any], called: Descriptor, args: dict[str, Any]) -> None:
    assert read_call(params, TOOLS) == (called, args)


def test_params_are_known_behind_a_reference_and_in_a_form_too() -> None:
    form = {"type": "object", "properties": {"args": TEXT}}
    hidden = Descriptor(
        id="core:hidden",
        name="hidden",
        source="core",
        parameters={"anyOf": [{"$ref": "#/$defs/f"}], "$defs": {"f": form}},
    )

    assert read_call({"id": "hidden", "args": "-l"}, [hidden]) == (hidden, {"args": "-l"})


@pytest.mark.parametrize(
    ("params", "ids"),
    [
        ({"id": "read", "name": "create_event", "args": {}}, ("core:read", "mcp:calendar:create_event")),
        ({"id": "ticket_update", "name": "read"}, ("plugin:desk:ticket_update", "core:read")),
        ({"id": "read", "name": "send"}, ("core:read", "mcp:a:send", "mcp:b:send")),
        ({"id": "plugin:desk:ticket_update", "name": "ticket_update"}, ("plugin:desk:ticket_update",)),
        ({"id": "send", "args": {}}, ("mcp:a:send", "mcp:b:send")),
    ],
)
def test_what_may_mean_two_tools_calls_none(params: dict[str, Any], ids: tuple[str, ...]) -> None:
    with pytest.raises(SelectorAmbiguousError) as refused:
        read_call(params, TOOLS)

    assert refused.value.ids == ids


@pytest.mark.parametrize(
    ("params", "path", "code"),
    [
        ({}, "id", "required_field_missing"),
        ({"id": "", "args": {}}, "id", "required_field_missing"),
        ({"id": 5}, "id", "required_field_missing"),
        ({"id": "read", "args": "a.txt"}, "args", "type_mismatch"),
        ({"id": "read", "args": ["a.txt"]}, "args", "type_mismatch"),
        ({"id": "read", "args": {"path": "a"}, "path": "b"}, "path", "given_twice"),
    ],
)
def test_what_cannot_be_read_names_field_and_rule(params: dict[str, Any], path: str, code: str) -> None:
    with pytest.raises(CallRequestError) as refused:
        read_call(params, TOOLS)

    (problem,) = refused.value.details
    assert (problem["path"], problem["code"]) == (path, code)


def test_neither_selector_leads_to_a_tool() -> None:
    with pytest.raises(ToolUnknownError, match="gone"):
        read_call({"id": "gone", "name": "Door"}, TOOLS)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["read", "send", "{", '{"a": 1}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["id", "name", "args", "arguments", "params", "path", "title"])


@given(st.dictionaries(FIELDS, JSON_VALUES, max_size=6))
def test_whatever_a_model_sends_is_a_tool_of_the_catalogue_or_a_named_refusal(params: dict[str, Any]) -> None:
    try:
        called, args = read_call(params, TOOLS)
    except FirewallError as refused:
        assert refused.code in ("tool_unknown", "tool_selector_ambiguous", "tool_call_invalid")
    else:
        assert called in TOOLS.descriptors
        assert isinstance(args, dict)


def test_a_description_holds_the_schema_and_what_the_author_promises() -> None:
    sums = Descriptor(
        id="plugin:calc:sum",
        name="sum",
        source="plugin",
        label="Sum",
        description="Add numbers.",
        parameters={"type": "object"},
        output={"type": "number"},
    )

    assert describe(sums) == {
        "id": "plugin:calc:sum",
        "name": "sum",
        "source": "plugin",
        "label": "Sum",
        "description": "Add numbers.",
        "parameters": {"type": "object"},
        "outputSchema": {"type": "number"},
    }


def test_what_a_stranger_promises_of_its_result_is_not_told() -> None:
    stranger = Descriptor(
        id="mcp:x:sum", name="sum", source="mcp", parameters={}, output={"type": "number"}, is_trusted=False
    )

    assert "outputSchema" not in describe(stranger)
    assert describe(stranger)["trusted"] is False
