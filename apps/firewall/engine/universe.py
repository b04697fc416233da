"""The tools of a snapshot as bits: tool n of the sorted names is bit n of a Python integer."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

from apps.firewall.engine.dialect import PLUGIN_GROUP, Dialect
from apps.firewall.engine.names import NameMatcher, fold, normalize_name, read_glob

_DIGITS = bytes.maketrans(b"01", b"\x00\x01")
_BEYOND = "\U0010ffff"
_NAME_LISTS_KEPT = 4096


class Universe:
    """Every tool of a snapshot, sorted by its normal name, so that a pattern's beginning is a range of bits."""

    __slots__ = (
        "_kept",
        "_lines",
        "_ranks",
        "bits",
        "dialect",
        "full",
        "names",
        "normals",
        "optional",
        "owner_only",
        "plugins",
        "same",
    )

    def __init__(self, dialect: Dialect, tools: Sequence[dict[str, Any]]) -> None:
        self.dialect = dialect
        order = sorted(
            range(len(tools)), key=lambda at: (normalize_name(dialect, tools[at]["name"]), tools[at]["name"])
        )
        self.names = tuple(tools[at]["name"] for at in order)
        self.normals = tuple(normalize_name(dialect, name) for name in self.names)
        self.plugins: tuple[str | None, ...] = tuple(tools[at].get("plugin") for at in order)
        self._ranks = tuple(order)
        self.full = (1 << len(order)) - 1
        self.bits = {name: 1 << bit for bit, name in enumerate(self.names)}
        self.same: dict[str, int] = {}  # normal name -> mask; two tools may differ in letter case only
        for bit, normal in enumerate(self.normals):
            self.same[normal] = self.same.get(normal, 0) | 1 << bit
        self.owner_only = sum(1 << bit for bit, at in enumerate(order) if tools[at].get("owner_only"))
        self.optional = sum(1 << bit for bit, at in enumerate(order) if tools[at].get("optional"))
        self._lines = any(len(normal.splitlines()) > 1 for normal in self.normals)  # `*` stops at the end of a line
        self._kept: dict[int, tuple[str, ...]] = {}

    def canonical_name(self, name: str) -> str | None:
        """Return the tool that a name means: itself, else the first with the same normal form; None for no tool."""
        if name in self.bits:
            return name
        mask = self.same.get(normalize_name(self.dialect, name), 0)
        return self.names[lowest_bit(mask)] if mask else None

    def rank_of(self, bit: int) -> int:
        """Return the place of a tool in the source."""
        return self._ranks[bit]

    def mask_of(self, matcher: NameMatcher) -> int:
        """Return the tools that a list of expanded entries matches."""
        if matcher.everything:
            return self.full
        mask = 0
        for normal in matcher.exact:
            mask |= self.same.get(normal, 0)
        for glob in matcher.globs:
            low, high = self._range(glob.head)
            if not glob.middle and not glob.tail and not self._lines:
                mask |= (1 << high) - (1 << low)
            else:
                for bit in range(low, high):
                    if glob.matches(self.normals[bit]):
                        mask |= 1 << bit
        return mask

    def mask_of_names(self, normals: Iterable[str]) -> int:
        """Return the tools with these normal names."""
        mask = 0
        for normal in normals:
            mask |= self.same.get(normal, 0)
        return mask

    def named_optional(self, entries: frozenset[str]) -> int:
        """Return the optional tools that entries name: exactly, by their plugin, or by what means all of these.

        Groups of tools name none of them.
        """
        if PLUGIN_GROUP in entries:
            return self.optional
        mask = self.mask_of_names(normalize_name(self.dialect, entry) for entry in entries)
        if self.dialect.optional_by_pattern:
            patterns = [read_glob(entry) for entry in entries if "*" in entry]
            mask |= self.mask_of_names(name for name in self.same if any(each.matches(name) for each in patterns))
        for bit, plugin in enumerate(self.plugins):
            if plugin is not None and fold(plugin) in entries:
                mask |= 1 << bit
        return mask & self.optional

    def names_of(self, mask: int) -> tuple[str, ...]:
        """Return the tools of a mask in the order of the source."""
        kept = self._kept.get(mask)
        if kept is None:
            if len(self._kept) >= _NAME_LISTS_KEPT:
                self._kept.clear()
            ranked = sorted(compress(zip(self._ranks, self.names, strict=True), bits_of(mask)))
            kept = self._kept[mask] = tuple(name for _, name in ranked)
        return kept

    def _range(self, head: str) -> tuple[int, int]:
        if not head:
            return 0, len(self.normals)
        return bisect_left(self.normals, head), bisect_left(self.normals, head + _BEYOND)


def bits_of(mask: int) -> bytes:
    """Return the bits of a mask, lowest first, each as a byte 0 or 1."""
    return format(mask, "b").encode().translate(_DIGITS)[::-1]


def lowest_bit(mask: int) -> int:
    """Return the number of the lowest bit that is set; the mask is not 0."""
    return (mask & -mask).bit_length() - 1
