"""Asking the database from coroutines: a bounded pool of threads, and no connection is held while anybody waits."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

THREADS = 4
"""Threads of one process compute in turns: more of them take longer turns from each other than they take work."""
P = ParamSpec("P")
R = TypeVar("R")
_pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="gateway-db")


async def in_database(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a short function that uses the database; cancelling the caller does not interrupt it."""

    def work() -> R:
        close_old_connections()  # a broken or aged connection is not used
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool, work)
