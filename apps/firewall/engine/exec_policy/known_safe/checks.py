"""What options and operands alone do not tell: words that a program reads as more than a name."""

import re
from collections.abc import Mapping
from typing import Final

from apps.firewall.engine.exec_policy.known_safe.rule import Reading

FORBIDDEN: Final[Mapping[str, re.Pattern[str]]] = {
    "git": re.compile(r"::|%G|%\(signature|ext:"),  # a helper by its name, and formats that start gpg
    "tar": re.compile(r":"),  # an archive on another machine
    "less": re.compile(r"^\+"),  # commands of the pager
    "more": re.compile(r"^\+"),
    "man": re.compile(r"/"),  # a file, not a page
    "curl": re.compile(r"%output"),  # `--write-out` that names a file
    "jq": re.compile(r"\b(?:import|include)\b"),
    "yq": re.compile(r"\b(?:load\w*|system|import|include)\b"),
    "psql": re.compile(r"\\"),
}
"""What no word of a program may hold, wherever it stands."""

OPERANDS: Final[Mapping[str, re.Pattern[str]]] = {
    "date": re.compile(r"\+.*", re.DOTALL),  # the rest sets the clock
    "ps": re.compile(r"[\w,./-]*"),
    "redis-cli": re.compile(r"(?!@).*", re.DOTALL),
}
REMOTES: Final = frozenset(["push", "fetch", "pull", "ls-remote"])
REMOTE: Final = re.compile(r"origin|upstream")
"""Remotes that are names by custom. Any other name may be that of a folder, whose hooks git would run."""

_INSIDE: Final = r"(?:[^{0}\\\[\n]|\\[^\n]|\[\^?[^\]{0}\n]+\])*"
"""What stands between two delimiters; a bracket that holds one is read in two ways, so it is not read at all."""

_ADDRESS: Final = rf"(?:\d+|\$|/{_INSIDE.format('/')}/I?)"
_BEFORE: Final = rf"\s*(?:{_ADDRESS}(?:\s*,\s*[+~]?{_ADDRESS})?\s*!?)?\s*"
_BODY: Final = {re.escape(mark): re.escape(mark) + _INSIDE.format(re.escape(mark)) for mark in "/|,#:"}
_SUBSTITUTE: Final = "|".join(rf"s{body}{body}{mark}[gpiI0-9]*" for mark, body in _BODY.items())
_SED_COMMAND: Final = rf"{_BEFORE}(?:[pPdDqQ=lnNgGhHx]|{_SUBSTITUTE})\s*"
_SED_SCRIPT: Final = re.compile(rf"{_SED_COMMAND}(?:;{_SED_COMMAND})*;?\s*")
LONGEST_SCRIPT: Final = 400


def doubtful_word(program: str, reading: Reading, words: tuple[str, ...]) -> str:
    """Find a word of a known command that its program reads as more than a name; empty when there is none."""
    forbidden = FORBIDDEN.get(program)
    if forbidden is not None:
        for word in words:
            if forbidden.search(word):
                return word
    allowed = OPERANDS.get(program)
    if allowed is not None:
        for word in reading.operands:
            if not allowed.fullmatch(word):
                return word
    if program == "git" and REMOTES & set(reading.path) and reading.operands:
        remote = reading.operands[0]
        return "" if REMOTE.fullmatch(remote) else remote
    return _doubtful_script(reading) if program in ("sed", "gsed") else ""


def _doubtful_script(reading: Reading) -> str:
    """Find a script of `sed` that does more than to print, to delete and to substitute."""
    scripts = [value for name, value in reading.options if name in ("-e", "--expression")]
    if not scripts:
        if any(name in ("--version", "--help") for name, _ in reading.options):
            return ""
        if not reading.operands:
            return "no script"
        scripts = [reading.operands[0]]
    return next((each for each in scripts if len(each) > LONGEST_SCRIPT or not _SED_SCRIPT.fullmatch(each)), "")
