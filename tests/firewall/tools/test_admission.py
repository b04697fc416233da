"""What a definition may not say at a door: members that nobody has, names that no schema describes."""

from pathlib import Path
from typing import Any

import pytest

from apps.firewall.runtime.kit import ToolNotReadyError, run_tool
from apps.firewall.tools.admission import admit_definition, undescribed
from apps.firewall.tools.configured import BY_NAME
from apps.firewall.tools.definition_json import DefinitionInvalidError, definition_json, read_definition
from apps.firewall.tools.lint import lint_definition

CITY = {"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city."}}}


def problems(document: Any, **how: Any) -> list[tuple[str, str]]:
    with pytest.raises(DefinitionInvalidError) as caught:
        admit_definition(document, **how)
    return [(each["path"], each["code"]) for each in caught.value.details]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"permisions": ["a:b"]}, "permisions"),
        ({"retry": {"max_retrys": 2}}, "retry.max_retrys"),
        ({"retryPolicy": {"retries": 2}}, "retryPolicy.retries"),
        ({"cache": {"ttl_ms": 10, "ttl": 1}}, "cache.ttl"),
        ({"sandbox": {"memory": 1}}, "sandbox.memory"),
        ({"rate_limit": {"per_minute": 1}}, "rate_limit.per_minute"),
        ({"examples": [{"parameters": {}}, {"parameters": {}, "answer": 1}]}, "examples[1].answer"),
        ({"formats": {"iban": "an IBAN"}}, "formats"),
    ],
)
def test_a_member_that_no_definition_has_is_refused_with_its_place(members: dict[str, Any], path: str) -> None:
    document = {"name": "get_weather", **members}

    assert problems(document) == [(path, "unknown_field")]
    assert problems(document, path="tools[3].") == [(f"tools[3].{path}", "unknown_field")]


def test_a_misspelt_member_says_what_was_meant() -> None:
    with pytest.raises(DefinitionInvalidError) as caught:
        admit_definition({"name": "get_weather", "permisions": []})
    assert caught.value.details[0]["message"].endswith("did you mean `permissions`?")


def test_every_mistake_is_told_at_once() -> None:
    schema = {"type": "object", "properties": {}, "required": ["city"]}
    document = {"name": "get weather", "colour": 1}
    assert problems(document) == [("colour", "unknown_field"), ("name", "bad_name")]
    assert problems({"name": "x", "colour": 1, "parameters": schema}) == [
        ("colour", "unknown_field"),
        ("parameters.required[0]", "required_unknown"),
    ]


@pytest.mark.parametrize("name", ["inputSchema", "input_schema", "params_schema"])
def test_other_spellings_and_mcps_own_members_are_read(name: str) -> None:
    document = {"name": "get_weather", name: CITY, "title": "Weather", "timeout": 2, "annotations": {}, "_meta": {}}
    assert admit_definition(document).label == "Weather"


UNDESCRIBED: list[tuple[dict[str, Any], list[str]]] = [
    ({"required": ["a"]}, ["required[0]"]),
    ({"properties": {"b": {}}, "required": ["b", "a"]}, ["required[1]"]),
    ({"properties": {"b": {"type": "object", "required": ["c"]}}}, ["properties.b.required[0]"]),
    ({"properties": {"b": {"items": {"properties": {}, "required": ["c"]}}}}, ["properties.b.items.required[0]"]),
    ({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, ["anyOf[1].required[0]"]),
    ({"$defs": {"place": {"properties": {"x": {}}, "required": ["y"]}}}, ["$defs.place.required[0]"]),
    ({"patternProperties": {"^x_": {}}, "required": ["x_1", "y_1"]}, ["required[1]"]),
]


@pytest.mark.parametrize(("schema", "places"), UNDESCRIBED)
def test_a_required_name_that_nothing_describes_is_found_at_every_depth(
    schema: dict[str, Any], places: list[str]
) -> None:
    assert [place for place, _name in undescribed(schema)] == places
    assert problems({"name": "x", "parameters": {"type": "object", **schema}}) == [
        (f"parameters.{place}", "required_unknown") for place in places
    ]
    assert problems({"name": "x", "output": schema})[0][0] == f"output.{places[0]}"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"properties": {"a": {}}}], "required": ["a"]},
        {"$ref": "#/$defs/base", "$defs": {"base": {"properties": {"a": {}}}}, "required": ["a"]},
        {"oneOf": [{"properties": {"a": {}}}], "required": ["a"]},
        {"additionalProperties": {"type": "string"}, "required": ["a"]},
        {"not": {"required": ["a"]}},
        {"properties": {"kind": {}, "a": {}}, "if": {"required": ["z"]}, "then": {"required": ["a"]}},
        {"properties": {"required": {"type": "array"}}},
        {"properties": {"a": {"enum": [{"required": ["z"]}]}}},
    ],
)
def test_a_name_that_is_described_where_it_holds_is_taken(schema: dict[str, Any]) -> None:
    assert list(undescribed(schema)) == []


def test_what_is_stored_already_is_read_whatever_doors_say_today() -> None:
    stored = {"name": "old", "parameters": {"type": "object", "required": ["a"]}, "colour": 1}
    assert read_definition(stored).name == "old"


def test_the_firewalls_own_tools_pass_their_own_door_and_have_no_errors() -> None:
    for name, tool in BY_NAME.items():
        assert admit_definition(definition_json(tool.definition)) == tool.definition
        errors = [each.message for each in lint_definition(tool.definition) if each.severity == "error"]
        assert errors == [], name


CLASSES = """
from openclaw_admin.tools import BaseTool

class Weather(BaseTool):
    "Tell the weather of a city."
    {attribute} = ["net:read"]
    def execute(self, city: str): return {{}}
"""


@pytest.mark.parametrize("attribute", ["permisions", "permission", "resource", "example"])
def test_a_class_that_nearly_states_a_member_is_no_tool(tmp_path: Path, attribute: str) -> None:
    (tmp_path / "weather_tool.py").write_text(CLASSES.format(attribute=attribute))
    with pytest.raises(ToolNotReadyError, match=f"has no member `{attribute}`; did you mean"):
        run_tool(tmp_path, "weather", {"city": "Bern"})


def test_attributes_of_ones_own_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "weather_tool.py").write_text(CLASSES.format(attribute="_permission"))
    assert run_tool(tmp_path, "weather", {"city": "Bern"}).status == "completed"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("@tool(permisions=['a:b'])\ndef tell(city: str): 'Tell.'\n", "no member `permisions`"),
        ("@tool(retry={'max_retrys': 3})\ndef tell(city: str): 'Tell.'\n", "retry.max_retrys: is no member"),
        (
            "@tool(parameters={'type': 'object', 'required': ['city']})\ndef tell(**params): 'Tell.'\n",
            "parameters.required[0]: `city` is required and no property has this name",
        ),
        (
            "class Tell(BaseTool):\n    'Tell.'\n    def get_definition(self): return {'colour': 1}\n"
            "    def execute(self, city: str): ...\n",
            "colour: is no member",
        ),
    ],
)
def test_a_python_tool_with_a_mistake_is_none_and_says_where(tmp_path: Path, code: str, said: str) -> None:
    (tmp_path / "tell_tool.py").write_text(f"from openclaw_admin.tools import BaseTool, tool\n\n{code}")
    with pytest.raises(ToolNotReadyError) as caught:
        run_tool(tmp_path, "tell", {"city": "Bern"})
    assert said in caught.value.message
