"""Which scripts a line gives to Python or Node, and lines where that cannot be told.

Source: conformance README, `shell_bleed.jsonl`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.names import BLANKS, fold, trim
from apps.firewall.shell.quoting import holds_unescaped, names_a_script, segments, split_words, unquoted

Language = Literal["python", "node"]

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\n\r\u2028\u2029]*")
_PYTHON: Final = re.compile(r"python(?:3(?:\.[0-9]+)?)?")
_SHELL: Final = re.compile(r"(?:bash|dash|fish|ksh|sh|zsh)")
_LONG_OPTION: Final = re.compile(r"--[A-Za-z0-9][A-Za-z0-9-]*(?:=[^\n\r\u2028\u2029]*)?")
_SHORT_OPTIONS: Final = re.compile(r"-[A-Za-z]+")
_FOLDERS: Final = re.compile(r"[\\/]")

_KEYWORDS: Final = names("if then do elif else while until time")
_ENV_OPTIONS_WITH_VALUE: Final = names(
    "-C -S -u --argv0 --block-signal --chdir --default-signal --ignore-signal --split-string --unset"
)
_PYTHON_OPTIONS_WITH_VALUE: Final = frozenset({"-W", "-X", "-Q", "--check-hash-based-pycs"})
_NODE_PRELOADS: Final = frozenset({"-r", "--require", "--import"})
_SHELL_OPTIONS_WITH_VALUE: Final = frozenset({"-O", "-o"})
_ONLY_TELLS: Final[Mapping[Language, frozenset[str]]] = {
    "python": frozenset({"-V", "--version", "-h", "--help"}),
    "node": frozenset({"-v", "--version", "-h", "--help", "-c", "--check"}),
}
_COMBINES: Final = ("|", "&&", ";", "$(", "`", "<(", ">(")
_SUBSTITUTES: Final = ("<(", ">(")


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """An interpreter with the scripts it is given, as they are named in the line."""

    language: Language
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Command:
    """A command without what stands before it: keywords, `env` and assignments."""

    name: str
    arguments: tuple[str, ...]

    @property
    def language(self) -> Language | None:
        if _PYTHON.fullmatch(self.name):
            return "python"
        return "node" if self.name == "node" else None


def _command(words: Sequence[str] | None) -> _Command | None:
    rest = list(words or ())
    while rest and _ASSIGNMENT.fullmatch(rest[0]):
        del rest[0]
    name = fold(rest[0]) if rest else ""
    return _Command(name, tuple(rest[1:])) if name else None


def _command_of_segment(segment: str) -> _Command | None:
    words = split_words(trim(segment)) or []
    if words and words[0].lower() in _KEYWORDS:
        words = words[1:]
    return _command(without_env(words))


def without_env(words: Sequence[str]) -> Sequence[str]:
    """Leave out `env` and what belongs to it; the words as they are when they do not begin so."""
    at = 0
    while at < len(words) and _ASSIGNMENT.fullmatch(words[at]):
        at += 1
    if at == len(words) or _program(words[at]) != "env":
        return words
    at += 1
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[at + 1 :]
        is_assignment = _ASSIGNMENT.fullmatch(word) is not None
        if not is_assignment and (not word.startswith("-") or word == "-"):
            break
        at += 1
        if word in _ENV_OPTIONS_WITH_VALUE:
            at += 1
    return words[at:]


def _program(word: str) -> str:
    return fold(_FOLDERS.split(word)[-1]).removesuffix(".exe")


def scripts_of_line(line: str) -> ScriptRun | None:
    """Return the scripts that a line of one command gives to an interpreter; None when it gives none."""
    words = split_words(trim(line))
    if words is None:
        return None
    return _scripts(_command(words)) or _scripts(_command(without_env(words)))


def _scripts(command: _Command | None) -> ScriptRun | None:
    if command is None or command.language is None:
        return None
    paths = _READERS[command.language](command.arguments)
    return ScriptRun(command.language, paths) if paths else None


def _python_scripts(arguments: Sequence[str]) -> tuple[str, ...]:
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return _ending_like(".py", arguments[at + 1 : at + 2])
        if word == "-" or word.startswith(("-c", "-m")):
            return ()
        if not word.startswith("-"):
            return _ending_like(".py", (word,))
        at += 2 if word in _PYTHON_OPTIONS_WITH_VALUE else 1
    return ()


def _ending_like(ending: str, words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words if fold(word).endswith(ending))


def _node_scripts(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return what is loaded before the program, then the program, unless code stands in the line itself."""
    loaded: list[str] = []
    is_inline = False
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--" or not word.startswith("-"):
            program = arguments[at + 1 : at + 2] if word == "--" else (word,)
            return (*loaded, *(() if is_inline else _ending_like(".js", program)))
        at += 1
        if _is_inline_code(word):
            is_inline = True
            at += word in ("-e", "-p", "--eval", "--print")
        elif word in _NODE_PRELOADS:
            loaded += _ending_like(".js", arguments[at : at + 1])
            at += 1
        elif word.startswith("-r"):
            loaded += _ending_like(".js", (word[2:],))
        elif word.startswith(("--require=", "--import=")):
            loaded += _ending_like(".js", (word.partition("=")[2],))
    return tuple(loaded)


def _is_inline_code(word: str) -> bool:
    return word.startswith(("-e", "-p", "--eval=", "--print=")) or word in ("--eval", "--print")


_READERS: Final[Mapping[Language, Callable[[Sequence[str]], tuple[str, ...]]]] = {
    "python": _python_scripts,
    "node": _node_scripts,
}


def is_unclear(line: str) -> bool:
    """Say whether an interpreter seems to run a script, in a line too involved to tell which."""
    line = trim(line)
    direct = _command(without_env(split_words(line) or ()))
    is_direct = direct is not None and direct.language is not None
    payload = _payload(direct)
    wrapped = payload is not None and _wraps_interpreter(payload)
    text = _outside_quotes(line)
    if not (wrapped or _is_involved(text)):
        return False
    if not (is_direct or wrapped or any(_leads_to_interpreter(each) for each in segments(line, pipes=True))):
        return False
    if any(_runs_script(each) for each in (line, payload) if each is not None):
        return True
    return is_direct and _substitutes(text)


def _outside_quotes(text: str) -> str:
    bare = unquoted(text)
    return text if bare is None else bare


def _is_involved(text: str) -> bool:
    return any(each in text for each in "\n\r") or any(holds_unescaped(text, each) for each in _COMBINES)


def _substitutes(text: str) -> bool:
    return any(holds_unescaped(text, each) for each in _SUBSTITUTES)


def _payload(command: _Command | None) -> str | None:
    """Return the line that a shell is given as an argument."""
    if command is None or not _SHELL.fullmatch(_program(command.name)):
        return None
    words = command.arguments
    at = 0
    while at < len(words):
        word = words[at]
        following = words[at + 1 : at + 2]
        if _SHORT_OPTIONS.fullmatch(word):
            if "c" in word:
                return following[0] if following else None
            at += 2 if word in _SHELL_OPTIONS_WITH_VALUE else 1
        elif _LONG_OPTION.fullmatch(word):
            takes_value = "=" not in word and following and following[0] and not following[0].startswith("-")
            at += 2 if takes_value else 1
        else:
            return None
    return None


def _wraps_interpreter(payload: str) -> bool:
    text = _outside_quotes(payload)
    if not any(_leads_to_interpreter(each) for each in segments(text, pipes=True)):
        return False
    return _runs_script_alone(payload) or names_a_script(text) or _is_involved(text)


def _leads_to_interpreter(segment: str) -> bool:
    command = _command_of_segment(_outside_quotes(segment))
    return command is not None and command.language is not None


def _runs_script(line: str) -> bool:
    return _runs_script_alone(line) or any(_pipes_into_interpreter(each) for each in segments(line, pipes=False))


def _runs_script_alone(line: str) -> bool:
    return any(_executes(each) and _hints(each) for each in segments(line, pipes=True))


def _pipes_into_interpreter(segment: str) -> bool:
    return any(map(_executes, segments(segment, pipes=True)[1:])) and _hints(segment)


def _hints(segment: str) -> bool:
    return names_a_script(segment) or _scripts(_command_of_segment(segment)) is not None


def _executes(segment: str) -> bool:
    """Say whether a command is an interpreter that runs something other than code in the line itself."""
    command = _command_of_segment(segment)
    language = command.language if command is not None else None
    if command is None or language is None or _ONLY_TELLS[language] & {*command.arguments}:
        return False
    if language == "node":
        return not any(map(_is_inline_code, command.arguments))
    return not any(each.startswith(("-c", "-m")) or each == "--check-hash-based-pycs" for each in command.arguments)


_BLANK: Final = f"[{BLANKS}]"
_WORD: Final = f"[^{BLANKS}]+"
_SIMPLE: Final[Mapping[Language, re.Pattern[str]]] = {
    "python": re.compile(rf"python3?{_BLANK}+(?:-{_WORD}{_BLANK}+)*({_WORD}\.py)\b", re.ASCII | re.IGNORECASE),
    "node": re.compile(rf"node{_BLANK}+(?:--{_WORD}{_BLANK}+)*({_WORD}\.js)\b", re.ASCII | re.IGNORECASE),
}


def script_of_plain_line(line: str) -> ScriptRun | None:
    """Return the one script that the older release sees in a line: an interpreter, options, a script without quotes."""
    for language, form in _SIMPLE.items():
        match = form.match(trim(line))
        if match is not None:
            return ScriptRun(language, (match[1],))
    return None
