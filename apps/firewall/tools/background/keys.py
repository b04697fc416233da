"""What is typed at a terminal: keys by their names, lines, and pasted text, as bytes."""

import re
from collections.abc import Sequence
from typing import Final

from apps.firewall.errors import FirewallError

ESCAPE: Final = "\x1b"
NAMED: Final[dict[str, str]] = {
    "enter": "\r",
    "return": "\r",
    "tab": "\t",
    "space": " ",
    "escape": ESCAPE,
    "esc": ESCAPE,
    "backspace": "\x7f",
    "delete": f"{ESCAPE}[3~",
    "insert": f"{ESCAPE}[2~",
    "up": f"{ESCAPE}[A",
    "down": f"{ESCAPE}[B",
    "right": f"{ESCAPE}[C",
    "left": f"{ESCAPE}[D",
    "home": f"{ESCAPE}[H",
    "end": f"{ESCAPE}[F",
    "pageup": f"{ESCAPE}[5~",
    "pagedown": f"{ESCAPE}[6~",
    **{f"f{number}": f"{ESCAPE}O{letter}" for number, letter in enumerate("PQRS", 1)},
}
CONTROLLED: Final = re.compile(r"[Cc](?:trl)?-([A-Za-z@\[\\\]^_?])")
WITH_META: Final = re.compile(r"[Mm](?:eta)?-(.)")
PASTE_BEGIN, PASTE_END = f"{ESCAPE}[200~", f"{ESCAPE}[201~"


class KeyUnknownError(FirewallError):
    """A key that nobody knows."""

    code = "key_unknown"


def keys_bytes(keys: Sequence[str]) -> bytes:
    """Write keys as a terminal gets them: names (`enter`, `up`), `C-c`, `M-x`, or one character.

    Raises:
        KeyUnknownError: one is none of these.
    Source: ECMA-48; xterm's control sequences.
    """
    return "".join(map(_key, keys)).encode()


def _key(key: str) -> str:
    if key.lower() in NAMED:
        return NAMED[key.lower()]
    if len(key) == 1:
        return key
    controlled = CONTROLLED.fullmatch(key)
    if controlled is not None:
        return "\x7f" if controlled[1] == "?" else chr(ord(controlled[1].upper()) & 0x1F)
    meta = WITH_META.fullmatch(key)
    if meta is not None:
        return ESCAPE + meta[1]
    raise KeyUnknownError(f"there is no key `{key}`: use a name such as `enter`, `C-c`, `M-x`, or one character")


def pasted_bytes(text: str, *, is_bracketed: bool) -> bytes:
    """Write a text as a terminal pastes it: between brackets without escapes, so that it cannot end them itself."""
    if not is_bracketed:
        return text.encode()
    return f"{PASTE_BEGIN}{text.replace(ESCAPE, '')}{PASTE_END}".encode()
