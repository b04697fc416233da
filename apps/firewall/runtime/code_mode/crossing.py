"""The server's side of the bridge: what a process says is checked line by line, and what it asks for is done.

The process may have been taken over by its code, so that each line is a stranger's: whatever the harness would never
send ends the run.
"""

import asyncio
import contextlib
import hmac
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Literal, TypeAlias, cast, get_args

import orjson
import structlog

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.code_mode.results import (
    ERROR_CHARACTERS,
    LOG_LIMIT_BYTES,
    LOG_LINES,
    RESULT_LIMIT_BYTES,
    End,
    Level,
    LogLine,
    threw,
)
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.remote_json import JsonRefusedError, plain_text, read_json

Operation = Literal["search", "describe", "call"]
Bridge: TypeAlias = Callable[[Operation, JsonObject], Awaitable[Any]]
"""Does what code asks for, and returns JSON: `search` with `query` and its options, `describe` with `id`, `call` with
`id` and `args`. What it raises is what the code's promise is rejected with: code, message, and `details` if it has
any."""

OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
CALLS_LIMIT: Final = 200
CALLS_AT_ONCE: Final = 16
CALL_LIMIT_BYTES: Final = 256 * 1024
ALL_CALLS_LIMIT_BYTES: Final = 4 * 1024 * 1024
ANSWER_LIMIT_BYTES: Final = 1024 * 1024
LINE_LIMIT_BYTES: Final = 1024 * 1024
"""Of a text that is written as JSON once more."""
SAID_LIMIT_BYTES: Final = 16 * 1024 * 1024
ASKS: Final[dict[Operation, tuple[str, str]]] = {
    "search": ("query", "options"),
    "describe": ("id", ""),
    "call": ("id", "args"),
}
"""Operation -> the text that it needs, and the object that it may bring."""

log = structlog.get_logger(__name__)
Answer: TypeAlias = Callable[[bytes], Coroutine[Any, Any, None]]


class MisspokeError(FirewallError):
    """A process said what the harness never says."""

    code = "code_misspoke"


class OverflowedError(FirewallError):
    """A process said more than the harness ever says."""

    code = "code_output_limit"


class BridgeRefusedError(FirewallError):
    """What code asked for cannot be handed to the bridge, or its answer not to the code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Crossing:
    """What one run says, asks and is answered.

    Args:
        word: that every line of the process bears.
        answer: writes a line to the process.
    """

    def __init__(self, bridge: Bridge, word: str, answer: Answer) -> None:
        self.logs: list[LogLine] = []
        self.dropped_bytes = 0
        self.counts: Counter[Operation] = Counter()
        self._bridge = bridge
        self._word = word
        self._answer = answer
        self._said_bytes = 0
        self._log_bytes = 0
        self._at_once = asyncio.Semaphore(CALLS_AT_ONCE)
        self._asked: set[asyncio.Task[None]] = set()

    def hear(self, line: bytes) -> End | None:
        """Take one line; the end of the run when it tells of it.

        Raises:
            MisspokeError, OverflowedError.
        """
        said = self._read(line)
        does, text = said.get("do"), said.get("text", "")
        if not isinstance(text, str):
            raise MisspokeError("its text is none")
        if does in OPERATIONS:
            self._ask(does, said.get("id"), text)
        elif does == "log":
            self._note(said.get("level"), text)
        elif does == "dropped":
            self._drop(said.get("bytes"))
        else:
            return _end(does, text)
        return None

    async def cancel(self) -> None:
        """Cancel what is asked for and not answered, and wait until it has ended."""
        asked = set(self._asked)
        for each in asked:
            each.cancel()
        if asked:
            await asyncio.wait(asked)

    def _read(self, line: bytes) -> JsonObject:
        self._said_bytes += len(line)
        if self._said_bytes > SAID_LIMIT_BYTES:
            raise OverflowedError("it said too much")
        try:
            said = read_json(line)
        except JsonRefusedError as exc:
            raise MisspokeError("it wrote rubbish") from exc
        word = said.get("word") if isinstance(said, dict) else None
        if not isinstance(word, str) or not hmac.compare_digest(word.encode(), self._word.encode()):
            raise MisspokeError("a line without its word")
        return cast(JsonObject, said)

    def _ask(self, operation: Operation, number: Any, text: str) -> None:
        if type(number) is not int or number != self.counts.total() + 1 or number > CALLS_LIMIT:
            raise MisspokeError("a call out of turn")
        if len(text) > CALL_LIMIT_BYTES:
            raise MisspokeError("a call that is too large")
        self.counts[operation] += 1
        task = asyncio.create_task(self._serve(operation, number, text))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _serve(self, operation: Operation, number: int, text: str) -> None:
        async with self._at_once:
            try:
                answer = _written(await self._bridge(operation, _params(operation, text)))
                is_refused = False
            except Exception as exc:  # noqa: BLE001 - whatever was wrong, the code hears of it
                answer, is_refused = _refusal(exc), True
        line = orjson.dumps({"id": number, "is_refused": is_refused, "text": answer})
        with contextlib.suppress(ConnectionError):  # it has ended: nobody waits for this
            await self._answer(line)

    def _note(self, level: Any, text: str) -> None:
        self._log_bytes += len(text.encode()) + 1
        if level not in LEVELS or self._log_bytes > LOG_LIMIT_BYTES or len(self.logs) == LOG_LINES:
            raise MisspokeError("a log that it may not write")
        self.logs.append(LogLine(level, text.replace("\0", "\ufffd")))

    def _drop(self, count: Any) -> None:
        if not isinstance(count, int) or isinstance(count, bool) or count <= self.dropped_bytes:
            raise MisspokeError("a count that is none")
        self.dropped_bytes = count


def _params(operation: Operation, text: str) -> JsonObject:
    """Read what a call of the bridge brings.

    Raises:
        BridgeRefusedError: it is not what the operation takes.
    """
    needed, optional = ASKS[operation]
    try:
        asked = read_json(text.encode())
    except JsonRefusedError as exc:
        raise BridgeRefusedError("invalid_arguments", f"`{operation}` takes JSON only: {exc.message}") from exc
    asked = asked if isinstance(asked, dict) else {}
    if not isinstance(asked.get(needed), str):
        raise BridgeRefusedError("invalid_arguments", f"`{operation}` needs `{needed}` as a text")
    brought = asked.get(optional)
    if not isinstance(brought, dict | None):
        raise BridgeRefusedError("invalid_arguments", f"`{optional}` of `{operation}` must be an object")
    if operation == "search":
        return {**(brought or {}), needed: asked[needed]}
    return {needed: asked[needed], **({optional: brought or {}} if optional else {})}


def _written(answer: Any) -> str:
    try:
        written = orjson.dumps(answer)
    except (TypeError, orjson.JSONEncodeError) as exc:
        raise BridgeRefusedError("answer_no_json", "the answer is no JSON") from exc
    if len(written) > ANSWER_LIMIT_BYTES:
        raise BridgeRefusedError("answer_too_large", f"the answer has more than {ANSWER_LIMIT_BYTES} bytes")
    return written.decode()


def _refusal(exc: Exception) -> str:
    """Write what a promise is rejected with; of a mistake of ours, the code learns that it is one."""
    if not isinstance(exc, FirewallError):
        log.error("code_bridge_failed", exc_info=exc)
        return orjson.dumps({"code": "internal_error", "message": "the server could not do this"}).decode()
    refusal = {"code": exc.code, "message": exc.message[:ERROR_CHARACTERS]}
    details = getattr(exc, "details", None)
    try:
        return _written({**refusal, "details": details} if details else refusal)
    except BridgeRefusedError:
        return orjson.dumps(refusal).decode()


def _end(does: Any, text: str) -> End:
    """Read the last line of a run.

    Raises:
        MisspokeError.
    """
    message = plain_text(text, ERROR_CHARACTERS)
    if does == "returned":
        return _returned(text)
    if does == "too_large":
        return threw("result_too_large", f"the result has more than {RESULT_LIMIT_BYTES} bytes: return less of it")
    if does == "no_json":
        return threw("result_no_json", f"the result is no JSON: {message}")
    if does == "no_code":
        return threw("code_syntax", f"the code is no body of an async JavaScript function: {message}")
    if does == "threw":
        return threw("code_threw", message)
    raise MisspokeError("a line of no kind")


def _returned(text: str) -> End:
    if len(text.encode()) > RESULT_LIMIT_BYTES:
        raise MisspokeError("a result that is too large")
    try:
        return End("returned", read_json(text.encode()))
    except JsonRefusedError as exc:
        return threw("result_no_json", f"the result is no JSON that can be kept: {exc.message}")
