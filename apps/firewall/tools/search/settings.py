"""The configuration `tools.toolSearch`: how a run's catalogue is offered, and how much one search answers.

Source: OpenClaw, "Tool Search", sections "Modes" and "Config".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from apps.firewall.tools.aliases import OLDER
from apps.firewall.tools.mistakes import Problem, shown
from apps.firewall.tools.near import did_you_mean

Mode: TypeAlias = Literal["off", "tools", "directory", "code"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
CHOSEN_MODES: Final[tuple[Mode, ...]] = ("tools", "directory", "code")
"""What `mode` may say; `off` is said by `false` or `enabled`."""

BLOCK: Final = "toolSearch"
PLACE: Final = "tools.toolSearch"
CODE_TIMEOUT_MS: Final = 10_000
DEFAULT_LIMIT: Final = 8
MAX_LIMIT: Final = 20
LOCAL_LIMITS: Final = (5, 10)
"""What one search answers by itself, and at most, for a model that runs on somebody's own machine."""

RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "codeTimeoutMs": (1_000, 60_000),
    "searchDefaultLimit": (1, 50),
    "maxSearchLimit": (1, 50),
}
MEMBERS: Final = ("enabled", "mode", *RANGES)

_LOCAL_PROVIDERS: Final = frozenset({"ollama", "lmstudio"})
_HOSTED_TAGS: Final = (":cloud", "-cloud")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearchSettings:
    """How a run's catalogue is offered.

    Args:
        is_explicit: somebody chose it; otherwise it is what the release does when nobody says anything.
        code_timeout_ms: after which a body of code is ended, with all that it waits for.
        default_limit: candidates of a search that names no limit.
        max_limit: candidates that a search gets at most.
        problems: what could not be read or was brought into its range, each `{"path", "code", "message"}`.
    """

    mode: Mode
    is_explicit: bool = False
    code_timeout_ms: int = CODE_TIMEOUT_MS
    default_limit: int = DEFAULT_LIMIT
    max_limit: int = MAX_LIMIT
    problems: tuple[Problem, ...] = ()


def read_tool_search(value: object, dialect: str, *, is_local: bool = False) -> ToolSearchSettings:
    """Read the block of a configuration. What cannot be read counts as absent, and is named among the problems.

    Args:
        value: of `tools.toolSearch`; None where nobody says anything.
        dialect: the release, which has its own way when nobody says anything.
        is_local: the model runs on somebody's own machine (`is_local_model`): smaller limits, unless somebody chose.
    """
    if isinstance(value, bool):
        return ToolSearchSettings(mode="code" if value else "off", is_explicit=True)
    if isinstance(value, Mapping):
        return _of_object(value)
    unset: Mode = "off" if dialect == OLDER else "tools"
    default, most = LOCAL_LIMITS if is_local else (DEFAULT_LIMIT, MAX_LIMIT)
    problems = () if value is None else (_wrong("", "true, false or an object", value),)
    return ToolSearchSettings(mode=unset, default_limit=default, max_limit=most, problems=problems)


def is_local_model(provider: str, model: str = "") -> bool:
    """Say whether a model is known to run on somebody's own machine; no address and no name of a model says so alone.

    A model of Ollama with the tag of its hosted service does not.
    """
    if provider.strip().lower() not in _LOCAL_PROVIDERS:
        return False
    return provider.strip().lower() != "ollama" or not model.strip().lower().endswith(_HOSTED_TAGS)


def tool_search_problems(value: object) -> tuple[Problem, ...]:
    """List what is wrong with a block, whatever the release; empty when it is understood as it stands."""
    return read_tool_search(value, "").problems


def _of_object(block: Mapping[str, Any]) -> ToolSearchSettings:
    problems = list(_strangers(block))
    enabled, mode = block.get("enabled", True), block.get("mode", "code")
    if not isinstance(enabled, bool):
        problems.append(_wrong("enabled", "true or false", enabled))
    if mode not in CHOSEN_MODES:
        problems.append(_no_mode(mode))
        mode = "tools"
    numbers = {name: _number(block, name, problems) for name in RANGES}
    most = numbers["maxSearchLimit"] or MAX_LIMIT
    default = numbers["searchDefaultLimit"]
    if default is not None and default > most:
        problems.append(_clamped("searchDefaultLimit", f"`maxSearchLimit`, {most}", default))
    return ToolSearchSettings(
        mode=mode if enabled is not False else "off",
        is_explicit=True,
        code_timeout_ms=numbers["codeTimeoutMs"] or CODE_TIMEOUT_MS,
        default_limit=min(default or DEFAULT_LIMIT, most),
        max_limit=most,
        problems=tuple(problems),
    )


def _strangers(block: Mapping[str, Any]) -> Iterator[Problem]:
    for name in block:
        if name not in MEMBERS:
            yield _problem(str(name), "unknown_field", f"is not known here{did_you_mean(str(name), MEMBERS)}")


def _number(block: Mapping[str, Any], name: str, problems: list[Problem]) -> int | None:
    """Return a number within its range; None where there is none."""
    value = block.get(name)
    if name not in block:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        problems.append(_wrong(name, "a whole number", value))
        return None
    least, most = RANGES[name]
    if value < least:
        problems.append(_clamped(name, f"the least, {least}", value))
    if value > most:
        problems.append(_clamped(name, f"the most, {most}", value))
    return min(max(value, least), most)


def _no_mode(mode: object) -> Problem:
    if not isinstance(mode, str):
        return _wrong("mode", f"one of {', '.join(CHOSEN_MODES)}", mode)
    known = f"{', '.join(CHOSEN_MODES)}, got {shown(mode)}{did_you_mean(mode, CHOSEN_MODES)}"
    return _problem("mode", "enum_mismatch", f"must be one of {known}")


def _wrong(name: str, wanted: str, value: object) -> Problem:
    return _problem(name, "type_mismatch", f"must be {wanted}, got {shown(value)}")


def _clamped(name: str, limit: str, value: int) -> Problem:
    return _problem(name, "out_of_range", f"is brought to {limit}, got {value}")


def _problem(name: str, code: str, words: str) -> Problem:
    path = f"{PLACE}.{name}" if name else PLACE
    return {"path": path, "code": code, "message": f"`{path}` {words}"}
