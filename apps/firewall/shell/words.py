"""The words of one plain command, and everything in the line that only a shell could give a meaning.

Quotes and backslashes are understood as POSIX says; whatever else is special to a shell is named, not interpreted.
Source: POSIX Shell Command Language, sections 2.2 and 2.3.
"""

import unicodedata

from apps.firewall.engine.exec_policy.line import CommandLine, Evidence, names
from apps.firewall.shell.reader import READER

SPECIAL = frozenset(";&|<>()$`*?[]{}\n\r")
SPECIAL_IN_QUOTES = frozenset("$`")
ESCAPED_IN_QUOTES = frozenset('$`"\\\n')
RESERVED = names("! [[ case coproc do done elif else esac fi for function if in select then time until while")
PARTS_OF_WORDS = frozenset("*?[]{}~#$")
BLANKS = frozenset(" \t")
LINE_LIMIT = 16_384
FINDINGS_LIMIT = 20


class _Reader:
    """One pass over a line, a character at a time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.words: list[str] = []
        self.word: list[str] | None = None
        self.is_quoted = False
        self.found: list[Evidence] = []
        self.unreadable = ""

    def note(self, code: str, piece: str) -> None:
        if len(self.found) < FINDINGS_LIMIT:
            self.found.append(Evidence(code, piece))

    def take(self) -> str:
        character = self.text[self.at]
        self.at += 1
        return character

    def add(self, text: str) -> None:
        if self.word is None:
            self.word = []
        self.word.append(text)

    def end_word(self) -> None:
        if self.word is None:
            return
        word = "".join(self.word)
        if not self.words and not self.is_quoted:
            self._check_first(word)
        self.words.append(word)
        self.word, self.is_quoted = None, False

    def _check_first(self, word: str) -> None:
        if word in RESERVED:
            self.note("reserved_word", word)
        name, equals, _ = word.partition("=")
        if equals and name.removesuffix("+").isidentifier():
            self.note("assignment", name)

    def read(self) -> None:
        while self.at < len(self.text) and not self.unreadable:
            self._step(self.take())
        self.end_word()

    def _step(self, character: str) -> None:
        if character in BLANKS:
            self.end_word()
        elif character == "'":
            self._single()
        elif character == '"':
            self._double()
        elif character == "\\":
            self._escape()
        elif character in SPECIAL or (self.word is None and character in "#~"):
            self.note("shell_syntax", self.text[self.at - 1 : self.at + 19].split("\n")[0] or "line break")
            if character in PARTS_OF_WORDS:
                self.add(character)
            else:
                self.end_word()
        else:
            self._check_odd(character)
            self.add(character)

    def _single(self) -> None:
        end = self.text.find("'", self.at)
        if end < 0:
            self.unreadable = "a quote is not closed"
            return
        self._quoted(self.text[self.at : end])
        self.at = end + 1

    def _double(self) -> None:
        piece: list[str] = []
        while self.at < len(self.text):
            character = self.take()
            if character == '"':
                self._quoted("".join(piece))
                return
            if character in SPECIAL_IN_QUOTES:
                self.note("shell_syntax", self.text[self.at - 1 : self.at + 19])
            if character == "\\" and self.at < len(self.text) and self.text[self.at] in ESCAPED_IN_QUOTES:
                character = self.take()
                if character == "\n":
                    continue
            piece.append(character)
        self.unreadable = "a quote is not closed"

    def _quoted(self, piece: str) -> None:
        self.is_quoted = True
        for character in piece:
            self._check_odd(character)
        self.add(piece)

    def _escape(self) -> None:
        if self.at == len(self.text):
            self.unreadable = "it ends with a backslash"
            return
        character = self.take()
        if character == "\n":
            self.note("shell_syntax", "line continuation")
            return
        self.is_quoted = True
        self._check_odd(character)
        self.add(character)

    def _check_odd(self, character: str) -> None:
        """Name what a person cannot see: controls, direction marks, blanks that are no blanks."""
        if character in "\n\t" or character.isprintable():
            return
        name = unicodedata.name(character, f"U+{ord(character):04X}")
        self.note("invisible_character", name)


def read_line(text: str) -> CommandLine:
    """Read one line of an agent; never fails, what cannot be read is said in `unreadable`."""
    if len(text) > LINE_LIMIT:
        return CommandLine(text=text, argv=(), unreadable=f"it is longer than {LINE_LIMIT} characters")
    if "\0" in text:
        return CommandLine(text=text, argv=(), unreadable="it holds a NUL character")
    reader = _Reader(text.strip(" \t\n\r"))
    reader.read()
    return CommandLine(
        text=text,
        argv=tuple(reader.words),
        syntax=tuple(reader.found),
        unreadable=reader.unreadable,
        shell=READER,
    )
