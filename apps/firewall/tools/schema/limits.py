"""How large and how deep a schema may be.

Schemas come from strangers, and a few lines with references can describe millions of places. Expressions are never
searched here: what they may be is for `patterns` to say, and validators search them without backtracking.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from apps.firewall.errors import FirewallError

SIZE_LIMIT: Final = 512 * 1024
VALUES_LIMIT: Final = 20_000
DEPTH_LIMIT: Final = 96
_VALUE_SIZE: Final = 4


class SchemaRefusedError(FirewallError):
    """A schema that cannot be used; `path` is a JSON Pointer to the place."""

    code = "schema_refused"

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class Budget:
    """Counts the places visited, and how deep they lie, while references multiply them."""

    __slots__ = ("_left", "depth")

    def __init__(self) -> None:
        self._left = VALUES_LIMIT
        self.depth = 0

    def enter(self, path: str) -> None:
        """Count one place that lies inside the last one entered.

        Raises:
            SchemaRefusedError: too many, or too deep.
        """
        self._left -= 1
        self.depth += 1
        if self._left < 0:
            raise SchemaRefusedError(f"with its references it has over {VALUES_LIMIT} places", path=path)
        if self.depth > DEPTH_LIMIT:
            raise SchemaRefusedError(f"with its references it is deeper than {DEPTH_LIMIT} levels", path=path)

    def leave(self) -> None:
        self.depth -= 1


def escape(name: str) -> str:
    """Write a name as one step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


@dataclass(frozen=True, slots=True)
class Extent:
    """What a schema comes to.

    Args:
        size: about the characters of its JSON.
        names: the names of all members of all objects in it.
    """

    size: int
    names: Set[str]


def measure(schema: Any) -> Extent:
    """Walk a schema once, before anything works on it.

    Raises:
        SchemaRefusedError: it is too large, too deep, or no JSON.
    """
    size = values = 0
    names: set[Any] = set()
    level = [schema]
    for _ in range(DEPTH_LIMIT + 1):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                values += len(value)
                names.update(value)
                size += sum(map(len, value)) if all(map(_is_text, value)) else _no_text()
                below.extend(value.values())
            elif isinstance(value, list):
                values += len(value)
                below.extend(value)
            elif isinstance(value, str):
                size += len(value)
            elif value is not None and not isinstance(value, int | float):
                raise SchemaRefusedError(f"it is no JSON: it holds a {type(value).__name__}")
            if values > VALUES_LIMIT or size > SIZE_LIMIT:
                raise SchemaRefusedError(f"it has over {VALUES_LIMIT} values or {SIZE_LIMIT // 1024} KiB of text")
        if not below:
            return Extent(size + values * _VALUE_SIZE, names)
        level = below
    raise SchemaRefusedError(f"it is deeper than {DEPTH_LIMIT} levels")


def _is_text(name: Any) -> bool:
    return isinstance(name, str)


def _no_text() -> NoReturn:
    raise SchemaRefusedError("it is no JSON: a name is not text")
