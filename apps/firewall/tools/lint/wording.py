"""Descriptions: what a model is told must be more than the name, and say something."""

import re
from collections.abc import Iterator
from typing import Final

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint.findings import Finding, found
from apps.firewall.tools.lint.naming import own_name, words_of
from apps.firewall.tools.lint.words import FILLERS

SHORTEST: Final = 20
SHORTEST_CHINESE: Final = 8
LONGEST: Final = 1024
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_VAGUE: Final = re.compile(
    r"\b(does (some)?(stuff|things?)|various (things|tasks|operations)|useful (tool|function)|helper (tool|function)|"
    r"a (simple )?tool( that)?\.?$|handles everything|miscellaneous|to ?do\b|tbd|fixme|lorem ipsum|etc\.?$)",
    re.IGNORECASE,
)


def is_short(text: str) -> bool:
    """Say whether a text is too short to tell anything; a Chinese sign counts for more than a letter."""
    if _CHINESE.search(text):
        return len(text) < SHORTEST_CHINESE
    return len(text) < SHORTEST or len(text.split()) < 3


def repeats(text: str, name: str) -> bool:
    """Say whether a text has no word that the name does not have."""
    if _CHINESE.search(text):
        return False
    said = {_stem(word) for word in words_of(text)} - FILLERS
    return bool(said) and said <= {_stem(word) for word in words_of(name)}


def _stem(word: str) -> str:
    for ending in ("ing", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending)
    return word


def check_description(definition: Definition) -> Iterator[Finding]:
    """Check that a description is there, long enough, and no empty phrase."""
    text = definition.description.strip()
    vague = _VAGUE.search(text)
    if not text:
        yield found("description_missing", "description")
    elif repeats(text, own_name(definition.name)):
        yield found("description_repeats_name", "description")
    elif vague is not None:
        yield found("description_vague", "description", words=vague[0])
    elif is_short(text):
        yield found("description_short", "description")
    if len(text) > LONGEST:
        yield found("description_long", "description", length=len(text), limit=LONGEST)
