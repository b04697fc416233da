"""Reads commands in texts and argument lists for the secrets that `programs` knows, and for what is piped into them."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from apps.firewall.redaction.programs import ONLY_WITH, PROGRAMS, Form, Program

WORD: Final = re.compile(
    r"(?:\\{1,4}\"(?:(?!\\{1,4}\")[^\n]){0,4096}\\{1,4}\"|\"(?:[^\"\\\n]|\\.){0,4096}\"|'[^'\n]{0,4096}'"
    r"|\\.|[^\s\"'\\|;&<>()`])+"
)
_ANY: Final = "|".join(re.escape(name) for name in sorted(PROGRAMS, key=len, reverse=True))
START: Final = re.compile(rf"(?<![\w.-])(?:{_ANY})(?:\.exe)?(?=[ \t]+\S)")
END: Final = re.compile(r"[ \t]*(?:\\\n[ \t]*)?")
WORDS_AT_MOST: Final = 64
INSIDE_AT_MOST: Final = 3
_QUOTES: Final = "\"'\\"


def secret_parts(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Say which words of a command, its program first, hold a secret, and from which character on."""
    name = words[0].rsplit("/", 1)[-1].removesuffix(".exe").lower()
    program = PROGRAMS.get(name)
    if program is None:
        return
    yield from _of_options(name, program, words)
    for before, place, form in program.operands:
        yield from _of_operand(before.split(), place, form, words)
    if name in _OF_THEIR_OWN:
        yield from _OF_THEIR_OWN[name](words)


def _of_options(name: str, program: Program, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    for index, word in enumerate(words[1:], 1):
        if word[:1] not in "-/" or len(word) < 2:
            continue
        attached = next((option for option in program.attached if word.startswith(option) and word != option), None)
        if attached is not None and not word.startswith("--"):
            yield index, len(attached)
            continue
        option, given = _option(program, word)
        if option is None or not _is_meant(name, option, words):
            continue
        form = program.options[option]
        if given is not None:
            at = form(word[given:])
            if at is not None:
                yield index, given + at
        elif index + 1 < len(words) and words[index + 1][:1] != "-":
            at = form(words[index + 1])
            if at is not None:
                yield index + 1, at


def _is_meant(name: str, option: str, words: Sequence[str]) -> bool:
    needed = ONLY_WITH.get((name, option))
    return needed is None or not set(needed).isdisjoint(words)


def _option(program: Program, word: str) -> tuple[str | None, int | None]:
    """Find the option that a word is, and from where on the word holds its argument, if it does."""
    if word in program.options:
        return word, None
    for mark in "=:":
        name, found, _ = word.partition(mark)
        if found and len(name) > 2 and name in program.options:
            return name, len(name) + 1
    short = word[:2]
    if short in program.options and word[1] != "-" and not program.is_spelled:
        return short, 2
    last = f"-{word[-1]}"
    is_short = bool(program.switches) and word[0] == "-" and word[1] != "-" and last in program.options
    return (last, None) if is_short and program.switches_hold(word[1:-1]) else (None, None)


def _of_operand(before: list[str], place: int, form: Form, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    at = _end_of(before, words)
    if at is None:
        return
    operands = [index for index in range(at, len(words)) if words[index][:1] != "-"]
    if len(operands) >= place and (begin := form(words[operands[place - 1]])) is not None:
        yield operands[place - 1], begin


def _end_of(before: list[str], words: Sequence[str]) -> int | None:
    at = 1
    for wanted in before:
        while at < len(words) and words[at] != wanted:
            at += 1
        if at == len(words):
            return None
        at += 1
    return at


def _htpasswd(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """`-b file user secret`, with `-n` no file."""
    letters = "".join(word[1:] for word in words[1:] if word[:1] == "-" and word[:2] != "--")
    operands = [index for index, word in enumerate(words) if index and word[:1] != "-"]
    place = 2 if "n" in letters else 3
    if "b" in letters and len(operands) >= place:
        yield operands[place - 1], 0


def _net_use(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    r"""`net use Z: \\host\share secret /user:anna`."""
    if "use" not in words or not any(word.lower().startswith("/user:") for word in words):
        return
    operands = [index for index, word in enumerate(words) if index > 1 and word[:1] not in "/-\\" and word[-1:] != ":"]
    yield from ((index, 0) for index in operands if words[index] != "*")


def _poetry(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    for index, word in enumerate(words):
        if word.startswith("http-basic.") and index + 2 < len(words):
            yield index + 2, 0
        elif word.startswith("pypi-token.") and index + 1 < len(words):
            yield index + 1, 0


def _npm(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """`config set //registry/:_authToken secret`: the name and its value as two words."""
    for index, word in enumerate(words[:-1]):
        if word.lower().endswith((":_authtoken", ":_auth", ":_password")):
            yield index + 1, 0


_OF_THEIR_OWN: Final[dict[str, Callable[[Sequence[str]], Iterator[tuple[int, int]]]]] = {
    "htpasswd": _htpasswd,
    "net": _net_use,
    "npm": _npm,
    "poetry": _poetry,
}


def spans(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Say where the commands of a text hold secrets.

    A command may stand among the words of another (`sshpass -p … curl -u …`); only so many are looked for there.
    """
    end = inside = 0
    for start in START.finditer(low):
        inside = inside + 1 if start.start() < end else 0
        if inside > INSIDE_AT_MOST:
            continue
        places = _words_from(text, start.start())
        end = max(end, places[-1][1]) if places else end
        words = [_unquoted(text[first:last]) for first, last in places]
        for index, begin in secret_parts(words):
            first, last = places[index]
            yield _inside_quotes(text[first:last], first, begin)


def _inside_quotes(written: str, at: int, begin: int) -> tuple[int, int]:
    """Say where a word's part from a character on stands, without the quotes around it."""
    end = at + len(written.rstrip(_QUOTES))
    lead = len(written) - len(written.lstrip(_QUOTES))
    return min(at + begin + (lead if lead else _quotes_before(written, begin)), end), end


def _words_from(text: str, at: int) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    while len(places) < WORDS_AT_MOST:
        word = WORD.match(text, at)
        if word is None:
            break
        places.append(word.span())
        blank = END.match(text, word.end())
        if blank is None or blank.end() == word.end():
            break
        at = blank.end()
    return places


def _unquoted(word: str) -> str:
    return word.replace('"', "").replace("'", "").replace("\\", "") if any(mark in word for mark in _QUOTES) else word


def _quotes_before(quoted: str, inner: int) -> int:
    """Count the quotes that stand before a place of the word without quotes."""
    seen = count = 0
    for letter in quoted:
        if letter in _QUOTES:
            count += 1
        elif seen >= inner:
            break
        else:
            seen += 1
    return count


# --- what is handed over on standard input ---
_NEAR: Final = r"[^\n|;&]{0,200}"
_TAKERS: Final = (
    rf"(?:{_NEAR}--?(?:password|token|pass|pin|secret|key)-?stdin\b|{_NEAR}\bchpasswd\b|{_NEAR}\bpasswd\b{_NEAR}--stdin"
    rf"|\s{{0,8}}sudo\b[^\n|;&]{{0,80}}\s-[a-z]{{0,4}}S\b|{_NEAR}--with-token\b|{_NEAR}\bcryptsetup\b"
    rf"|{_NEAR}--passphrase-fd\b|{_NEAR}\b(?:kinit|vncpasswd|smbpasswd|pass insert|secret-tool store)\b)"
)
_GIVEN: Final = r"(?P<secret>\"[^\"\n]{1,512}\"|'[^'\n]{1,512}'|[^\s|;&<>\"']{1,512})"
PIPED: Final = re.compile(
    r"(?<![\w.-])(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)?"
    r"(?:(?:'%s(?:\\n|\n)?'|\"%s(?:\\n|\n)?\"|%s)[ \t]+)?"
    rf"{_GIVEN}[ \t]*\|{_TAKERS}"
)
HERE: Final = re.compile(
    r"(?:--with-token|--?(?:password|token|pass)-?stdin|chpasswd|--passphrase-fd[ \t=]0"
    rf"|passwd[ \t]--stdin[^\n<]{{0,80}}|sudo[ \t]-S[^\n<]{{0,80}})[ \t]*<<<[ \t]*{_GIVEN}"
)
TAKES_NAMES: Final = re.compile(r"(?m)^(?:[\w.-]{1,64}):(?P<secret>[^\s:]{1,512})$")
PIPED_NEEDS: Final = (
    "stdin",
    "chpasswd",
    "sudo",
    "-with-token",
    "cryptsetup",
    "passphrase-fd",
    "kinit",
    "vncpasswd",
    "smbpasswd",
    "pass insert",
    "secret-tool",
)


def piped_spans(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Say which words are piped into a program that reads a secret."""
    if "|" in text or "<<<" in text:
        for pattern in (PIPED, HERE):
            for match in pattern.finditer(text):
                first, last = match.span("secret")
                if text[first] in _QUOTES:
                    first, last = first + 1, last - 1
                if "chpasswd" in match[0]:
                    first = max(first, text.find(":", first, last) + 1)
                yield first, last
    if "chpasswd" in low and "<<" in text:
        yield from (match.span("secret") for match in TAKES_NAMES.finditer(text))
