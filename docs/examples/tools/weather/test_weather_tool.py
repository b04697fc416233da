"""How a tool is tested: each call runs as in production, confined and under its limits."""

from pathlib import Path

from openclaw_admin.testing import run_tool

HERE = Path(__file__).parent


def test_it_tells_the_weather() -> None:
    answer = run_tool(HERE, "weather_get", {"city": "oslo", "unit": "fahrenheit"})
    assert (answer.status, answer.error) == ("completed", None)
    assert answer.result == {"city": "Oslo", "temperature": 20.8, "unit": "fahrenheit", "sky": "snow"}


def test_a_model_can_correct_itself() -> None:
    answer = run_tool(HERE, "weather_get", {"town": "oslo"})
    assert answer.error is not None
    assert (answer.status, answer.error["code"]) == ("denied", "parameter_validation_failed")
    assert answer.error["details"][0]["path"] == "city"


def test_an_unknown_city_names_those_that_are_known() -> None:
    answer = run_tool(HERE, "weather_get", {"city": "Atlantis"})
    assert answer.error is not None
    assert answer.error["code"] == "city_unknown"
    assert "Bern, Lisbon, Oslo" in answer.error["message"]


def test_who_was_not_granted_it_does_not_get_it() -> None:
    answer = run_tool(HERE, "weather_get", {"city": "Bern"}, withheld=["weather:read"])
    assert answer.judgement is not None
    assert (answer.status, answer.judgement.layer) == ("denied", "permissions")
