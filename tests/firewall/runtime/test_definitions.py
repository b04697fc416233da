"""A snapshot's entry of a tool, read as a whole definition."""

import pytest

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.tools.definition import OPEN_SCHEMA, RateLimit
from apps.firewall.tools.definition_json import DefinitionInvalidError


def test_an_entry_and_its_traits_make_one_definition() -> None:
    entry = ToolEntry(
        "mail_send",
        label="Send mail",
        description="Send one mail.",
        section="mail",
        owner_only=True,
        params={"type": "object", "properties": {"to": {"type": "string"}}},
        sensitive=("body",),
        traits={"timeout_ms": 500, "sensitive": ["to", "body"], "rate_limit": {"requests_per_minute": 3}},
    )

    definition = definition_of(entry)

    assert (definition.name, definition.label, definition.section) == ("mail_send", "Send mail", "mail")
    assert definition.parameters == entry.params
    assert definition.sensitive == ("body", "to")
    assert (definition.timeout_ms, definition.rate_limit) == (500, RateLimit(requests_per_minute=3))
    assert definition_of(entry) is definition


def test_a_tool_without_a_schema_takes_any_params() -> None:
    assert definition_of(ToolEntry("web_search")).parameters == OPEN_SCHEMA


def test_traits_that_are_none_are_an_error_that_names_the_member() -> None:
    with pytest.raises(DefinitionInvalidError) as caught:
        definition_of(ToolEntry("web_search", traits={"timeout_ms": "soon"}))

    assert caught.value.details[0]["path"] == "timeout_ms"
