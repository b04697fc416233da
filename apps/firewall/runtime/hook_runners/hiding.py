"""Takes the secrets of a hook's record out of what it says to agents and people. Params that it makes stay its own."""

from collections.abc import Iterable
from typing import Any, Final

from apps.firewall.runtime.hooks.handlers import HookFailedError
from apps.firewall.tools.connections import hidden

WORDS: Final = ("blockReason", "requireApproval")
"""Members of an answer that agents or people read."""


def failure_without_secrets(failure: HookFailedError, secrets: Iterable[str]) -> HookFailedError:
    """Copy a failure; what its code raised may hold what it was given."""
    kept = tuple(secrets)
    return HookFailedError(hidden(failure.message, kept), hidden(failure.said, kept), kind=failure.kind)


def answer_without_secrets(answer: Any, secrets: Iterable[str]) -> Any:
    """Copy an answer with the secrets in its words hidden."""
    kept = tuple(secrets)
    if not kept or not isinstance(answer, dict):
        return answer
    return answer | {name: _hidden(answer[name], kept) for name in WORDS if name in answer}


def _hidden(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return hidden(value, secrets)
    if isinstance(value, dict):
        return {name: _hidden(each, secrets) for name, each in value.items()}
    return [_hidden(each, secrets) for each in value] if isinstance(value, list) else value
