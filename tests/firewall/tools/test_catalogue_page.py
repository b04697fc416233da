"""The catalogue page: every tool once, in order, and strangers' words as words."""

from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.catalogue_page import CatalogueEntry, catalogue_markdown
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import read_definition
from tests.firewall.tools.lint.clean import CLEAN


def entry(definition: Definition) -> CatalogueEntry:
    return CatalogueEntry(definition=definition, source="plugin", state="active")


def test_it_shows_a_tool_with_its_params_limits_and_example() -> None:
    definition = read_definition(
        {
            "name": "create_issue",
            "description": "Open an issue.",
            "section": "code",
            "version": "2.0",
            "permissions": ["repo:write"],
            "parameters": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "description": "One line.", "maxLength": 256},
                    "labels": {"type": "array", "items": {"type": "string"}, "description": "Existing labels"},
                    "priority": {"enum": ["low", "high"], "default": "low"},
                },
                "required": ["title"],
            },
            "examples": [{"description": "a bug", "parameters": {"title": "It ```breaks```"}}],
        }
    )

    page = catalogue_markdown([entry(definition)], title="Tools of production")

    assert page.splitlines()[:5] == ["# Tools of production", "", "1 tool.", "", "## code"]
    assert "*source plugin; state active; version 2.0; permissions `repo:write`*" in page
    assert "| `title` (required) | string | One line. 256 characters at most |" in page
    assert "| `labels` | list of string | Existing labels |" in page
    assert "| `priority` | one of low, high | default low |" in page
    assert "Example: a bug" in page and "````json" in page


def test_sections_and_names_are_in_order() -> None:
    page = catalogue_markdown((entry(read_definition(document)) for document in CLEAN), title="All")

    names = [line.removeprefix("### ").strip("`") for line in page.splitlines() if line.startswith("### ")]
    assert names == sorted(document["name"] for document in CLEAN)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_description_becomes_markup(description: str, meaning: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": meaning}}}
    definition = Definition(name="say", description=f"<b> | {description}", parameters=schema)

    page = catalogue_markdown([entry(definition)], title="x")

    lines = page.split("\n")
    assert sum(line.startswith("#") for line in lines) == 3
    assert "<b>" not in page
    (row,) = [line for line in lines if line.startswith("| `a`")]
    assert row.replace("\\|", "").count("|") == 4
