"""What is worked out of a draft, kept for the next time that the same draft is asked about."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Keeps the last few values by their keys; threads may ask at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}

    def knows(self, key: Hashable) -> bool:
        """Say whether the value of a key is kept."""
        with self._lock:
            return key in self._values

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key; where none is kept one thread makes it, and others that ask wait for it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            try:
                value = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            with self._lock:
                self._values[key] = value
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
            return value
