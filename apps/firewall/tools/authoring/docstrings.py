"""Descriptions out of docstrings: the text before the sections, and one for each parameter.

Two forms are read: sections such as `Args:` with indented `name: text` or `name (type): text`, and fields such as
`:param name: text`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

_SECTION: Final = re.compile(r"(Args|Arguments|Parameters|Params)\s*:\s*")
_OTHER_SECTION: Final = re.compile(r"(Returns?|Raises|Yields|Examples?|Notes?|Source|See Also|Warnings?|Todo)\s*:.*")
_ENTRY: Final = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_FIELD: Final = re.compile(r":(param|parameter|arg|argument)\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)")
_OTHER_FIELD: Final = re.compile(r":(returns?|rtype|raises?|type|yields?)\b.*")


@dataclass(slots=True)
class Docstring:
    """What a docstring says: `description` of the whole, `params` by name."""

    description: str = ""
    params: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str) -> Docstring:
    """Read a docstring whose indentation is already taken off, as `inspect.getdoc` does."""
    said = Docstring()
    before: list[str] = []
    reader = _Reader(said, before)
    for line in text.splitlines():
        reader.take(line)
    said.description = "\n".join(before).strip()
    said.params = {name: " ".join(words.split()) for name, words in said.params.items() if words.strip()}
    return said


class _Reader:
    def __init__(self, said: Docstring, before: list[str]) -> None:
        self.said, self.before = said, before
        self.place = "text"
        self.names: list[str] = []
        self.indent = 0

    def take(self, line: str) -> None:
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        described = _FIELD.fullmatch(stripped)
        if described:
            self.place, self.names, self.indent = "field", [described[2]], indent
            self._add(described[3])
        elif _OTHER_FIELD.fullmatch(stripped) or (not indent and _OTHER_SECTION.fullmatch(stripped)):
            self.place = "other"
        elif not indent and _SECTION.fullmatch(stripped):
            self.place, self.names, self.indent = "args", [], 0
        elif self.place == "text":
            self.before.append(line)
        elif self.place == "field" and indent > self.indent:
            self._add(stripped)
        elif self.place == "args":
            self._argument(stripped, indent)

    def _argument(self, stripped: str, indent: int) -> None:
        if not stripped:
            return
        entry = _ENTRY.fullmatch(stripped) if indent and (not self.names or indent <= self.indent) else None
        if entry:
            self.names, self.indent = [each.strip() for each in entry[1].split(",")], indent
            self._add(entry[2])
        elif indent > self.indent and self.names:
            self._add(stripped)
        elif not indent:
            self.place = "other"

    def _add(self, words: str) -> None:
        for name in self.names:
            self.said.params[name] = f"{self.said.params.get(name, '')} {words}"
