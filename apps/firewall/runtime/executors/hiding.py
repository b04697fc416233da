"""Takes the secrets of a source out of what its tools answer: they were given them, nobody else was."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from apps.firewall.runtime.executors.sendable import sendable
from apps.firewall.tools.connections import HIDDEN_LETTERS, hidden
from apps.firewall.tools.running import Cause, ToolOutcome


def without_secrets(outcome: ToolOutcome, secrets: Iterable[str]) -> ToolOutcome:
    """Replace texts that an answer says back, in its result and its error; short ones stay, they are ordinary words."""
    kept = tuple(secrets)
    outcome = sendable(outcome) if kept else outcome
    if not kept or not _says_any(outcome, kept):
        return outcome
    error = None if outcome.error is None else {name: hidden(text, kept) for name, text in outcome.error.items()}
    return replace(outcome, result=_copied(outcome.result, kept), error=error)


def cause_without(cause: Cause, secrets: Iterable[str], *, least: int = HIDDEN_LETTERS) -> Cause:
    """Replace the same texts in what a tool raised.

    Args:
        least: letters of a text that is no ordinary word.
    """
    kept = tuple(secrets)
    return Cause(
        exception=hidden(cause.exception, kept, least=least),
        message=hidden(cause.message, kept, least=least),
        traceback=hidden(cause.traceback, kept, least=least),
    )


def _says_any(outcome: ToolOutcome, secrets: tuple[str, ...]) -> bool:
    said = orjson.dumps([outcome.result, outcome.error]).decode()
    written = [orjson.dumps(secret).decode()[1:-1] for secret in secrets]
    return hidden(said, written) != said


def _copied(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return hidden(value, secrets)
    if isinstance(value, Mapping):
        return {hidden(name, secrets): _copied(each, secrets) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(each, secrets) for each in value]
    return value
