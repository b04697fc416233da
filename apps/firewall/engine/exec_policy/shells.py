"""Shells among the commands of a line: what they are asked to run.

Source: conformance README, `exec_approval.jsonl`, "Shells"; OpenClaw 2026.9.6.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.wrappers import classified, tool_name
from apps.firewall.engine.names import fold, trim

_LETTERS: Final = re.compile(r"[A-Za-z]*")
_CLUSTER: Final = re.compile(r"[-+][A-Za-z]+")
_HARMLESS_LONG: Final = frozenset(["--norc", "--noprofile", "--posix", "--rcfile", "--init-file"])
_FISH_LINE: Final = frozenset(["-c", "--command"])
_FISH_INIT: Final = ("-C", "--init-command=")
_STARTUP: Final = frozenset(["--rcfile", "--init-file", "--startup-file", "--init-command"])
_TAKE_VALUE: Final = names("-c --command -o -O +O +o")
_PLUS_OPTIONS: Final = names("ash bash dash ksh mksh osh sh yash zsh")
_CMD_LINE: Final = names("/c /k -c -k")
# Shells that read files of their own before any line: nothing tells what they run.
_UNTOLD: Final = names("csh osh tcsh")
_NU_LINE: Final = names("-e --execute")
_NU_STARTUP: Final = names("--config --env-config --plugin-config --plugins")
_CARRY_WORDS: Final = names("ash bash dash fish ksh sh zsh")
_SPACE: Final = r"[^\S\r\n]+"
_ZERO: Final = r'(?:\$(?:0|\{0\})|"\$(?:0|\{0\})")'
_ALL: Final = r'(?:\$(?:@|\{@\})|"\$(?:@|\{@\})")'
_ONE: Final = r'(?:\$(?:[@*]|[1-9]|\{[@*1-9]\})|"\$(?:[@*]|[1-9]|\{[@*1-9]\})")'
_START: Final = rf"(?:exec{_SPACE}(?:--{_SPACE})?)?{_ZERO}"
_CARRIES: Final = re.compile(rf"{_START}(?:{_SPACE}{_ONE})*")
_CARRIES_ALL: Final = re.compile(rf"{_START}{_SPACE}{_ALL}")
_CARRIES_NONE: Final = re.compile(_START)


def _prefixes(word: str, shortest: str) -> list[str]:
    return [f"{mark}{word[:size]}" for size in range(len(shortest), len(word) + 1) for mark in ("-", "--", "/")]


_POWER_REST: Final = frozenset([*_prefixes("command", "c"), *_prefixes("commandwithargs", "cwa")])
_POWER_LINE: Final = frozenset(
    [*_POWER_REST, *_prefixes("file", "f"), *_prefixes("encodedcommand", "e"), *_prefixes("ec", "e")]
)
_POWER_VALUES: Final = frozenset(
    option
    for word, shortest in (
        ("configurationfile", "conf"),
        ("configurationname", "config"),
        ("custompipename", "cus"),
        ("encodedarguments", "encodeda"),
        ("executionpolicy", "ex"),
        ("inputformat", "inp"),
        ("outputformat", "o"),
        ("psconsolefile", "pscf"),
        ("settingsfile", "settings"),
        ("token", "to"),
        ("utctimestamp", "utc"),
        ("version", "v"),
        ("windowstyle", "w"),
        ("workingdirectory", "w"),
        *((short, short) for short in ("ea", "ep", "if", "of", "pscf", "wd")),
    )
    for option in _prefixes(word, shortest)
)
_POWER_OPTION: Final = re.compile(r"/[A-Za-z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Inline:
    """A line that a shell is given as an argument.

    Args:
        line: the line.
        is_plain: nothing but the line is run, as far as anybody knows the options.
        is_bindable: the release takes the line for all that is run.
        flag_is_read: the option for the line is one that the release reads lines of.
        rest: the words behind the line.
    """

    line: str
    is_plain: bool
    is_bindable: bool = True
    flag_is_read: bool = True
    rest: tuple[str, ...] = ()

    @property
    def carries_words(self) -> bool:
        """Say whether the line only starts the words behind it, as `$0 "$@"` does."""
        return _CARRIES.fullmatch(trim(self.line)) is not None

    @property
    def carries_all_words(self) -> bool:
        """Say whether it starts all of them, so that an answer can be bound to them."""
        return (_CARRIES_ALL if self.rest[1:] else _CARRIES_NONE).fullmatch(trim(self.line)) is not None


def is_shell(argv: tuple[str, ...], tables: Tables) -> bool:
    """Say whether a command is a shell."""
    return bool(argv) and tool_name(argv[0]) in tables.shells.every


def shell_call(argv: tuple[str, ...], tables: Tables) -> Inline | None:
    """Find the line that a command has a shell run, also behind wrappers; None when there is none."""
    direct = classified(argv, tables)
    return None if direct is None else inline_of(direct, tables)


def inline_of(argv: tuple[str, ...], tables: Tables) -> Inline | None:
    """Find the line that a shell is asked to run; None when it is asked for something else."""
    if not is_shell(argv, tables):
        return None
    name = tool_name(argv[0])
    if name == "cmd":
        at = next((at for at, word in enumerate(argv) if fold(word) in _CMD_LINE), len(argv))
        return _inline(" ".join(argv[at + 1 :]))
    if name in tables.shells.windows:
        return _inline(_power_line(argv))
    return None if name in _UNTOLD else _posix(argv, name, tables)


def _inline(line: str) -> Inline | None:
    return Inline(trim(line), is_plain=False) if trim(line) else None


def _power_line(argv: tuple[str, ...]) -> str:
    at = 1
    while at < len(argv):
        word = fold(argv[at])
        if word == "--":
            break
        if word in _POWER_REST:
            return " ".join(map(trim, argv[at + 1 :]))
        if word in _POWER_LINE:
            return argv[at + 1] if at + 1 < len(argv) else ""
        if word and not word.startswith("-") and not _POWER_OPTION.fullmatch(trim(argv[at])):
            break
        at += 2 if word in _POWER_VALUES else 1
    return ""


def _posix(argv: tuple[str, ...], name: str, tables: Tables) -> Inline | None:
    flags = tables.shells.inline_flags | (_NU_LINE if name == "nu" else frozenset())
    if name == "nu" and any(fold(word).partition("=")[0] in _NU_STARTUP for word in argv[1:]):
        return None
    found = _line_at(argv, flags, tables)
    if found is None:
        return None
    flag, at = found
    line = trim(_attached(trim(argv[flag])) or (argv[at] if at < len(argv) else ""))
    if not line:
        return None
    before = argv[1:flag]
    is_fish = name == "fish"  # whose options are others, and some of them run or write
    is_plain = not line.startswith(("-", "+")) and all(_is_plain_option(word, tables) for word in argv[1 : flag + 1])
    word = trim(argv[flag])
    return Inline(
        line,
        is_plain=is_plain and not (is_fish and (bool(before) or word not in _FISH_LINE)),
        is_bindable=not _starts_more(argv, flag, is_fish=is_fish),
        flag_is_read=fold(word) in _FISH_LINE or re.fullmatch(r"-[^-]*c[^-]*", word, re.IGNORECASE) is not None,
        rest=tuple(each for each in argv[at + 1 :] if trim(each)),
    )


def _line_at(argv: tuple[str, ...], flags: frozenset[str], tables: Tables) -> tuple[int, int] | None:
    """Find the option for the line, and the place of the line."""
    at = 1
    while at < len(argv):
        word = trim(argv[at])
        if word == "--" or (word and not word.startswith(("-", "+"))):
            return None
        if word in flags:
            return at, at + 1
        if _is_for_line(word):
            return at, at + 1 + _values_in(word)
        at += 1 if not word else 1 + _values(word, tables)
    return None


def _is_for_line(word: str) -> bool:
    """Say whether one word of short options holds `c`."""
    return len(word) > 1 and word[0] == "-" and "-" not in word[1:] and "c" in word[1:]


def _attached(word: str) -> str:
    """Return a line that stands in one word with its option: what follows `c` and is more than letters."""
    if not _is_for_line(word):
        return ""
    rest = word[1:].partition("c")[2]
    return "" if _LETTERS.fullmatch(rest) else rest


def _values_in(word: str) -> int:
    return 0 if _attached(word) else sum(letter in "oO" for letter in word[1:])


def _starts_more(argv: tuple[str, ...], flag: int, *, is_fish: bool) -> bool:
    """Say whether a shell is started as a login, interactively, or with commands before its line."""
    before = [trim(word) for word in argv[1 : flag + 1]]
    short = "".join(word[1:] for word in before if word.startswith("-") and "-" not in word[1:])
    is_started = "l" in short or "i" in short or not {"--login", "--interactive"}.isdisjoint(before)
    return is_started or (is_fish and _fish_runs_more(argv))


def _fish_runs_more(argv: tuple[str, ...]) -> bool:
    options: list[str] = []
    for word in filter(None, map(trim, argv[1:])):
        if word == "--" or not word.startswith(("-", "+")):
            break
        options.append(word)
    runs_first = any(word.startswith(_FISH_INIT) or word == "--init-command" for word in options)
    return runs_first or any(word.startswith("-c") and word != "-c" for word in options)


def has_line_option(argv: tuple[str, ...], tables: Tables) -> bool:
    """Say whether any word of a shell's call looks like its option for a line, wherever it stands."""
    name = tool_name(argv[0])
    if name == "cmd":
        is_one: Callable[[str], bool] = frozenset(["/c", "/k"]).__contains__
    elif name in tables.shells.windows:
        is_one = names("-c -command --command -encodedcommand -enc -e -f -file").__contains__
    else:
        is_one = _looks_like_line
    for word in filter(None, map(fold, argv[1:])):
        if word == "--":
            break
        if is_one(word):
            return True
    return False


def _looks_like_line(word: str) -> bool:
    return word in _FISH_LINE or (word.startswith("-") and not word.startswith("--") and "c" in word[1:])


def _values(word: str, tables: Tables) -> int:
    """Count the words that an option takes."""
    if len(word) > 1 and word[0] in "-+" and "-" not in word[1:]:
        count = sum(letter in "oO" for letter in word[1:])
        if count:
            return count
    return int(word in tables.shells.with_value)


def _is_plain_option(word: str, tables: Tables) -> bool:
    """Say whether an option leaves a shell's start and its reading of the line as they are."""
    if word.startswith("--"):
        return word in _HARMLESS_LONG or word in tables.shells.inline_flags
    if not _CLUSTER.fullmatch(word):
        return not word.startswith(("-", "+"))  # the value of one
    if word in tables.shells.with_value:
        return True
    # `-i`, `-l` and `-s` start another kind of shell; a capital C is an option of one shell only (fish runs its value).
    letters = word[1:].replace("c", "", 1)
    return not set(letters) & set("ilscC")


def carried_words(argv: tuple[str, ...], inline: Inline, tables: Tables) -> tuple[str, ...]:
    """Return the words that a line such as `$0 "$@"` starts; none where they start a shell or a wrapper."""
    if tool_name(argv[0]) not in _CARRY_WORDS or not inline.carries_words or not inline.rest:
        return ()
    name = tool_name(inline.rest[0])
    return () if name in tables.wrappers or name in tables.shells.every else inline.rest


def script_of(argv: tuple[str, ...], tables: Tables) -> tuple[str, ...] | None:
    """Return the script that a shell is given, and its arguments; None when it reads its commands elsewhere."""
    name = tool_name(argv[0]) if argv else ""
    if name not in tables.shells.parseable:
        return None
    at = 1
    while at < len(argv):
        word = trim(argv[at])
        if word == "--":
            at += 1
            break
        short = word.startswith("-") and "-" not in word[1:]
        if word.partition("=")[0] in _STARTUP or word in tables.shells.inline_flags:
            return None
        if short and set(word[1:].lower()) & set("cs"):
            return None
        if word in _TAKE_VALUE:
            at += 2
        elif not word:
            at += 1
        elif word.startswith("-") or (word.startswith("+") and name in _PLUS_OPTIONS):
            at += 1 + _values(word, tables)
        elif word.startswith("+"):
            at += 1
        else:
            break
    return (trim(argv[at]), *argv[at + 1 :]) if at < len(argv) and trim(argv[at]) else None
