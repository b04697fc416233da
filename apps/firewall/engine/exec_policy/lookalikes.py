"""Letters that look like others: what a person reads as `curl` may be another program.

Source: Unicode Technical Standard 39, mixed-script confusables; a word that mixes ASCII with letters of scripts that
share its shapes, or with variants of ASCII letters and marks, is named.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from apps.firewall.engine.exec_policy.line import CommandLine, Evidence, names
from apps.firewall.engine.exec_policy.reach import Reached

WORDS_LIMIT: Final = 5
SHOWN: Final = 60
# Scripts that share shapes with ASCII letters.
SCRIPTS: Final = names("ARMENIAN CHEROKEE COPTIC CYRILLIC DESERET GEORGIAN GOTHIC GREEK LISU MATHEMATICAL OLD OSAGE")
MARKS: Final = names("Lm Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm")
_WORD = re.compile(r"[^\s'\"]{1,400}")


@lru_cache(maxsize=4096)
def looks_like_another(letter: str) -> bool:
    """Say whether a letter or mark beyond ASCII may be read as one of ASCII."""
    if letter.isascii():
        return False
    if unicodedata.category(letter) in MARKS or unicodedata.normalize("NFKC", letter) != letter:
        return True
    script = unicodedata.name(letter, "").partition(" ")[0]
    if script == "LATIN":
        return not unicodedata.normalize("NFD", letter)[0].isascii()
    return script in SCRIPTS


def look_alikes(line: CommandLine, commands: Sequence[Reached]) -> list[Evidence]:
    """Name words that mix ASCII with look-alikes, and programs whose names hold any; at most five."""
    if line.text.isascii():
        return []
    programs = [command.argv[0] for command in commands if command.argv]
    suspects = [word for word in programs if any(map(looks_like_another, word))]
    suspects += [word for word in _WORD.findall(line.text) if _is_mixed(word)]
    return [Evidence("look_alike", _told(word)) for word in list(dict.fromkeys(suspects))[:WORDS_LIMIT]]


def _is_mixed(word: str) -> bool:
    return any(letter.isascii() and letter.isalnum() for letter in word) and any(_odd(word))


def _odd(word: str) -> Iterator[str]:
    return (letter for letter in word if looks_like_another(letter))


def _told(word: str) -> str:
    letter = next(_odd(word))
    return f"{word[:SHOWN]}: U+{ord(letter):04X} {unicodedata.name(letter, '')}"
