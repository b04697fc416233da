"""Which thresholds count."""

from typing import Any

import pytest

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.runtime.loops import loop_settings, merged_loop_config

NEWER, OLDER = DIALECTS["2026.9"], DIALECTS["2026.2"]


def test_the_newer_release_has_no_thresholds_to_set() -> None:
    config = {"enabled": True, "warningThreshold": 2, "historySize": 5, "detectors": {"pingPong": False}}
    assert loop_settings(NEWER, config) == loop_settings(NEWER, {"enabled": True})


@pytest.mark.parametrize(
    ("config", "counts"),
    [
        ({"warningThreshold": 3}, (3, 20, 30)),
        ({"warningThreshold": 3.0, "criticalThreshold": 2}, (3, 4, 30)),
        ({"warningThreshold": 40}, (40, 41, 42)),
        ({"criticalThreshold": 30}, (10, 30, 31)),
        ({"warningThreshold": 0, "criticalThreshold": -1, "globalCircuitBreakerThreshold": 1.5}, (10, 20, 30)),
        ({"warningThreshold": True, "criticalThreshold": "25"}, (10, 20, 30)),
        ({"warningThreshold": float("inf"), "criticalThreshold": None}, (10, 20, 30)),
    ],
)
def test_thresholds_of_the_older_release_are_whole_and_rise(config: dict[str, Any], counts: tuple[int, ...]) -> None:
    settings = loop_settings(OLDER, config)
    assert (settings.warning, settings.critical, settings.breaker) == counts


def test_the_breaker_of_the_older_release_cannot_be_switched_off() -> None:
    switches = {"pingPong": False, "genericRepeat": False, "knownPollNoProgress": False, "globalCircuitBreaker": False}
    assert loop_settings(OLDER, {"detectors": switches}).detectors == (("global_circuit_breaker", "critical"),)
    assert len(loop_settings(OLDER, {"detectors": ["pingPong"]}).detectors) == 6


@pytest.mark.parametrize(
    ("shared", "own", "newer", "older"),
    [
        (None, None, None, None),
        ("yes", [], None, None),
        ({"enabled": True, "historySize": 3}, None, {"enabled": True, "historySize": 3}, None),
        (None, {"historySize": 3}, {"historySize": 3}, None),
        ({"historySize": 3}, {"historySize": 4}, {}, {"historySize": 4, "detectors": {}}),
        ({"enabled": True}, {"enabled": None}, {"enabled": True}, {"enabled": None, "detectors": {}}),
    ],
)
def test_an_agents_settings_go_over_the_global_ones(shared: Any, own: Any, newer: Any, older: Any) -> None:
    assert merged_loop_config(NEWER, shared, own) == newer
    assert merged_loop_config(OLDER, shared, own) == (newer if older is None else older)
