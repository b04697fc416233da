"""What the words of a shell mean: quotes and escapes taken off.

Source: POSIX Shell Command Language, section 2.2; Bash Reference Manual, "ANSI-C Quoting".
"""

import re
from functools import partial
from typing import Final

_PLAIN_ESCAPE: Final = re.compile(r"\\(\r\n|.)", re.DOTALL)
_QUOTED_ESCAPE: Final = re.compile(r"\\(\r\n|[\\\"$`\r\n])")
_C_ESCAPE: Final = re.compile(
    r"\\(?:x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})|U(?P<long>[0-9A-Fa-f]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<plain>.))",
    re.DOTALL,
)
_C_ESCAPE_OF_RELEASE: Final = re.compile(_C_ESCAPE.pattern.replace("|c(?P<control>.)", ""), re.DOTALL)
_C_LETTERS: Final = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_C_ITSELF: Final = frozenset("'\"?\\")
_LINE_ENDS: Final = frozenset(["\n", "\r", "\r\n"])


def _escaped(match: re.Match[str]) -> str:
    return "" if match[1] in _LINE_ENDS else match[1]


def plain_text(text: str) -> str:
    """Decode text outside quotes."""
    return _PLAIN_ESCAPE.sub(_escaped, text)


def quoted_text(text: str) -> str:
    """Decode the inside of double quotes."""
    return _QUOTED_ESCAPE.sub(_escaped, text)


def c_text(text: str, *, keeps_unknown: bool = True) -> str:
    """Decode the inside of `$'…'`; what stands for no character stays as it is written.

    Args:
        keeps_unknown: the backslash of an unknown escape stays, as in bash; the release drops it, and knows no `\\c`.
    """
    return (_C_ESCAPE if keeps_unknown else _C_ESCAPE_OF_RELEASE).sub(
        partial(_c_character, keeps_unknown=keeps_unknown), text
    )


def _c_character(match: re.Match[str], *, keeps_unknown: bool) -> str:
    digits = match["hex"] or match["short"] or match["long"]
    if digits or match["octal"]:
        code = int(digits, 16) if digits else int(match["octal"], 8)
        return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match[0]
    if keeps_unknown and match["control"] is not None:
        return chr(ord(match["control"].upper()) & 0x1F)
    letter = match["plain"]
    if letter in _C_ITSELF:
        return letter
    return _C_LETTERS.get(letter, match[0] if keeps_unknown else letter)
