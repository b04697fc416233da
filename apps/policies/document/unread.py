"""Keys of `openclaw.json` that its release does not read: where they belong, or what they were meant to be.

OpenClaw refuses a file with such a key, or never looks at it. A rule that decides nothing must not look like one that
does.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.known_keys import ANY, ITEM, KnownObject
from apps.policies.document.findings import Findings, Path, Severity, show_path
from apps.policies.document.members import GROUP_MAPS
from apps.policies.document.shapes import suggestion

LISTS: Final = ("allow", "alsoAllow", "deny")
BLOCK: Final = (*LISTS, "profile", "byProvider", "toolsBySender")
SCOPE: Final = (*BLOCK, "exec", "elevated", "fs", "sandbox", "subagents")
POLICY_WORDS: Final = ("tools", *SCOPE)
DECIDING: Final = frozenset(
    {
        *POLICY_WORDS,
        *("agents", "channels", "commands", "defaults", "entries", "list", "accounts", *GROUP_MAPS),
        *("ownerAllowFrom", "allowFrom", "enabled", "elevatedDefault", "maxSpawnDepth", "workspaceOnly"),
        *("security", "ask", "mode", "host", "node", "pathPrepend", "safeBins", "safeBinTrustedDirs"),
        *("safeBinProfiles", "strictInlineEval", "applyPatch", "allowModels", "workspaceAccess", "loopDetection"),
    }
)
"""Keys that decide something here: one that is nearly written like them is a mistake, and no mere leftover."""
NICKNAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("deny", "denylist", "denied", "blocklist", "blacklist", "block"), "deny"),
    **dict.fromkeys(("allowlist", "allowed", "whitelist"), "allow"),
    **dict.fromkeys(("toolpolicy", "toolspolicy"), "tools"),
    **dict.fromkeys(("bysender", "senders"), "toolsBySender"),
    "providers": "byProvider",
}
"""What people write for a word of policy, in lower case."""
CURRENT: Final[Mapping[tuple[str, ...], frozenset[str]]] = {
    ("agents",): frozenset({"list", "entries", "ownership"}),
    ("agents", "entries"): frozenset({"id", "default"}),
}
"""What an import brings into the form of its release."""
ANY_GROUP: Final = "*"
HOLDERS: Final[Mapping[str, str]] = {
    "discord": "guilds",
    "msteams": "teams",
    "nextcloud-talk": "rooms",
    "slack": "channels",
}
"""Where channels keep their conversations; the others in `groups`."""
_INCLUDE: Final = "$include"
_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])")
_NEAR: Final = 0.8


class UnreadKey(NamedTuple):
    """A key that is not read, the code of the remark, and what it says to people."""

    path: Path
    code: str
    severity: Severity
    message: str


def note_version(tree: dict[str, Any], release: str, findings: Findings) -> bool:
    """Say when a later OpenClaw than the environment's release wrote a document, and whether one did."""
    meta = tree.get("meta")
    written = meta.get("lastTouchedVersion") if isinstance(meta, dict) else None
    dialect = DIALECTS[release]
    if not isinstance(written, str) or _version(written) <= _version(dialect.recorded_version):
        return False
    values = {"written": written[:40], "release": release, "newest": _newest().release}
    if _version(written) > _version(_newest().recorded_version):
        message = _(
            "OpenClaw %(written)s wrote this file, and the newest version known here is %(newest)s: keys that it "
            "does not know are listed and have no effect, and calls are decided as in %(release)s"
        )
    else:
        message = _(
            "OpenClaw %(written)s wrote this file, but this environment decides as %(release)s: switch it to %(newest)s"
        )
    findings.warning(("meta", "lastTouchedVersion"), "later_release", message % values)
    return True


def _newest() -> Dialect:
    return max(DIALECTS.values(), key=lambda dialect: _version(dialect.recorded_version))


def _version(text: str) -> tuple[int, ...]:
    """Return year, month and number of a version, for comparing; nothing for a text that is none."""
    found = _VERSION.match(text.strip())
    return () if found is None else tuple(int(part or 0) for part in found.groups())


def note_unread(tree: dict[str, Any], release: str, findings: Findings, *, is_mild: bool) -> None:
    """Name the keys of a document that its release does not read.

    Args:
        is_mild: mistakes are warnings: the document is one that was here already, or of a later release.
    """
    for unread in unread_keys_of(tree, DIALECTS[release]):
        note = findings.error if unread.severity == "error" and not is_mild else findings.warning
        note(unread.path, unread.code, unread.message)


def unread_keys_of(tree: Any, dialect: Dialect, path: Path = ()) -> Iterator[UnreadKey]:
    """Find the keys of an object, and below it, that a release does not read.

    Args:
        path: where the object stands, agents among the entries of `agents.entries`.
    """
    place: KnownObject | None = dialect.document_keys
    for at, step in enumerate(path):
        if path[:at] == ("channels",) and place is not None and not _knows_channel(place, step):
            yield from (_loose_group if any(each in GROUP_MAPS for each in path[2::2]) else _loose)(tree, path)
            return
        place = None if place is None else place.at(str(step))
    if place is not None:
        yield from _walk(tree, place, dialect, path)


def without_unread(tree: dict[str, Any], release: str) -> tuple[dict[str, Any], list[Path]]:
    """Leave out of a document what its release refuses; return what is left, and the places that are not in it."""
    left, dialect = deepcopy(tree), DIALECTS[release]
    channels = dialect.document_keys.below["channels"]
    # whether a key of a plugin's channel is one, its plugin knows
    dropped = [
        unread.path
        for unread in unread_keys_of(left, dialect)
        if unread.path[0] != "channels" or _knows_channel(channels, unread.path[1])
    ]
    for *steps, key in dropped:
        holder: Any = left
        for step in steps:
            holder = holder[step]
        del holder[key]
    return left, dropped


def _knows_channel(channels: KnownObject, name: str | int) -> bool:
    return str(name) in channels.below


def _walk(tree: Any, place: KnownObject, dialect: Dialect, path: Path) -> Iterator[UnreadKey]:
    if isinstance(tree, list):
        item = place.below.get(ITEM)
        for index, each in enumerate(tree if item is not None else ()):
            yield from _walk(each, item or place, dialect, (*path, index))
        return
    for key, value in tree.items() if isinstance(tree, dict) else ():
        here = (*path, key)
        if path == ("channels",) and not _knows_channel(place, key):
            right = _right_place(path, key) if key in POLICY_WORDS else None
            yield from _loose(value, here) if right is None else (_dead(here, right),)
        elif not place.knows(key) and key != _INCLUDE and key not in CURRENT.get(_shape(path), ()):
            yield _judged(key, place, dialect, path)
        elif path == ("agents",) and key == "list":
            yield from _walk(value, KnownObject(below={ITEM: place.below["entries"].below[ANY]}), dialect, here)
        else:
            below = place.at(key)
            if below is not None:
                yield from _walk(value, below, dialect, here)


def _shape(path: Path) -> tuple[str, ...]:
    """Return which object a path leads to, without the names that people chose."""
    if path[:2] in (("agents", "entries"), ("agents", "list")) and len(path) == 3:
        return ("agents", "entries")
    return tuple(map(str, path))


def _judged(key: str, place: KnownObject, dialect: Dialect, path: Path) -> UnreadKey:
    """Say what an unknown key of a known object is: a misspelt one, one in the wrong place, or a leftover."""
    here = (*path, key)
    known = place.keys or frozenset()
    meant = "" if _is_of_another_release(key, path, dialect) else _meant(key, known)
    if meant in known and meant in DECIDING:
        message = _("the key `%(key)s` is not known here, did you mean `%(meant)s`?") % {"key": key, "meant": meant}
        return UnreadKey(here, "unknown_key", "error", message)
    right = _right_place(path, meant) if meant in POLICY_WORDS else None
    if right is not None:
        return _dead(here, right)
    if meant in LISTS and _shape(path)[-1:] == ("exec",):
        message = _(
            "OpenClaw does not read `%(key)s` here: commands are listed in the exec approvals, under "
            "`agents.<id>.allowlist`, and what no entry admits is asked about or refused"
        )
        return UnreadKey(here, "dead_place", "error", message % {"key": key})
    message = _(
        "OpenClaw %(release)s does not know `%(key)s` here and rejects the whole file; "
        "it stays in the draft, and an export leaves it out"
    )
    return UnreadKey(here, "not_of_release", "warning", message % {"release": dialect.release, "key": key})


def _meant(key: str, known: Iterable[str]) -> str:
    """Return the word that a key probably stands for; empty when nothing comes close."""
    nickname = NICKNAMES.get(key.lower().replace("_", "").replace("-", ""))
    if key in POLICY_WORDS or nickname is not None:
        return nickname or key
    return suggestion(key, sorted(known)) or suggestion(key, POLICY_WORDS)


def _is_of_another_release(key: str, path: Path, dialect: Dialect) -> bool:
    for other in DIALECTS.values():
        place: KnownObject | None = other.document_keys
        for step in _shape_in_table(path) if other is not dialect else ():
            place = None if place is None else place.at(step)
        if other is not dialect and place is not None and key in (place.keys or ()):
            return True
    return False


def _shape_in_table(path: Path) -> tuple[str, ...]:
    if path[:2] == ("agents", "list"):
        return ("agents", "entries", *map(str, path[2:]))
    return tuple(map(str, path))


def _dead(here: Path, right: Path) -> UnreadKey:
    message = _("OpenClaw does not read `%(key)s` here, and it decides nothing: write it as `%(right)s`")
    return UnreadKey(here, "dead_place", "error", message % {"key": here[-1], "right": show_path(right)})


def _right_place(path: Path, word: str) -> Path | None:
    """Return where a word of policy belongs that stands in the object at a path; None where no place is known."""
    match path:
        case ("agents", "entries" | "list", _, *rest):
            return _right_place_of_agent(path[:3], tuple(rest), word)
        case ("channels",) | ("channels", "defaults"):
            return _of_group(("channels", "<channel>", "groups", "<id>"), word)
        case ("channels", _, *_rest):
            return _right_place_in_channel(path, word)
        case ("tools", "sandbox" | "subagents" as block) if word in LISTS:
            return ("tools", block, "tools", word)
        case ("agents", "defaults", "sandbox" | "subagents" as block) if word == "tools" or word in LISTS:
            return ("tools", block, "tools", *(() if word == "tools" else (word,)))
        case () | ("agents",) | ("agents", "defaults"):
            return ("tools",) if word == "tools" else ("tools", word)
    return None


def _right_place_of_agent(agent: Path, rest: Path, word: str) -> Path | None:
    match rest:
        case () if word in SCOPE and word != "subagents":
            return (*agent, "tools", word)
        case ("tools",) if word == "subagents":
            return ("tools", "subagents")
        case ("sandbox",) | ("tools", "sandbox") if word == "tools" or word in LISTS:
            return (*agent, "tools", "sandbox", "tools", *(() if word == "tools" else (word,)))
        case ("subagents",) if word == "tools" or word in LISTS:
            return ("tools", "subagents", "tools", *(() if word == "tools" else (word,)))
    return None


def _right_place_in_channel(path: Path, word: str) -> Path | None:
    """Return the block of the nearest group; a channel or an account has none of its own."""
    last_map = max((at for at, step in enumerate(path) if at > 1 and step in GROUP_MAPS), default=None)
    if last_map is not None and len(path) > last_map + 1:
        return _of_group(path[: last_map + 2], word)
    holder = path[: 4 if path[2:3] == ("accounts",) else 2]
    return _of_group((*holder, HOLDERS.get(str(path[1]), "groups"), ANY_GROUP), word) if path == holder else None


def _of_group(group: Path, word: str) -> Path | None:
    if word in ("tools", "toolsBySender"):
        return (*group, word)
    return (*group, "tools", word) if word in LISTS else None


def _loose(tree: Any, path: Path) -> Iterator[UnreadKey]:
    """Find blocks of policy in a channel of a plugin: its other keys are its own."""
    for key, value in tree.items() if isinstance(tree, dict) else ():
        here = (*path, key)
        if key in GROUP_MAPS and isinstance(value, dict):
            yield from _each(value, here, _loose_group)
        elif key == "accounts" and isinstance(value, dict):
            yield from _each(value, here, _loose)
        else:
            yield from _loose_word(key, value, path, ())


def _loose_group(group: Any, path: Path) -> Iterator[UnreadKey]:
    for key, value in group.items() if isinstance(group, dict) else ():
        here = (*path, key)
        if key in GROUP_MAPS and isinstance(value, dict):
            yield from _each(value, here, _loose_group)
        elif key in ("topics", "threads") and isinstance(value, dict):
            yield from _each(value, here, _loose_topic)
        else:
            yield from _loose_word(key, value, path, ("tools", "toolsBySender"))


def _loose_topic(topic: Any, path: Path) -> Iterator[UnreadKey]:
    for key, value in topic.items() if isinstance(topic, dict) else ():
        yield from _loose_word(key, value, path, ())


def _each(named: dict[str, Any], path: Path, read: Callable[[Any, Path], Iterator[UnreadKey]]) -> Iterator[UnreadKey]:
    """Read every object of a map whose keys are names that people choose."""
    for name, value in named.items():
        yield from read(value, (*path, name))


def _loose_word(key: str, value: Any, path: Path, known: Iterable[str]) -> Iterator[UnreadKey]:
    """Judge a key whose object may have others that nobody here knows: by its value, too."""
    if key in known or not _looks_like_policy(value):
        return
    meant = _meant(key, ()) if key in POLICY_WORDS or _is_near(key) else ""
    right = _right_place(path, meant) if meant else None
    if right is not None:
        yield _dead((*path, key), right)


def _is_near(key: str) -> bool:
    return key.lower() in NICKNAMES or bool(suggestion(key, POLICY_WORDS, cutoff=_NEAR))


def _looks_like_policy(value: Any) -> bool:
    """Say whether a value is a block of policy, a list of names, or a map of such blocks."""
    if isinstance(value, list):
        return all(isinstance(name, str) for name in value)
    blocks = [value, *value.values()] if isinstance(value, dict) else []
    return any(isinstance(block, dict) and any(isinstance(block.get(word), list) for word in LISTS) for block in blocks)
