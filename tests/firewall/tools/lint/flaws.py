"""Definitions with one flaw each, and the code by which the flaw is told."""

from typing import Any

from tests.firewall.tools.lint.clean import text, tool, whole

GOOD = "Read the current weather of a city: temperature, humidity and wind."
CITY = text("City and country, such as Oslo, Norway")


def weather(**members: Any) -> dict[str, Any]:
    return {**tool("get_weather", GOOD, "city", city=CITY), **members}


def with_param(name: str = "unit", *, required: tuple[str, ...] = ("city",), **schema: Any) -> dict[str, Any]:
    return tool("get_weather", GOOD, *required, city=CITY, **{name: schema})


def schema(**members: Any) -> dict[str, Any]:
    return weather(parameters={"type": "object", "properties": {"city": CITY}, **members})


FLAWS: list[tuple[str, dict[str, Any]]] = [
    ("name_style", weather(name="getWeather")),
    ("name_without_action", weather(name="weather")),
    ("name_vague", weather(name="do_something")),
    ("name_vague", weather(name="tool1")),
    ("name_long", weather(name="get_" + "weather_" * 9 + "now")),
    ("name_reserved", weather(name="tool_search")),
    ("name_changed_by_provider", weather(name="get.weather")),
    ("description_missing", weather(description=" ")),
    ("description_short", weather(description="Weather data.")),
    ("description_repeats_name", weather(description="Gets the weather.")),
    ("description_vague", weather(description="A helper function that does stuff with the weather.")),
    ("description_long", weather(description=GOOD * 20)),
    ("param_undescribed", with_param(type="string")),
    ("param_description_repeats_name", with_param(type="string", description="The unit")),
    ("param_untyped", with_param(description="Scale of the temperature shown")),
    ("param_should_be_enum", with_param(type="string", description="Scale, one of celsius, fahrenheit or kelvin")),
    ("param_should_be_enum", with_param(type="string", description='Must be "celsius" | "fahrenheit"')),
    (
        "param_should_be_boolean",
        with_param("details", type="string", enum=["yes", "no"], description="Show wind and rain too"),
    ),
    ("param_should_be_number", with_param("day_count", type="string", description="How far the forecast reaches")),
    ("param_name_vague", with_param("data", type="string", description="Scale of the temperature shown")),
    ("param_name_style", tool("get_weather", GOOD, city_name=CITY, country_code=CITY, zipCode=CITY)),
    ("params_many", tool("get_weather", GOOD, **{f"city_{number}": CITY for number in range(21)})),
    ("array_without_items", with_param("days", type="array", description="Days of the forecast wanted")),
    ("object_without_properties", with_param("area", type="object", description="Corner points of the area")),
    (
        "required_unknown",
        with_param(type="string", description="Scale of the temperature shown", required=("city", "country")),
    ),
    (
        "required_has_default",
        with_param(type="string", description="Scale of the temperature shown", default="C", required=("city", "unit")),
    ),
    ("default_invalid", with_param(type="integer", description="Scale of the temperature shown", default="celsius")),
    ("enum_repeats", with_param(enum=["C", "F", "C"], type="string", description="Scale of the temperature shown")),
    (
        "bounds_contradict",
        with_param("days", type="integer", minimum=7, maximum=3, description="Reach of the forecast"),
    ),
    ("secret_not_sensitive", with_param("api_key", type="string", description="Credential of the weather service")),
    (
        "params_deep",
        with_param(
            "area",
            type="object",
            description="Corner points of the area",
            properties={
                "a": {
                    "type": "object",
                    "description": "First corner of it",
                    "properties": {
                        "b": {
                            "type": "object",
                            "description": "Where it lies there",
                            "properties": {
                                "c": {
                                    "type": "object",
                                    "description": "Its own coordinates",
                                    "properties": {"d": whole("Degrees to the north")},
                                }
                            },
                        }
                    },
                }
            },
        ),
    ),
    (
        "union_at_root",
        weather(
            parameters={
                "anyOf": [
                    {"type": "object", "properties": {"city": CITY}},
                    {"type": "object", "properties": {"zip": CITY}},
                ]
            }
        ),
    ),
    (
        "union_nested",
        with_param(anyOf=[{"type": "string"}, {"type": "integer"}], description="Scale of the temperature shown"),
    ),
    ("format_stripped", with_param("day", type="string", format="date", description="Day of the forecast wanted")),
    ("format_unknown", with_param("plate", type="string", format="car-plate", description="Plate of the car wanted")),
    ("keyword_stripped", with_param("note", type="string", minLength=3, description="Remark printed under the answer")),
    ("reference_resolved", schema(**{"$defs": {"place": CITY}, "properties": {"city": {"$ref": "#/$defs/place"}}})),
    ("example_invalid", weather(examples=[{"parameters": {"city": 7}}])),
    ("permission_form", weather(permissions=["everything"])),
    ("version_form", weather(version="latest")),
    ("dependency_form", weather(dependencies=["http x"])),
    ("sensitive_unknown", weather(sensitive=["password"])),
    ("resource_unknown", weather(resources={"domain": "url"})),
    ("context_unknown", weather(context_mappings={"caller": "sender.id"})),
    ("context_param_required", weather(context_mappings={"city": "sender.id"})),
    ("secret_in_config", weather(config={"service": {"api_key": "abc123"}})),
    ("cache_not_idempotent", weather(cache={"ttl_ms": 1000})),
    ("retry_not_idempotent", weather(retry={"max_retries": 3})),
    ("cache_key_unknown", weather(idempotent=True, cache={"ttl_ms": 1000, "key": ["town"]})),
    ("successor_itself", weather(successor="get_weather")),
    (
        "enum_large",
        with_param(type="string", enum=[f"v{number}" for number in range(101)], description="Station that measures it"),
    ),
]
