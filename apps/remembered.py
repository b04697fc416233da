"""What a request read once, it need not ask again: a memory that ends with the request, and before its first write.

The memory is the request's own, so that it never tells of an earlier one. A statement that writes or locks ends it for
the rest of the request: what is read after that is read from the database, in the transaction or after it was rolled
back. Outside requests, in tasks and commands, nothing is remembered.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponse
from psycopg.sql import Composable

P = ParamSpec("P")
T = TypeVar("T")

READS: Final = re.compile(r"[\s(]*(?:SELECT|SAVEPOINT|RELEASE)\b", re.IGNORECASE)
LOCKS: Final = re.compile(
    r"\bFOR (?:NO KEY )?UPDATE\b|\bFOR (?:KEY )?SHARE\b|\bpg_\w*lock|\bset_config\b", re.IGNORECASE
)


class _Memory:
    """What one request has read over one connection; `values` is None once the request has written."""

    def __init__(self, reader: BaseDatabaseWrapper) -> None:
        self.reader = reader
        self.values: dict[Hashable, Any] | None = {}


_memory: ContextVar[_Memory | None] = ContextVar("remembered", default=None)


class RememberingMiddleware:
    """Give each request a memory."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with remembering():
            return self.get_response(request)


@contextmanager
def remembering() -> Iterator[None]:
    """Remember what is read until the block ends, or until it writes."""
    reader = connections[connection.alias]
    _watch(reader)
    token = _memory.set(_Memory(reader))
    try:
        yield
    finally:
        _memory.reset(token)


def remembered(read: Callable[P, T]) -> Callable[P, T]:
    """Let a selector with hashable arguments be answered from the memory of the request, where there is one.

    Whoever asks in the same request is given the same object, so it is to be read only.
    """

    @wraps(read)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        memory = _memory.get()
        if memory is None or memory.values is None or memory.reader is not connections[memory.reader.alias]:
            return read(*args, **kwargs)  # also in another thread, whose transaction is another one
        values, key = memory.values, (read, args, *sorted(kwargs.items()))
        if key not in values:
            found = read(*args, **kwargs)
            values[key] = found
            return found
        known: T = values[key]
        return known

    return asked


def forget() -> None:
    """End the memory of this request: rows are written in a way that no statement shows."""
    memory = _memory.get()
    if memory is not None:
        memory.values = None


def _listen(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    """End the memory before a statement that may change what is remembered, over whichever connection."""
    memory = _memory.get()
    if memory is not None and memory.values is not None:
        text = sql.as_string() if isinstance(sql, Composable) else str(sql)
        if READS.match(text) is None or LOCKS.search(text) is not None:
            memory.values = None
    return execute(sql, params, many, context)


def _watch(watched: BaseDatabaseWrapper) -> None:
    if _listen not in watched.execute_wrappers:
        watched.execute_wrappers.insert(0, _listen)  # first: those of a `with` block are taken off from the end


def _watch_new(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    _watch(connection)


connection_created.connect(_watch_new, dispatch_uid="remembered")
