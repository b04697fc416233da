"""Names: one look must tell a model what the tool does to what."""

import re
from collections.abc import Iterator
from typing import Final

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint.findings import Finding, found
from apps.firewall.tools.lint.words import ACTIONS, EMPTY_WORDS
from apps.firewall.tools.search.controls import CONTROL_NAMES

NAME_LIMIT: Final = 64


def words_of(name: str) -> list[str]:
    """Split a name into its words, whatever its style: `sendEmail`, `send_email`, `mail.send`."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return [word.lower() for word in re.split(r"[^A-Za-z0-9]+", spaced) if word]


def own_name(name: str) -> str:
    """Return a tool's name without the server in front of it."""
    return name.rpartition("__")[2] or name


def check_name(definition: Definition) -> Iterator[Finding]:
    """Check style, length, and whether the name says an action."""
    name = own_name(definition.name)
    words = words_of(name)
    if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", name):
        yield found("name_style", "name", better="_".join(words))
    bare = [word.rstrip("0123456789") for word in words]
    empty = [word for word, stem in zip(words, bare, strict=True) if stem in EMPTY_WORDS or not stem]
    if empty and (not _has_action(bare) or len(words) - len(empty) < 2):
        yield found("name_vague", "name", word=empty[0])
    elif not _has_action(bare):
        yield found("name_without_action", "name", name=name)
    if definition.name.lower() in CONTROL_NAMES:
        yield found("name_reserved", "name", name=definition.name)
    if len(definition.name) > NAME_LIMIT:
        yield found("name_long", "name", length=len(definition.name), limit=NAME_LIMIT)


def _has_action(words: list[str]) -> bool:
    return any(word in ACTIONS for word in words)
