"""What a before-hook may answer: `{block, blockReason, params, requireApproval}`, all of them optional."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.runtime.hooks.handlers import FailureKind, HookFailedError
from apps.firewall.runtime.hooks.json_copy import NotJsonError, TooLargeError, json_copy
from apps.firewall.runtime.hooks.rules import APPROVAL_DEFAULT_MS, APPROVAL_MAXIMUM_MS, HookRules

ANSWER_LIMIT_BYTES: Final = 1_000_000
DECISIONS: Final = ("allow-once", "allow-always", "deny")
_TEXT_LIMIT: Final = 2_000
_SEVERITIES: Final = ("info", "warning", "critical")
_SHAPES: Final[Mapping[str, tuple[type, str]]] = {
    "block": (bool, "a boolean"),
    "blockReason": (str, "a text"),
    "params": (dict, "an object"),
    "requireApproval": (dict, "an object"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalWish:
    """A plugin wants a person asked before the call runs. Its texts are its own words, cut.

    Args:
        timeout_ms: how long the question stands, at most `APPROVAL_MAXIMUM_MS`.
        decisions: of `DECISIONS`, those that may be answered.
    """

    plugin: str
    title: str
    description: str
    severity: str
    timeout_ms: int
    decisions: tuple[str, ...] = DECISIONS


@dataclass(frozen=True, slots=True)
class Answer:
    """One handler's answer, copied. A member that was not given is None."""

    block: Any = None
    reason: Any = None
    params: Any = None
    wish: ApprovalWish | None = None


def read_answer(given: Any, *, plugin: str, rules: HookRules) -> Answer:
    """Read what a handler returned.

    Raises:
        HookFailedError: it is no JSON, too large, or of another shape where the rules call that a failure.
    """
    if given is None:
        return Answer()
    if type(given) is not dict:
        if rules.wrong_answer_fails:
            raise HookFailedError("its answer is not an object")
        return Answer()
    parts = {name: given.get(name) for name in _SHAPES}
    if rules.wrong_answer_fails:
        _check_shapes(parts)
    try:
        parts = json_copy(parts, limit_bytes=ANSWER_LIMIT_BYTES)
    except NotJsonError as exc:
        kind: FailureKind = "huge_answer" if isinstance(exc, TooLargeError) else "wrong_answer"
        raise HookFailedError(f"its answer cannot be used: {exc.message}", kind=kind) from exc
    wish = _read_wish(parts["requireApproval"], plugin) if rules.asks_people else None
    return Answer(parts["block"], parts["blockReason"], parts["params"], wish)


def _check_shapes(parts: Mapping[str, Any]) -> None:
    for name, (kind, said) in _SHAPES.items():
        if parts[name] is not None and not isinstance(parts[name], kind):
            raise HookFailedError(f"`{name}` of its answer is not {said}")


def _read_wish(given: Any, plugin: str) -> ApprovalWish | None:
    """Read a request for a person; one that says less is a request all the same."""
    if given is None or given is False:
        return None
    said = given if isinstance(given, dict) else {}
    severity, timeout = said.get("severity"), said.get("timeoutMs")
    is_time = isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout > 0
    return ApprovalWish(
        plugin=plugin,
        title=_text(said.get("title")),
        description=_text(said.get("description")),
        severity=severity if severity in _SEVERITIES else "warning",
        timeout_ms=min(int(timeout), APPROVAL_MAXIMUM_MS) if is_time and timeout else APPROVAL_DEFAULT_MS,
        decisions=_decisions(said.get("allowedDecisions")),
    )


def _decisions(given: Any) -> tuple[str, ...]:
    """Read what a person may answer; that they may always say no is not the plugin's to decide."""
    if not isinstance(given, list):
        return DECISIONS
    return tuple(each for each in DECISIONS if each in given or each == "deny")


def _text(given: Any) -> str:
    return given[:_TEXT_LIMIT] if isinstance(given, str) else ""


def is_true(value: Any) -> bool:
    """Say whether JavaScript takes a JSON value for true: empty lists and objects are."""
    return value is not None and value is not False and value != 0 and value != ""
