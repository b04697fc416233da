"""Entries of lists against the tools, groups and plugins that exist."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import PLUGIN_GROUP
from apps.firewall.engine.names import ANYTHING, fold, follow_renames, normalize_name
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.warn import MCP_PLUGIN
from apps.policies.document.shapes import suggestion
from apps.policies.lint.draft import Draft
from apps.policies.lint.findings import LintSeverity

Blocks = tuple[tuple[str, str, str, str], ...]
"""For each block of a record: its place below the record, and the columns of allow, alsoAllow and deny."""

OWN: Blocks = (("", "allow", "also_allow", "deny"),)
GROUP: Blocks = (("tools", "allow", "also_allow", "deny"),)
AGENT: Blocks = (
    ("tools", "allow", "also_allow", "deny"),
    ("tools.sandbox.tools", "sandbox_allow", "sandbox_also_allow", "sandbox_deny"),
)
GLOBAL: Blocks = (
    *(("", *AGENT[0][1:]), ("sandbox.tools", *AGENT[1][1:])),
    ("subagents.tools", "subagent_allow", "subagent_also_allow", "subagent_deny"),
)
BLOCKS_OF: dict[str, Blocks] = {"global": GLOBAL, "agent": AGENT, "provider": OWN, "sender": OWN, "group": GROUP}


UNEXAMINED = ("tools.sandbox.tools", "sandbox.tools", "subagents.tools")
"""Places of blocks whose allow list counts as it is written."""
_NONE = ("\0",)  # what no name begins with


@dataclass(frozen=True, slots=True)
class NameRemark:
    """A remark about one entry of one list, the same wherever that list stands."""

    member: str
    code: str
    severity: LintSeverity
    entry: str
    message: str
    suggestion: str = ""


class NameReview:
    """Reviews lists; equal blocks are reviewed once."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._known: dict[Any, tuple[NameRemark, ...]] = {}

    def block(self, allow: Any, also_allow: Any, deny: Any, *, is_examined: bool = True) -> tuple[NameRemark, ...]:
        """Review the lists of one block.

        Args:
            is_examined: its layer searches the allow list for unknown names.
        """
        lists = tuple(None if names is None else tuple(names) for names in (allow, also_allow, deny))
        key = (lists, is_examined)
        if key not in self._known:
            self._known[key] = tuple(self._review(*lists, is_examined=is_examined))
        return self._known[key]

    def _review(self, allow: Any, also_allow: Any, deny: Any, *, is_examined: bool) -> Iterator[NameRemark]:
        for member, names in (("allow", allow), ("alsoAllow", also_allow), ("deny", deny)):
            for entry in names or ():
                yield from self._entry(member, entry)
            yield from self._repeated(member, names or ())
        denied = 0
        for entry in deny or ():
            denied |= self._mask(entry)
        for member, names in (("allow", allow), ("alsoAllow", also_allow)):
            for entry in names or ():
                mask = self._mask(entry)
                if mask and not mask & ~denied:
                    yield NameRemark(
                        member,
                        "allow_voided",
                        "warning",
                        entry,
                        _("`%(entry)s` is denied in the same block") % {"entry": entry},
                    )
        yield from self._nothing_left(allow, denied, is_examined=is_examined)

    def _nothing_left(self, allow: Sequence[str] | None, denied: int, *, is_examined: bool) -> Iterator[NameRemark]:
        entries = [entry for entry in allow or () if fold(entry)]
        if not entries:
            return
        allowed = 0
        for entry in entries:
            allowed |= self._mask(entry)
        if is_examined and self.draft.candidates.rules(Policy(tuple(entries)), examined=True).ignored:
            message = _(
                "no entry names a tool that OpenClaw brings itself, so this release ignores the whole list: it "
                "restricts nothing"
            )
            yield NameRemark("allow", "allow_ignored", "warning", "", message)
        elif not allowed:
            yield NameRemark(
                "allow", "allows_nothing", "warning", "", _("the list names no tool: it leaves none at all")
            )
        elif not allowed & ~denied:
            yield NameRemark("allow", "allows_nothing", "warning", "", _("everything it allows is denied beside it"))

    def _repeated(self, member: str, names: Sequence[str]) -> Iterator[NameRemark]:
        seen: dict[str, str] = {}
        for entry in names:
            normal = normalize_name(self.draft.dialect, entry)
            if normal in seen:
                yield NameRemark(
                    member,
                    "repeated",
                    "info",
                    entry,
                    _("`%(entry)s` says the same as `%(seen)s`") % {"entry": entry, "seen": seen[normal]},
                )
            seen.setdefault(normal, entry)

    def _entry(self, member: str, entry: str) -> Iterator[NameRemark]:
        dialect = self.draft.dialect
        normal = normalize_name(dialect, entry)
        if not normal:
            yield NameRemark(member, "blank_entry", "info", entry, _("a blank entry names nothing"))
            return
        renamed = dialect.renames.get(normal) or dialect.aliases.get(fold(entry))
        if renamed is not None:
            yield NameRemark(
                member, "old_name", "info", entry, _("`%(entry)s` is an old name") % {"entry": entry}, renamed
            )
        if self._mask(entry) or normal == ANYTHING:
            return
        if "*" in normal and not normal.startswith(self.draft.servers or _NONE):
            yield NameRemark(
                member, "matches_nothing", "warning", entry, _("`%(entry)s` matches no tool") % {"entry": entry}
            )
        elif self._exists(follow_renames(dialect, [entry])):
            yield NameRemark(
                member,
                "matches_nothing",
                "info",
                entry,
                _("`%(entry)s` has no tool here at present") % {"entry": entry},
            )
        else:
            close = suggestion(normal, self._words)
            message = _("`%(entry)s` is no tool, group or plugin") % {"entry": entry} + (
                _(", did you mean `%(close)s`?") % {"close": close} if close else ""
            )
            yield NameRemark(member, "unknown_name", "warning", entry, message, close)

    def _mask(self, entry: str) -> int:
        return self.draft.candidates.entry_mask(entry)

    def _exists(self, names: Sequence[str]) -> bool:
        """Say whether names are known though no tool of theirs is offered."""
        dialect = self.draft.dialect
        return any(
            name in self._core
            or name in dialect.groups
            or name in self.draft.plugins
            or name in (PLUGIN_GROUP, MCP_PLUGIN)
            or name.startswith(self.draft.servers or _NONE)
            for name in names
        )

    @cached_property
    def _core(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.draft.dialect.catalogue)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        universe = self.draft.candidates.universe
        known = {*universe.normals, *self._core, *self.draft.dialect.groups, *self.draft.plugins, PLUGIN_GROUP}
        return tuple(sorted(known))
