"""A tool to begin with: copy it, and replace what it knows by what yours knows."""

import json
from pathlib import Path
from typing import Literal

from openclaw_admin.tools import ToolContext, ToolError, ToolInputError, tool

READINGS = Path(__file__).with_name("readings.json")
OUTPUT = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "temperature": {"type": "number"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "sky": {"type": "string"},
    },
    "required": ["city", "temperature", "unit", "sky"],
}


@tool(
    label="Weather",
    version="1.0.0",
    category="weather",
    tags=["sample"],
    permissions=["weather:read"],
    timeout=5,
    idempotent=True,
    cache={"ttl_ms": 60_000},
    output=OUTPUT,
    examples=[{"parameters": {"city": "Bern"}, "description": "The weather of Bern in degrees Celsius."}],
)
def weather_get(city: str, context: ToolContext, unit: Literal["celsius", "fahrenheit"] = "celsius") -> dict:
    """Tell the weather of a city, as it was last measured.

    Args:
        city: name of the city in English, such as Bern.
        unit: of the temperature.
    """
    if not city.strip():
        raise ToolInputError("name a city")
    reading = readings(context).get(city.strip().lower())
    if reading is None:
        known = ", ".join(sorted(name.title() for name in readings(context)))
        raise ToolError(f"no station in {city}; there is one in {known}", code="city_unknown")
    celsius = reading["celsius"]
    temperature = celsius if unit == "celsius" else celsius * 9 / 5 + 32
    return {"city": city.strip().title(), "temperature": round(temperature, 1), "unit": unit, "sky": reading["sky"]}


def readings(context: ToolContext) -> dict:
    """Read what the stations measured: the file that the settings name, else the one beside this module."""
    return json.loads(Path(context.config.get("readings", READINGS)).read_text())
