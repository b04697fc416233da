"""The directory: what a model is told of the tools that it does not see, the same for the same catalogue.

It stands in the part of a prompt that providers keep, so nothing of one turn, one session or one search goes into it,
and no word that nobody here answers for.

Source: OpenClaw, "Tool Search", section "Why this exists".
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.lines import cut, one_line
from apps.firewall.tools.search.settings import Mode

LIMIT_CHARACTERS: Final = 18_000
LONGEST: Final = 300
SHORTEST: Final = 16
"""Characters of a description that still says something; with less room there is none."""
NAME_CHARACTERS: Final = 200

_CAPS: Final = (0, *range(SHORTEST, LONGEST + 1))
_TOLD: Final = (
    "You may use more tools than those whose schemas you see. Those of this installation are listed below; connected "
    "servers and the client may bring others, which only a search finds."
)
_WAYS: Final[dict[Mode, str]] = {
    "off": "",
    "tools": (
        "A listed tool cannot be called by its name alone: find it with `tool_search`, read its schema with "
        "`tool_describe` where the search does not tell it, and call it through `tool_call` with its name as `id` and "
        "its parameters in `args`."
    ),
    "directory": (
        "Call a listed tool by its exact name, or through `tool_call` with its name as `id`; `tool_search` finds one "
        "by what it does, `tool_describe` tells its schema."
    ),
    "code": (
        "Use them in `tool_search_code`: `openclaw.tools.search` finds one by what it does, `openclaw.tools.describe` "
        "tells its schema, `openclaw.tools.call` calls it."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """The text, and how much of the catalogue it tells.

    Args:
        text: empty where there is nothing to tell.
        listed: tools that it names.
        dropped: tools that it has no room for; search finds them.
        shortened: listed tools whose descriptions are not whole.
    """

    text: str
    listed: int = 0
    dropped: int = 0
    shortened: int = 0


class _Line(NamedTuple):
    name: str
    words: str
    is_whole: bool


def directory(
    descriptors: Iterable[Descriptor], *, limit: int = LIMIT_CHARACTERS, mode: Mode = "directory"
) -> Directory:
    """List the trusted tools of a catalogue by name, in any case within the limit.

    Descriptions are shortened, all to the same length, before the last names are dropped.

    Args:
        descriptors: in any order; those that a model sees anyway are left out by the caller.
        limit: characters of the text.
        mode: decides by which way the tools are called.
    """
    every = tuple(descriptors)
    if not every:
        return Directory(text="")
    head = f"{_TOLD} {_WAYS[mode]}".strip()
    trusted = sorted((each for each in every if each.is_trusted), key=lambda each: (each.name, each.id))
    lines = [_line(each) for each in trusted]
    room = limit - len(head)
    if room < 0:
        return Directory(text="", dropped=len(lines))
    at = bisect_right(_CAPS, room, key=lambda cap: _length(lines, cap))
    if at == 0:
        return _names_only(head, lines, limit)
    cap = _CAPS[at - 1]
    text = "\n".join([head, *(_written(line, cap) for line in lines)])
    return Directory(text=text, listed=len(lines), shortened=sum(not _is_whole(line, cap) for line in lines))


def _line(descriptor: Descriptor) -> _Line:
    words = one_line(descriptor.description or descriptor.label, limit=LONGEST + 1)
    name = one_line(descriptor.name, limit=NAME_CHARACTERS)
    return _Line(name, cut(words, limit=LONGEST), is_whole=len(words) <= LONGEST)


def _names_only(head: str, lines: Sequence[_Line], limit: int) -> Directory:
    """Drop the last names, and say how many."""
    room = limit - len(head) - len(_rest(len(lines)))
    listed = 0
    while listed < len(lines) and room >= (size := len(_written(lines[listed], 0)) + 1):
        room -= size
        listed += 1
    dropped = len(lines) - listed
    rest = _rest(dropped) if room >= 0 else ""
    text = "\n".join([head, *(_written(line, 0) for line in lines[:listed])]) + rest
    shortened = sum(not _is_whole(line, 0) for line in lines[:listed])
    return Directory(text=text, listed=listed, dropped=dropped, shortened=shortened)


def _rest(count: int) -> str:
    return f"\n… and {count} more, which a search finds."


def _length(lines: Sequence[_Line], cap: int) -> int:
    return sum(len(_written(line, cap)) + 1 for line in lines)


def _is_whole(line: _Line, cap: int) -> bool:
    return line.is_whole and len(line.words) <= cap


def _written(line: _Line, cap: int) -> str:
    return f"- {line.name}: {cut(line.words, limit=cap)}" if line.words and cap else f"- {line.name}"
