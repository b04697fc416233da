"""Which resources a call touches."""

from typing import Any, get_args

import pytest

from apps.firewall.engine.resources import MATCHERS
from apps.firewall.tools.definition import Definition, ResourceKind
from apps.firewall.tools.definition_json import DefinitionInvalidError, definition_json, read_definition
from apps.firewall.tools.resources import ResourceUnreadableError, resources_of


def touched(resources: Any, params: dict[str, Any]) -> list[tuple[str, str]]:
    definition = Definition(name="copy", resources=resources)
    return [(each.kind, each.value) for each in resources_of(definition, params)]


def test_params_are_found_in_objects_and_lists() -> None:
    params = {"files": [{"from": "/a"}, {"from": "/b"}, {}], "to": "/c", "db": None}

    assert touched({"path": ("files.from", "to"), "database": "db"}, params) == [
        ("path", "/a"),
        ("path", "/b"),
        ("path", "/c"),
    ]


@pytest.mark.parametrize(
    ("written", "domain"),
    [
        ("https://API.example.com/v1?x=1", "api.example.com"),
        ("wss://example.com:8443/x", "example.com"),
        ("example.com", "example.com"),
        ("example.com:25", "example.com"),
        ("http://127.0.0.1/", "127.0.0.1"),
    ],
)
def test_a_domain_is_read_from_an_address(written: str, domain: str) -> None:
    assert touched({"domain": "url"}, {"url": written}) == [("domain", domain)]


@pytest.mark.parametrize(
    "written",
    ["https://good.com\\@evil.com/", "https://good.com@evil.com", "https://", "", "https://evil.com\t.good.com", 7, {}],
)
def test_what_names_no_resource_is_refused(written: Any) -> None:
    with pytest.raises(ResourceUnreadableError):
        touched({"domain": "url"}, {"url": written})


def test_a_definition_tells_which_params_are_resources() -> None:
    document = {"name": "copy", "permissions": ["fs:read"], "resources": {"path": ["from", "to"], "database": "db"}}

    definition = read_definition(document)

    assert definition_json(definition)["resources"] == document["resources"]
    assert read_definition(definition_json(definition)) == definition


def test_an_unknown_kind_of_resource_is_a_mistake() -> None:
    with pytest.raises(DefinitionInvalidError) as refused:
        read_definition({"name": "copy", "resources": {"moon": "x"}})

    assert refused.value.details[0]["path"].startswith("resources.moon")


def test_the_engine_compares_every_kind_that_a_definition_may_name() -> None:
    assert set(MATCHERS) == set(get_args(ResourceKind))
