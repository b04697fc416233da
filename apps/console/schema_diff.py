"""Two JSON documents line by line, what differs marked inside the line. For schemas and whole definitions."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from apps.console.changes import Line, Part

LINES_LIMIT: Final = 400
LINE_LIMIT: Final = 1200
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z0-9_.+-]+|\s+|.', re.DOTALL)
SAME_SHOWN: Final = 2


def schema_lines(schema: Any) -> list[str]:
    """Write a schema: its members one a line, each property on a line of its own, the rest compact."""
    return list(_lines(schema, "", ""))


def _lines(value: Any, indent: str, key: str) -> Iterator[str]:
    start = f"{indent}{json.dumps(key, ensure_ascii=False)}: " if key else indent
    if not isinstance(value, Mapping) or not value or (key and key != "properties"):
        yield start + compact(value)
        return
    yield start + "{"
    for name, inner in value.items():
        if key == "properties":
            yield f"{indent}  {json.dumps(str(name), ensure_ascii=False)}: {compact(inner)}"
        else:
            yield from _lines(inner, indent + "  ", str(name))
    yield indent + "}"


def compact(value: Any) -> str:
    """Write a value on one line, with a blank inside its braces."""
    if isinstance(value, Mapping) and value:
        members = (f"{json.dumps(str(name), ensure_ascii=False)}: {compact(inner)}" for name, inner in value.items())
        return "{ " + ", ".join(members) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(compact(inner) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False, default=str)


def diff_of(before: Any, after: Any) -> list[Line]:
    """Compare two documents, whatever the order of their keys; of long equal runs only the ends are shown."""
    return lines_compared(schema_lines(before), schema_lines(ordered_like(after, before)))


def ordered_like(value: Any, model: Any) -> Any:
    """Put the keys of a document into the order that they have in another one; new keys come last."""
    if isinstance(value, Mapping):
        known = model if isinstance(model, Mapping) else {}
        names = [*(name for name in known if name in value), *(name for name in value if name not in known)]
        return {name: ordered_like(value[name], known.get(name)) for name in names}
    if isinstance(value, list):
        others = model if isinstance(model, list) else []
        return [ordered_like(each, others[at] if at < len(others) else None) for at, each in enumerate(value)]
    return value


def lines_compared(old: Sequence[str], new: Sequence[str]) -> list[Line]:
    """Compare two texts line by line; a changed pair of lines shows what changed inside it."""
    lines: list[Line] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += _same(old[i1:i2], is_first=i1 == 0, is_last=i2 == len(old))
        else:
            lines += _changed(old[i1:i2], new[j1:j2])
        if len(lines) > LINES_LIMIT:
            return [*lines[:LINES_LIMIT], Line("", (Part("…"),))]
    return lines


def _same(texts: Sequence[str], *, is_first: bool, is_last: bool) -> list[Line]:
    head = 0 if is_first else SAME_SHOWN
    tail = 0 if is_last else SAME_SHOWN
    if len(texts) <= head + tail + 1:
        return [Line("", (Part(text[:LINE_LIMIT]),)) for text in texts]
    kept = [*texts[:head], "…", *texts[len(texts) - tail :]]
    return [Line("", (Part(text[:LINE_LIMIT]),)) for text in kept]


def _changed(old: Sequence[str], new: Sequence[str]) -> list[Line]:
    """Put lines of one key beside each other, so that each old line is followed by its new one."""
    if len(old) == len(new) == 1:
        return _pair(old[0], new[0])
    by_key: dict[str, list[str]] = {}
    for text in new:
        by_key.setdefault(_key(text), []).append(text)
    lines: list[Line] = []
    for text in old:
        partners = by_key.get(_key(text))
        lines += _pair(text, partners.pop(0)) if partners else [Line("−", (Part(text[:LINE_LIMIT]),))]
    return lines + [Line("+", (Part(text[:LINE_LIMIT]),)) for texts in by_key.values() for text in texts]


def _key(text: str) -> str:
    head, mark, _rest = text.partition('": ')
    return head if mark else text.strip()


def _pair(before: str, after: str) -> list[Line]:
    old, new = (_TOKEN.findall(text[:LINE_LIMIT]) for text in (before, after))
    left: list[Part] = []
    right: list[Part] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        is_same = tag == "equal"
        if i2 > i1:
            left.append(Part("".join(old[i1:i2]), "" if is_same else "del"))
        if j2 > j1:
            right.append(Part("".join(new[j1:j2]), "" if is_same else "ins"))
    return [Line("−", tuple(left)), Line("+", tuple(right))]
