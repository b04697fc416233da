"""A coroutine that is disturbed in a chosen moment: each moment in which it waits is one."""

from collections.abc import Callable, Coroutine, Generator
from typing import Any


class Stepped:
    """Awaits a coroutine, and does something when that waits for the nth time.

    Args:
        at: number of the wait, from 1.
        disturb: called once, while the coroutine waits.
    """

    def __init__(self, work: Coroutine[Any, Any, Any], *, at: int, disturb: Callable[[], object]) -> None:
        self._work = work
        self._at = at
        self._disturb = disturb
        self.waits = 0

    @property
    def was_disturbed(self) -> bool:
        return self.waits >= self._at

    def __await__(self) -> Generator[Any, Any, Any]:
        step: Callable[[], Any] = lambda: self._work.send(None)  # noqa: E731
        while True:
            try:
                waits_for = step()
            except StopIteration as stop:
                return stop.value
            self.waits += 1
            if self.waits == self._at:
                self._disturb()
            try:
                yield waits_for
            except BaseException as exc:  # noqa: BLE001 - a cancel, most of all: it is the coroutine's to answer
                step = lambda exc=exc: self._work.throw(exc)  # type: ignore[misc]  # noqa: E731
            else:
                step = lambda: self._work.send(None)  # noqa: E731
