"""Several messages in one request, as the protocol of 2025-03-26 has them, and arguments that came as text."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

import mcp_types as types
import orjson

from apps.firewall.errors import FirewallError
from apps.gateway.runtime_api.http import Message, Problem, Request, Send, problem_of
from apps.gateway.tokens import TokenGrant

BATCHES_OF: Final = frozenset({None, b"2025-03-26"})
"""Versions with batches, as requests name them; that version names none."""
VERSION: Final = b"mcp-protocol-version"
BATCH_LIMIT: Final = 50
RATE_LIMITED: Final = -32000

Answering = Callable[[Request, dict[str, Any], Send], Awaitable[None]]


async def answered_batch(messages: list[Any], request: Request, one: Answering, grant: TokenGrant) -> tuple[int, Any]:
    """Answer every message of a batch; those that need no answer get none.

    Returns:
        Status and content: a list of answers, 202 with nothing where no message needs one, 400 for no batch at all.
    """
    if request.headers.get(VERSION) not in BATCHES_OF:
        return 400, _error(None, types.INVALID_REQUEST, "this version of the protocol has no batches")
    if not 0 < len(messages) <= BATCH_LIMIT:
        return 400, _error(None, types.INVALID_REQUEST, f"a batch holds 1 to {BATCH_LIMIT} messages")
    answers = await asyncio.gather(
        *(_answered(each, request, one, grant, is_first=not index) for index, each in enumerate(messages))
    )
    told = [each for each in answers if each is not None]
    return (200, told) if told else (202, [])


def read_arguments(message: dict[str, Any]) -> dict[str, Any] | None:
    """Read arguments of a call that came as a JSON text, as some clients send them; change the message.

    Returns:
        The answer to a text that holds no JSON object; None where all is well.
    """
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return None
    arguments = params.get("arguments")
    if arguments is None or isinstance(arguments, dict):
        return None
    found: Any = arguments
    if isinstance(arguments, str):
        try:
            found = orjson.loads(arguments or "{}")
        except ValueError:
            found = None
    if not isinstance(found, dict):
        rule = "`arguments` must be a JSON object, or a text that holds one"
        return _error(message.get("id"), types.INVALID_PARAMS, rule)
    message["params"] = {**params, "arguments": found}
    return None


async def _answered(
    message: Any, request: Request, one: Answering, grant: TokenGrant, *, is_first: bool
) -> dict[str, Any] | None:
    if not isinstance(message, dict):
        return _error(None, types.INVALID_REQUEST, "a message of a batch is a JSON object")
    number = message.get("id")
    if message.get("method") == "initialize":
        return _error(number, types.INVALID_REQUEST, "`initialize` must not be part of a batch")
    if not is_first and grant.bucket.take(time.monotonic()):  # the request itself counted for the first
        return _error(number, RATE_LIMITED, "too many requests with this token")
    kept = _Kept()
    headers = {**request.headers, b"accept": b"application/json"}
    scope = {**request.scope, "headers": list(headers.items())}
    try:
        await one(replace(request, scope=scope, headers=headers), message, kept)
    except (Problem, FirewallError) as exc:
        problem = exc if isinstance(exc, Problem) else problem_of(exc)
        return None if number is None else _error(number, types.INVALID_REQUEST, str(exc), data=problem.body)
    return kept.content if number is not None or kept.content is not None else None


class _Kept:
    """Takes an answer instead of sending it."""

    def __init__(self) -> None:
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        self._body += message.get("body", b"")

    @property
    def content(self) -> dict[str, Any] | None:
        found = orjson.loads(self._body) if self._body else None
        return found if isinstance(found, dict) else None


def _error(number: Any, code: int, message: str, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, **more}}
