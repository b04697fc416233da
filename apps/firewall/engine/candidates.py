"""Lists of tool names as masks over the candidates: the tools that a layer can see.

Which tools are there matters to a list: a plugin's id means the plugin's tools, and one release drops an allow list
that names no core tool at hand.
Source: conformance README, "Names in a layer" and "Warnings".
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.dialect import PLUGIN_GROUP
from apps.firewall.engine.names import ANYTHING, compile_names, expand_groups, fold, follow_renames
from apps.firewall.engine.policy import APPLY_PATCH, Policy
from apps.firewall.engine.universe import Universe


@dataclass(frozen=True, slots=True)
class Rules:
    """One policy against the candidates.

    Attributes:
        mask: the tools that pass.
        denied: the tools that the deny list matches.
        ignored: the allow list does not count, for it names no core tool that is there.
        denials: the entries of the deny list as written, each after the tools that it matches.
    """

    policy: Policy
    mask: int
    denied: int
    ignored: bool
    denials: tuple[tuple[int, str], ...]


KEPT: Final = 16_384
_NO_LIST: Final[tuple[str, ...]] = ()


class Candidates:
    """The tools left by the gates, and every list compiled against them so far."""

    __slots__ = (
        "_blocks",
        "_entries",
        "_patch",
        "_rules",
        "_source",
        "core",
        "core_normals",
        "mask",
        "plugin_tools",
        "plugins",
        "universe",
    )

    def __init__(self, universe: Universe, mask: int, blocks: Sequence[Policy | None] = ()) -> None:
        self.universe = universe
        self._source = blocks
        self._blocks: list[Rules | bool | None] = [False] * len(blocks)
        self.mask = mask
        present = [bit for bit in range(len(universe.names)) if mask >> bit & 1]
        self.core_normals = frozenset(universe.normals[bit] for bit in present if universe.plugins[bit] is None)
        self.core = universe.mask_of_names(self.core_normals)
        self.plugins: dict[str, dict[str, None]] = {}
        for bit in sorted(present, key=universe.rank_of):
            plugin = universe.plugins[bit]
            if plugin is not None:
                key = fold(plugin) if universe.dialect.plugin_ids_trimmed else plugin.lower()
                self.plugins.setdefault(key, {})[universe.normals[bit]] = None
        self.plugin_tools = frozenset(name for names in self.plugins.values() for name in names)
        self._patch = universe.same.get(APPLY_PATCH, 0)
        self._entries: dict[str, tuple[int, bool]] = {}
        self._rules: dict[tuple[Policy, bool], Rules] = {}

    def with_blocks(self, blocks: Sequence[Policy | None]) -> "Candidates":
        """Return the same candidates for a longer list of blocks; what is compiled so far is kept."""
        other = copy(self)
        other._source = blocks
        other._blocks = [*self._blocks, *[False] * (len(blocks) - len(self._blocks))]
        return other

    def rules(self, policy: Policy, *, examined: bool) -> Rules:
        """Compile a policy, `also_allow` merged before.

        Args:
            examined: the policy stands in a layer whose allow list is searched for unknown names.
        """
        rules = self._rules.get((policy, examined))
        if rules is None:
            if len(self._rules) >= KEPT:  # callers bring lists of their own
                self._rules.clear()
            rules = self._rules[policy, examined] = self._compiled(policy, examined)
        return rules

    def block(self, position: int) -> Rules | None:
        """Compile the block at a position of the snapshot, for a group's or sender's layer; None is no layer."""
        rules = self._blocks[position]
        if rules is False:
            policy = self._source[position]
            rules = self._blocks[position] = None if policy is None else self.rules(policy, examined=True)
        return rules  # type: ignore[return-value]

    def entry_mask(self, entry: str) -> int:
        """Return the tools that one entry of a list matches."""
        return self._entry(entry)[0]

    def admitted_by(self, entry: str) -> int:
        """Return the tools that one entry of an allow list lets pass; some bring `apply_patch` along."""
        mask, companion = self._entry(entry)
        return mask | self._patch if companion else mask

    def expand(self, names: Iterable[str]) -> list[str]:
        """Replace old names, plugins and groups in a layer's list."""
        expanded: dict[str, None] = {}
        everything = self.plugin_tools
        for name in follow_renames(self.universe.dialect, names):
            if name == PLUGIN_GROUP and everything:
                for tools in self.plugins.values():
                    expanded.update(tools)
            else:
                expanded.update(self.plugins.get(name) or {name: None})
        return expand_groups(self.universe.dialect, expanded)

    def names_core_tool(self, entry: str) -> bool:
        """Say whether an entry, by its current name, is `*`, a core tool that is there, or a group with one."""
        if entry == ANYTHING or entry in self.core_normals:
            return True
        return not self.core_normals.isdisjoint(self.universe.dialect.groups.get(entry, ()))

    def names_plugin(self, entry: str) -> bool:
        """Say whether an entry is `group:plugins`, the id of a plugin that is there, or one of its tools."""
        return entry == PLUGIN_GROUP or entry in self.plugins or entry in self.plugin_tools

    def _entry(self, entry: str) -> tuple[int, bool]:
        """Return the tools that an entry matches, and whether it admits the companion of `apply_patch`."""
        known = self._entries.get(entry)
        if known is None:
            matcher = compile_names(self.universe.dialect, self.expand((entry,)))
            companion = bool(matcher.entries) and matcher.matches(self.universe.dialect.apply_patch_companion)
            if len(self._entries) >= KEPT:
                self._entries.clear()
            known = self._entries[entry] = (self.universe.mask_of(matcher), companion)
        return known

    def _compiled(self, policy: Policy, examined: bool) -> Rules:
        ignored = examined and self._ignored(policy)
        allowed = self.universe.full if ignored else self._allowed(policy.allow or _NO_LIST)
        denials = tuple((self._entry(entry)[0], entry) for entry in policy.deny or _NO_LIST)
        denied = 0
        for mask, _ in denials:
            denied |= mask
        return Rules(policy, allowed & ~denied, denied, ignored, denials)

    def _allowed(self, allow: tuple[str, ...]) -> int:
        mask, patch, any_entry = 0, False, False
        for entry in allow:
            if not fold(entry):
                continue
            any_entry = True
            matched, companion = self._entry(entry)
            mask |= matched
            patch = patch or companion
        if not any_entry:
            return self.universe.full
        return mask | self._patch if patch else mask

    def _ignored(self, policy: Policy) -> bool:
        if not self.universe.dialect.unknown_allowlist_dropped:
            return False
        entries = follow_renames(self.universe.dialect, policy.allow or _NO_LIST)
        return bool(entries) and not any(self.names_core_tool(entry) for entry in entries)
