"""Regular expressions as JavaScript reads them without flags, translated for `re`.

The two languages share most of their signs and differ in what these mean: `$` before a last line end, `\\Z`, `a{,3}`,
`[]`, `(?i)`. A pattern that is searched in the wrong language admits what its owner did not write.
Source: ECMAScript, "RegExp" and its Annex B.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from apps.firewall.engine.names import BLANKS

LINE_ENDS: Final = "\n\r\u2028\u2029"
_NOT_A_LINE_END: Final = "[^\\n\\r\\u2028\\u2029]"
_CONTROLS: Final = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_ASCII_CLASSES: Final = frozenset("dDwW")
_QUANTIFIER: Final = re.compile(r"\{(\d+)(?:(,)(\d*))?\}", re.ASCII)
_NAME: Final = re.compile(r"\?<([A-Za-z_$][\w$]*)>", re.ASCII)
_HEX: Final = {"x": re.compile(r"[0-9A-Fa-f]{2}"), "u": re.compile(r"[0-9A-Fa-f]{4}")}
_OCTAL: Final = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?")
_LOOKS_AROUND: Final = ("?=", "?!", "?<=", "?<!")
_ANY_CODE: Final = r"\x00-\U0010ffff"


class UntranslatableError(ValueError):
    """JavaScript refuses the pattern, or it holds look-around or a reference."""


def code_units(text: str) -> str:
    """Return a text as JavaScript counts it: a character beyond the first 65,536 is two."""
    if all(character <= "\uffff" for character in text):
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[at] | units[at + 1] << 8) for at in range(0, len(units), 2))


def translate(pattern: str) -> str:
    """Return what `re` has to compile, with its flag `ASCII`.

    Raises:
        UntranslatableError: the pattern is none, or outside the subset.
    """
    return _Translation(code_units(pattern)).whole()


def _blanks() -> str:
    return "".join(map(_character, BLANKS))


def _all_but_blanks() -> str:
    """Write every character but the blanks as ranges."""
    codes = sorted(map(ord, BLANKS))
    starts = [0, *(code + 1 for code in codes)]
    ends = [*(code - 1 for code in codes), 0x10FFFF]
    return "".join(
        f"{_character(chr(start))}-{_character(chr(end))}"
        for start, end in zip(starts, ends, strict=True)
        if start <= end
    )


def _character(character: str) -> str:
    return f"\\U{ord(character):08x}" if not character.isascii() or not character.isalnum() else character


@dataclass(slots=True)
class _Translation:
    """One pass over a pattern."""

    text: str
    at: int = 0
    written: list[str] = field(default_factory=list)
    depth: int = 0
    groups: int = 0
    has_names: bool = False

    def whole(self) -> str:
        self.groups, self.has_names = _groups(self.text)
        can_repeat = False
        while self.at < len(self.text):
            can_repeat = self._piece(can_repeat=can_repeat)
        if self.depth:
            raise UntranslatableError("a group is not closed")
        return "".join(self.written)

    def _piece(self, *, can_repeat: bool) -> bool:
        """Translate the next piece; say whether a quantifier may follow it."""
        character = self.text[self.at]
        quantifier = self._quantifier()
        if quantifier:
            if not can_repeat:
                raise UntranslatableError("nothing to repeat")
            self.written.append(quantifier)
            return False
        self.at += 1
        if character in "^|$":
            self.written.append(r"\Z" if character == "$" else character)
            return False
        if character == "(":
            self._open()
            return False
        if character == ")":
            self.depth -= 1
            if self.depth < 0:
                raise UntranslatableError("a group is closed that was not opened")
            self.written.append(")")
            return True
        if character == "\\":
            return self._escape()
        self.written.append(self._atom(character))
        return True

    def _atom(self, character: str) -> str:
        if character == ".":
            return _NOT_A_LINE_END
        return self._class() if character == "[" else _character(character)

    def _quantifier(self) -> str:
        """Take a quantifier; empty where none stands, as in `{x`."""
        character = self.text[self.at]
        taken = character
        if character == "{":
            found = _QUANTIFIER.match(self.text, self.at)
            if found is None:
                return ""
            least, comma, most = found.groups()
            if most and int(most) < int(least):
                raise UntranslatableError("numbers out of order in a quantifier")
            taken = f"{{{least}{comma or ''}{most or ''}}}"
            self.at = found.end()
        elif character in "*+?":
            self.at += 1
        else:
            return ""
        if self.text.startswith("?", self.at):
            self.at += 1
            taken += "?"
        return taken

    def _open(self) -> None:
        self.depth += 1
        rest = self.text[self.at :]
        named = _NAME.match(self.text, self.at)
        if rest.startswith("?:"):
            self.at += 2
            self.written.append("(?:")
        elif rest.startswith(_LOOKS_AROUND):
            raise UntranslatableError("look-around and references are not supported")
        elif named is not None:
            self.at = named.end()
            self.written.append("(")
        elif rest.startswith("?"):
            raise UntranslatableError("a group begins with `?` and what JavaScript does not know there")
        else:
            self.written.append("(")

    def _escape(self) -> bool:
        following = self._next()
        if following in "bB":
            self.at += 1
            self.written.append(f"\\{following}")
            return False
        if self._is_reference(following):
            raise UntranslatableError("look-around and references are not supported")
        if following in _ASCII_CLASSES:
            self.at += 1
            self.written.append(f"\\{following}")
        elif following in "sS":
            self.at += 1
            self.written.append(f"[{_blanks() if following == 's' else _all_but_blanks()}]")
        else:
            self.written.append(_character(self._escaped()))
        return True

    def _is_reference(self, following: str) -> bool:
        if following == "k":
            return self.has_names
        return following in "123456789" and int(self._digits()) <= self.groups

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise UntranslatableError("the pattern ends with a backslash")
        return self.text[self.at]

    def _digits(self) -> str:
        end = self.at
        while self.text[end : end + 1].isascii() and self.text[end : end + 1].isdigit():
            end += 1
        return self.text[self.at : end]

    def _escaped(self) -> str:
        """Take the one character that an escape stands for; of `\\c` without a letter, the backslash."""
        letter = self._next()
        octal = _OCTAL.match(self.text, self.at)
        if octal is not None:
            self.at = octal.end()
            return chr(int(octal[0], 8))
        digits = _HEX[letter].match(self.text, self.at + 1) if letter in _HEX else None
        if digits is not None:
            self.at = digits.end()
            return chr(int(digits[0], 16))
        if letter == "c":
            return self._control()
        self.at += 1
        return _CONTROLS.get(letter, letter)

    def _control(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        if not (following.isascii() and following.isalpha()):
            return "\\"
        self.at += 2
        return chr(ord(following) % 32)

    # --- classes ---

    def _class(self) -> str:
        is_negated = self.text.startswith("^", self.at)
        self.at += is_negated
        members: list[str] = []
        while True:
            if self.at >= len(self.text):
                raise UntranslatableError("a class of characters is not closed")
            if self.text[self.at] == "]":
                self.at += 1
                break
            members.append(self._range())
        if not members:  # `[]` is nothing, `[^]` anything
            return f"[{'' if is_negated else '^'}{_ANY_CODE}]"
        return f"[{'^' if is_negated else ''}{''.join(members)}]"

    def _range(self) -> str:
        first = self._member()
        is_range = self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in ("", "]")
        if not is_range:
            return _member_text(first)
        self.at += 1
        last = self._member()
        if len(first) != 1 or len(last) != 1:  # `[a-\\d]`: the hyphen is itself
            return _member_text(first) + _character("-") + _member_text(last)
        if first > last:
            raise UntranslatableError("a range of characters is out of order")
        return f"{_character(first)}-{_character(last)}"

    def _member(self) -> str:
        """Take one member of a class: a character, or the text of a class as `re` writes it."""
        character = self.text[self.at]
        self.at += 1
        if character != "\\":
            return character
        following = self._next()
        if following in _ASCII_CLASSES:
            self.at += 1
            return f"\\{following}"
        if following in "sS":
            self.at += 1
            return _blanks() if following == "s" else _all_but_blanks()
        if following == "b":
            self.at += 1
            return "\b"
        if following == "c" and not self.text[self.at + 1 : self.at + 2].isalpha():
            raise UntranslatableError("a class of characters holds `\\c` without a letter")
        return self._escaped()


def _member_text(member: str) -> str:
    return _character(member) if len(member) == 1 else member


def _groups(text: str) -> tuple[int, bool]:
    """Count the groups that capture, and say whether one has a name."""
    count, is_named, is_class, at = 0, False, False, 0
    while at < len(text):
        character = text[at]
        if character == "\\":
            at += 1
        elif is_class:
            is_class = character != "]"
        elif character == "[":
            is_class = True
        elif character == "(":
            named = _NAME.match(text, at + 1) is not None
            is_named = is_named or named
            count += named or not text.startswith("?", at + 1)
        at += 1
    return count, is_named
