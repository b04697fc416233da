"""The preflight of a command: scripts in which a shell's language bled into another's, before they run.

A model that writes a script and a command in one breath mixes them up: `$NAME` in Python, a shell line at the top of
a JavaScript file. Finding this is help, not protection: what cannot be read is passed over, and said.
Source: conformance README, `shell_bleed.jsonl`.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final, Literal, Protocol

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import trim
from apps.firewall.errors import FirewallError
from apps.firewall.shell.python_source import shell_variable_in_python
from apps.firewall.shell.scripts import Language, ScriptRun, is_unclear, script_of_plain_line, scripts_of_line
from apps.firewall.tools.paths import PathRefusedError, real_file

SCRIPT_LIMIT_BYTES: Final = 512 * 1024

BleedKind = Literal["shell_variable", "js_shell_syntax", "complex_interpreter_invocation"]


class Unread(Enum):
    """Why a script was not read."""

    MISSING = "it is not there, or outside the folder"
    TOO_LARGE = "it is larger than 512 KB"
    UNREADABLE = "it cannot be read"


class Scripts(Protocol):
    """The files of a command's working folder."""

    def read(self, path: str) -> bytes | Unread:
        """Give a file of at most `SCRIPT_LIMIT_BYTES`, by its path as the command names it, or say why not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bleed:
    """What is wrong with a command or its script.

    Args:
        token: the variable.
        file: name of the script, without folders.
        line: of the token in the file, from 1.
    """

    kind: BleedKind
    message: str
    token: str = ""
    language: str = ""
    file: str = ""
    line: int = 0


class ShellBleedError(FirewallError):
    """A command must not run as it is."""

    code = "shell_bleed"

    def __init__(self, bleed: Bleed) -> None:
        super().__init__(bleed.message)
        self.bleed = bleed


@dataclass(frozen=True, slots=True)
class Preflight:
    """The answer of a preflight: what was found, and which scripts nobody looked into.

    Args:
        unread: pairs of a path as the command names it and the reason; not only harmless ones.
    """

    bleed: Bleed | None = None
    unread: tuple[tuple[str, Unread], ...] = ()

    def check(self) -> None:
        """Refuse what was found.

        Raises:
            ShellBleedError: there is something.
        """
        if self.bleed is not None:
            raise ShellBleedError(self.bleed)


@dataclass(frozen=True, slots=True)
class BleedRules:
    """What one release does differently."""

    reads_words: bool  # lines are read as a shell does, and refused when unclear; else by a plain form only
    reads_source: bool  # strings and comments of Python are told from code, and JavaScript is left alone
    line_end: re.Pattern[str]


_RULES: Final[Mapping[str, BleedRules]] = MappingProxyType(
    {
        "2026.9": BleedRules(reads_words=True, reads_source=True, line_end=re.compile(r"\r\n?|\n")),
        "2026.2": BleedRules(reads_words=False, reads_source=False, line_end=re.compile(r"\n")),
    }
)
_ADVICE: Final[Mapping[Language, str]] = {
    "python": 'read it with `os.environ["{name}"]`',
    "node": 'read it with `process.env["{name}"]`',
}
_VARIABLE: Final = re.compile(r"\$[A-Z_][A-Z0-9_]+")
_SHELL_LINE: Final = re.compile(r"NODE\b", re.ASCII)


def preflight(dialect: Dialect, command: str, scripts: Scripts) -> Preflight:
    """Look at a command and into the scripts that it gives to Python or Node; run nothing."""
    rules = _RULES[dialect.release]
    run = scripts_of_line(command) if rules.reads_words else script_of_plain_line(command)
    if run is None:
        return Preflight(_UNCLEAR if rules.reads_words and is_unclear(command) else None)
    if rules.reads_source and run.language == "node":
        return Preflight()
    return _look_into(rules, run, scripts)


_UNCLEAR: Final = Bleed(
    kind="complex_interpreter_invocation",
    message="the command runs a script in a way that cannot be checked: run `python <file>` or `node <file>` by itself",
)


def _look_into(rules: BleedRules, run: ScriptRun, scripts: Scripts) -> Preflight:
    unread: list[tuple[str, Unread]] = []
    for path in run.paths:
        content = scripts.read(path)
        if isinstance(content, Unread):
            unread.append((path, content))
            continue
        bleed = _bleed(rules, run.language, PurePosixPath(path).name, content.decode(errors="replace"))
        if bleed is not None:
            return Preflight(bleed, tuple(unread))
    return Preflight(None, tuple(unread))


def _bleed(rules: BleedRules, language: Language, file: str, text: str) -> Bleed | None:
    found = shell_variable_in_python(text) if rules.reads_source else _VARIABLE.search(text)
    if found is not None:
        line = 1 + sum(1 for _ in rules.line_end.finditer(text, 0, found.start()))
        advice = _ADVICE[language].format(name=found[0][1:])
        message = f"`{found[0]}` in line {line} of `{file}` is a variable of the shell, not of {language}: {advice}"
        return Bleed(kind="shell_variable", message=message, token=found[0], language=language, file=file, line=line)
    if language == "node" and _SHELL_LINE.match(_first_line(text)):
        message = f"`{file}` begins with a line of the shell, not of JavaScript"
        return Bleed(kind="js_shell_syntax", message=message, language=language, file=file)
    return None


def _first_line(text: str) -> str:
    return next((line for each in text.split("\n") if (line := trim(each))), "")


class FolderScripts:
    """The scripts of one folder on this machine; nothing outside is opened, whatever leads there."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes | Unread:
        """Give a regular file inside the folder."""
        try:
            found = real_file(path, (self._folder,))
        except PathRefusedError:
            return Unread.MISSING
        try:
            # neither a pipe that somebody put in its place may stop us, nor a link lead us on
            descriptor = os.open(found, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    return Unread.UNREADABLE
                content = file.read(SCRIPT_LIMIT_BYTES + 1)
        except OSError:
            return Unread.UNREADABLE
        return Unread.TOO_LARGE if len(content) > SCRIPT_LIMIT_BYTES else content
