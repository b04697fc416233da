"""Names of agents, channels and tools, compared in one way wherever somebody writes them down.

A rule, a token, a stop, a limit, a grant, a filter and a hook mean what a call means by the same name: `Main` is
`main`, `Telegram` is `telegram`, `lark` is `feishu`, `Bash` is `exec`, and `group:runtime` holds `exec`.
"""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.names import ANYTHING, NameMatcher, compile_names, fold, normalize_name, read_glob, trim
from apps.firewall.engine.senders import normalize_channel
from apps.firewall.engine.session_key import slug_id

SubjectKind: TypeAlias = Literal["agent", "channel", "tool"]
KINDS: Final[tuple[SubjectKind, ...]] = ("agent", "channel", "tool")
GROUP: Final = "group:"


def subject_name(dialect: Dialect, kind: SubjectKind, text: str) -> str:
    """Return a name in the form in which calls carry it; "" where nothing of that kind can have it."""
    if kind == "tool":
        return normalize_name(dialect, text)
    if "*" in text:
        return fold(text)
    return slug_id(text) if kind == "agent" else normalize_channel(dialect, text)


def kept_name(kind: Literal["agent", "channel"], text: str) -> str:
    """Return the name of an agent or a channel in the form in which records keep it.

    That form is the same in every release: other names of a channel, which one release knows and another does not,
    stay what they are. What can be no agent's name is kept as it was written.
    """
    return (slug_id(text) if kind == "agent" else fold(text)) or text.strip()


def tool_spellings(text: str) -> tuple[str, ...]:
    """Return the names under which records may have a tool: that of each release, and the one that was asked for."""
    return tuple(dict.fromkeys([*(normalize_name(dialect, text) for dialect in DIALECTS.values()), text.strip()]))


def subject_names(dialect: Dialect, kind: SubjectKind, names: Iterable[str]) -> NameMatcher:
    """Prepare a list of names, patterns and (of tools) groups for names in the form in which calls carry them."""
    if kind == "tool":
        return compile_names(dialect, names)
    folded = tuple(dict.fromkeys(name for each in names if (name := subject_name(dialect, kind, each))))
    return NameMatcher(
        entries=folded,
        exact=frozenset(name for name in folded if "*" not in name),
        globs=tuple(read_glob(name) for name in folded if "*" in name and name != ANYTHING),
        everything=ANYTHING in folded,
    )


def can_be(dialect: Dialect, kind: SubjectKind, text: str) -> bool:
    """Say whether anything can have a name: one that folds to nothing, and a group of no release, mean nothing."""
    name = subject_name(dialect, kind, text)
    return bool(name) and (kind != "tool" or not is_group(name) or name in dialect.groups)


def is_group(text: str) -> bool:
    """Say whether a name is that of a group of tools."""
    return fold(trim(text)).startswith(GROUP)
