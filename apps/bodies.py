"""Bodies of requests: gathered in the event loop, within a size and a deadline, before anything works on them."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, MutableMapping
from functools import partial
from typing import Any, Final

from apps.firewall.errors import FirewallError

Message = MutableMapping[str, Any]

SLOWEST_BYTES_S: Final = 32 * 1024
"""What a sender has to keep up with once its first seconds are over."""


class BodyError(FirewallError):
    """A body that is not taken. `status` is the answer's."""

    status = 400


class BodyTooLargeError(BodyError):
    code, status = "body_too_large", 413


class BodyTooSlowError(BodyError):
    code, status = "body_too_slow", 408


class BodyMissingError(BodyError):
    """The sender went away before it was complete."""

    code = "disconnected"


def length_check(length: bytes, *, limit_bytes: int) -> None:
    """Refuse a stated length above the limit before anything is read.

    Raises:
        BodyTooLargeError.
    """
    if length.isdigit() and int(length) > limit_bytes:
        raise BodyTooLargeError(f"the body is larger than {limit_bytes} bytes")


async def body_gathered(receive: Callable[[], Awaitable[Message]], *, limit_bytes: int, patience_s: float) -> bytes:
    """Receive a whole body.

    Args:
        patience_s: what the sender may take, beside a second for each `SLOWEST_BYTES_S`.
    Raises:
        BodyTooLargeError.
        BodyTooSlowError.
        BodyMissingError.
    """
    body = bytearray()
    begun_at = asyncio.get_running_loop().time()
    while True:
        try:
            message = await _within(receive(), begun_at + patience_s + len(body) / SLOWEST_BYTES_S)
        except TimeoutError:
            raise BodyTooSlowError(f"the body did not come within {patience_s:g} s: send it faster") from None
        if message["type"] == "http.disconnect":
            raise BodyMissingError("the client went away before its request was complete")
        body += message.get("body", b"")
        if len(body) > limit_bytes:
            raise BodyTooLargeError(f"the body is larger than {limit_bytes} bytes")
        if not message.get("more_body", False):
            return bytes(body)


class _Rest:
    """What is left of a wait that has begun: the task that waits for it goes on where it stopped."""

    def __init__(self, steps: Generator[Any, Any, Message], waited_for: object) -> None:
        self._steps, self._waited_for = steps, waited_for

    def __await__(self) -> Generator[Any, Any, Message]:
        while True:
            try:
                yield self._waited_for
            except BaseException as exc:  # noqa: BLE001 - also a cancellation: it reaches what is waited for
                go_on = partial(self._steps.throw, exc)
            else:
                go_on = partial(next, self._steps)
            try:
                self._waited_for = go_on()
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]  # of the steps


async def _within(coming: Awaitable[Message], until: float) -> Message:
    """Wait for a message until a time of the loop. One that is there already, as most are, needs no timer.

    Raises:
        TimeoutError.
    """
    steps = coming.__await__()
    try:
        waited_for = next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # of the steps
    async with asyncio.timeout_at(until):
        return await _Rest(steps, waited_for)
