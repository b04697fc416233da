"""When tools are loaded: all at once, each at its first call, or those of somebody's profile."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args

from apps.firewall.errors import FirewallError

Strategy: TypeAlias = Literal["eager", "lazy", "on-demand"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
CACHE_SIZE: Final = 100

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LoadingInvalidError(FirewallError):
    """A `tool_loading` block that cannot be used; `path` is the member that is wrong."""

    code = "loading_invalid"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """A strategy.

    Args:
        strategy: `eager` loads and initialises each tool as soon as it is known; `lazy` at its first call; `on-demand`
            knows only the tools that a profile names.
        preload_all: as if eager, whatever the strategy: mistakes show at once.
        cache_loaded: keep what was loaded for later, as long as it has not changed.
        max_cache_size: of that; the one that was not used for longest goes first.
        profiles: names of tools by profile.
    """

    strategy: Strategy = "eager"
    preload_all: bool = False
    cache_loaded: bool = True
    max_cache_size: int = CACHE_SIZE
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_eager(self) -> bool:
        return self.strategy == "eager" or self.preload_all

    def profiles_of(self, tool: str) -> tuple[str, ...]:
        """Name the profiles that give a tool."""
        return tuple(profile for profile, tools in self.profiles.items() if tool in tools)

    def knows(self, tool: str, profile: str | None = None) -> bool:
        """Say whether a tool is to be known at all, to everybody or to a profile."""
        if self.strategy != "on-demand":
            return True
        return tool in self.profiles.get(profile, ()) if profile is not None else bool(self.profiles_of(tool))


def read_loading(document: Any) -> Loading:
    """Read a `tool_loading` block: `{strategy, preload_all, cache_loaded, max_cache_size, user_tool_profiles}`.

    Raises:
        LoadingInvalidError: the first thing that is wrong with it.
    """
    if document is None:
        return Loading()
    if not isinstance(document, Mapping):
        raise LoadingInvalidError("", "must be an object")
    unknown = set(document) - {"strategy", "preload_all", "cache_loaded", "max_cache_size", "user_tool_profiles"}
    if unknown:
        raise LoadingInvalidError(min(map(str, unknown)), "is no setting of loading")
    strategy = document.get("strategy", "eager")
    if strategy not in STRATEGIES:
        raise LoadingInvalidError("strategy", f"must be one of {', '.join(STRATEGIES)}")
    for name in ("preload_all", "cache_loaded"):
        if not isinstance(document.get(name, True), bool):
            raise LoadingInvalidError(name, "must be true or false")
    size = document.get("max_cache_size", CACHE_SIZE)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 100_000:
        raise LoadingInvalidError("max_cache_size", "must be a number from 1 to 100000")
    return Loading(
        strategy=strategy,
        preload_all=document.get("preload_all", False),
        cache_loaded=document.get("cache_loaded", True),
        max_cache_size=size,
        profiles=_profiles(document.get("user_tool_profiles") or ()),
    )


def _profiles(listed: Any) -> dict[str, tuple[str, ...]]:
    path = "user_tool_profiles"
    if not isinstance(listed, list | tuple):
        raise LoadingInvalidError(path, "must be a list")
    profiles: dict[str, tuple[str, ...]] = {}
    for position, each in enumerate(listed):
        tools = each.get("tools") if isinstance(each, Mapping) else None
        name = each.get("profile") if isinstance(each, Mapping) else None
        if not isinstance(name, str) or not name or not isinstance(tools, list | tuple):
            raise LoadingInvalidError(f"{path}[{position}]", "must have `profile`, a text, and `tools`, a list")
        if not all(isinstance(tool, str) for tool in tools):
            raise LoadingInvalidError(f"{path}[{position}].tools", "must be a list of texts")
        profiles[name] = tuple(tools)
    return profiles


class Kept(Generic[Key, Value]):
    """Values up to a number; the one that was not used for longest goes first, through `let_go`."""

    def __init__(self, size: int, let_go: Callable[[Value], None] | None = None) -> None:
        self.size = size
        self._let_go = let_go
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """Give a value and count that it was used."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key]

    def keep(self, key: Key, value: Value) -> None:
        self.drop(key)
        self._values[key] = value
        while len(self._values) > self.size:
            self.drop(next(iter(self._values)))

    def drop(self, key: Key) -> None:
        """Let go of a value; nothing happens where there is none."""
        if key in self._values:
            value = self._values.pop(key)
            if self._let_go is not None:
                self._let_go(value)
