"""How far a running tool has come, told to whoever runs it.

What runs a tool lies several calls below whoever asked for it, and most of what lies between has nothing to say about
progress. So the way up is a context variable: set around one run, seen by every task and thread that the run starts.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from apps.firewall.tools.connections import hidden

OUTPUT_BYTES: Final = 16 * 1024
"""Kept of the end of an output: what is shown, and enough before it to see a secret whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The latest news of a run; each takes the place of the one before.

    Args:
        message: a sentence for people.
        done, total: in whatever unit the tool counts.
        output: the end of what a command has written so far.
        is_cut: whether there was more before it.
    """

    message: str = ""
    done: float | None = None
    total: float | None = None
    output: str = ""
    is_cut: bool = False


Report: TypeAlias = Callable[[Progress], None]


def _to_nobody(progress: Progress) -> None:
    """Drop news that nobody asked for."""


_way_up: ContextVar[Report] = ContextVar("progress of a run", default=_to_nobody)


def reporter() -> Report:
    """Give the way up of the present run; for news that come from a task of somebody else."""
    return _way_up.get()


@contextlib.contextmanager
def reported_to(report: Report) -> Iterator[None]:
    """Hear what is run in this block; `report` must return at once and never raise."""
    token = _way_up.set(report)
    try:
        yield
    finally:
        _way_up.reset(token)


@contextlib.contextmanager
def reported_without(secrets: Iterable[str]) -> Iterator[None]:
    """Take secrets out of the news of this block: a tool may say back what it was given."""
    kept, report = tuple(secrets), reporter()

    def cleaned(news: Progress) -> None:
        report(replace(news, message=hidden(news.message, kept), output=hidden(news.output, kept)))

    with reported_to(cleaned if kept else report):
        yield


class OutputTail:
    """Reports the end of what a command writes, both streams together."""

    def __init__(self) -> None:
        self._report = reporter()
        self._tail = b""
        self._is_cut = False

    def watch(self, stream: str, part: bytes) -> bytes:  # noqa: ARG002 - as `run_process` calls it
        """Take a part and give it on."""
        if self._report is not _to_nobody:
            self._tail += part
            self._is_cut |= len(self._tail) > OUTPUT_BYTES
            self._tail = self._tail[-OUTPUT_BYTES:]
            self._report(Progress(output=self._tail.decode("utf-8", "replace"), is_cut=self._is_cut))
        return part


def read_progress(said: Any) -> Progress | None:
    """Read news as a stranger wrote them; None for what is none."""
    if not isinstance(said, dict):
        return None
    message = said.get("message")
    return Progress(
        message=message[:2000] if isinstance(message, str) else "",
        done=_number(said.get("done")),
        total=_number(said.get("total")),
    )


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None
