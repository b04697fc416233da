"""What loop detection does differently from release to release, and the settings it runs with.

Source: conformance README, `loop_detection.jsonl` and its dump rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

from apps.firewall.engine.dialect import Dialect

Level = Literal["warning", "critical"]

WARNING_BUCKET: Final = 10
WARNING_KEYS_KEPT: Final = 256
UNKNOWN_TOOL_THRESHOLD: Final = 10
CHURN_CALLS_PER_VARIANT: Final = 3

HISTORY_SIZE: Final = 30
WARNING_THRESHOLD: Final = 10
CRITICAL_THRESHOLD: Final = 20
BREAKER_THRESHOLD: Final = 30

# the names that configuration has for detectors that can be switched off
SWITCHES: Final[Mapping[str, str]] = MappingProxyType(
    {"generic_repeat": "genericRepeat", "known_poll_no_progress": "knownPollNoProgress", "ping_pong": "pingPong"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRules:
    """The manner of one release."""

    detectors: tuple[tuple[str, Level], ...]  # the first that finds something answers
    is_configurable: bool  # thresholds, size and switches come from the configuration; else only `enabled` does
    merges_members: bool  # an agent's settings are laid over the global ones; else only its `enabled` is
    by_run: bool  # calls of another run are not looked at
    keeps_refusals: bool  # a refused call stays in the history, between the outcomes of others
    reads_results: bool  # outcomes of commands, writes and sending tools are compared by what matters in them


_RULES: Final[Mapping[str, LoopRules]] = MappingProxyType(
    {
        "2026.9": LoopRules(
            detectors=(
                ("unknown_tool_repeat", "critical"),
                ("global_circuit_breaker", "critical"),
                ("known_poll_no_progress", "critical"),
                ("known_poll_no_progress", "warning"),
                ("ping_pong", "critical"),
                ("ping_pong", "warning"),
                ("generic_repeat", "critical"),
                ("argument_churn", "warning"),
                ("generic_repeat", "warning"),
            ),
            is_configurable=False,
            merges_members=False,
            by_run=True,
            keeps_refusals=True,
            reads_results=True,
        ),
        "2026.2": LoopRules(
            detectors=(
                ("global_circuit_breaker", "critical"),
                ("known_poll_no_progress", "critical"),
                ("known_poll_no_progress", "warning"),
                ("ping_pong", "critical"),
                ("ping_pong", "warning"),
                ("generic_repeat", "warning"),
            ),
            is_configurable=True,
            merges_members=True,
            by_run=False,
            keeps_refusals=False,
            reads_results=False,
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """What a session's calls are held against.

    Args:
        history_size: records kept.
        warning, critical, breaker: counts from which a detector speaks; each is higher than the one before.
        detectors: those that look, in order.
        key: of the digests in a history, at most 64 bytes. It keeps a stored history from giving away short params.
    """

    rules: LoopRules
    enabled: bool
    history_size: int = HISTORY_SIZE
    warning: int = WARNING_THRESHOLD
    critical: int = CRITICAL_THRESHOLD
    breaker: int = BREAKER_THRESHOLD
    detectors: tuple[tuple[str, Level], ...] = ()
    key: bytes = b""


def loop_rules(dialect: Dialect) -> LoopRules:
    """Return the manner of a release."""
    return _RULES[dialect.release]


def loop_settings(dialect: Dialect, config: Mapping[str, Any] | None, *, key: bytes = b"") -> LoopSettings:
    """Read the settings of a session.

    Args:
        config: a `loopDetection` block as OpenClaw has it; a member of another shape counts as absent.
    """
    rules, given = loop_rules(dialect), config or {}
    enabled = given.get("enabled") is True
    if not rules.is_configurable:
        return LoopSettings(rules=rules, enabled=enabled, detectors=rules.detectors, key=key)
    warning = _positive(given.get("warningThreshold"), WARNING_THRESHOLD)
    critical = max(_positive(given.get("criticalThreshold"), CRITICAL_THRESHOLD), warning + 1)
    breaker = max(_positive(given.get("globalCircuitBreakerThreshold"), BREAKER_THRESHOLD), critical + 1)
    return LoopSettings(
        rules=rules,
        enabled=enabled,
        history_size=_positive(given.get("historySize"), HISTORY_SIZE),
        warning=warning,
        critical=critical,
        breaker=breaker,
        detectors=_switched_on(rules, given.get("detectors")),
        key=key,
    )


def _positive(given: Any, default: int) -> int:
    is_whole = isinstance(given, int | float) and not isinstance(given, bool) and given == given // 1
    return int(given) if is_whole and given > 0 else default


def _switched_on(rules: LoopRules, given: Any) -> tuple[tuple[str, Level], ...]:
    switches = given if isinstance(given, Mapping) else {}
    off = {name for name, switch in SWITCHES.items() if switches.get(switch) is False}
    return tuple((name, level) for name, level in rules.detectors if name not in off)


def merged_loop_config(dialect: Dialect, shared: Any, own: Any) -> dict[str, Any] | None:
    """Lay an agent's `loopDetection` block over the global one.

    Args:
        shared: the global block.
        own: the agent's.
    Returns:
        The block that counts; None when neither is set.
    """
    blocks = [block for block in (shared, own) if isinstance(block, Mapping)]
    if len(blocks) < 2:
        return dict(blocks[0]) if blocks else None
    outer, inner = blocks
    if not loop_rules(dialect).merges_members:
        enabled = outer.get("enabled") if inner.get("enabled") is None else inner["enabled"]
        return {} if enabled is None else {"enabled": enabled}
    switches = [block.get("detectors") for block in blocks]
    detectors = {name: value for block in switches if isinstance(block, Mapping) for name, value in block.items()}
    return {**outer, **inner, "detectors": detectors}
