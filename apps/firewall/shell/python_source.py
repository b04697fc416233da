"""Variables of a shell that strayed into Python: `$NAME` where the language has no `$`.

A reading of strings, comments and the fields of formatted strings, nothing more: the text is no valid Python, so that
no parser of the language could read it.
Source: conformance README, `shell_bleed.jsonl`; Python Language Reference, section 2.4.
"""

import re
from dataclasses import dataclass
from typing import Final

_VARIABLE: Final = re.compile(r"\$[A-Z_][A-Z0-9_]*")
_LINE_END: Final = re.compile(r"[\r\n]")
_FORMATTED: Final = re.compile(r"(?:^|[^A-Za-z0-9_])(?:f|fr|rf)$", re.IGNORECASE)
_LONGEST_PREFIX: Final = 3
_LAMBDA: Final = "lambda"
_CLOSERS: Final = {"(": ")", "[": "]", "{": "}"}
# in code, nothing else can change how the text goes on, or be what is looked for
_NEXT_IN_CODE: Final = re.compile(r"[#'\"$]")
_NEXT_IN_FIELD: Final = re.compile(r"[#'\"$()\[\]{}:l]")
_NEXT_IN_TEXT: Final = re.compile(r"[\\\r\n{}'\"]")
_NEXT_IN_FORMAT: Final = re.compile(r"[{}]")


@dataclass(slots=True)
class _Code:
    """Code: of the file, or of a field with the brackets that are open in it."""

    closers: list[str] | None = None
    in_lambda: bool = False


@dataclass(slots=True)
class _Text:
    """A string, up to its quote."""

    quote: str
    formatted: bool


@dataclass(slots=True)
class _Format:
    """What stands behind the colon of a field."""


class _Scanner:
    """One pass over a text; the contexts lie on one another as they are nested."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.contexts: list[_Code | _Text | _Format] = [_Code()]

    def find(self) -> re.Match[str] | None:
        while self.at < len(self.text):
            context = self.contexts[-1]
            if isinstance(context, _Text):
                self._in_text(context)
            elif isinstance(context, _Format):
                self._in_format()
            else:
                found = self._in_code(context)
                if found is not None:
                    return found
        return None

    def _go_to(self, marks: re.Pattern[str]) -> str:
        """Go on to the next character that matters; empty at the end."""
        mark = marks.search(self.text, self.at)
        self.at = len(self.text) if mark is None else mark.start()
        return "" if mark is None else mark[0]

    def _in_text(self, context: _Text) -> None:
        if not self._go_to(_NEXT_IN_TEXT):
            return
        text, at = self.text, self.at
        character, following = text[at], text[at + 1 : at + 2]
        is_long = len(context.quote) > 1
        if text.startswith(context.quote, at):
            self.contexts.pop()
            self.at += len(context.quote)
        elif character == "\\" and not (context.formatted and following == "{"):
            self.at += 3 if text.startswith("\r\n", at + 1) else 2
        elif character in "\r\n" and not is_long:
            self.contexts.pop()
            self.at += 1
        elif context.formatted and character in "{}" and character == following:
            self.at += 2
        else:
            if context.formatted and character == "{":
                self.contexts.append(_Code(["}"]))
            self.at += 1

    def _in_format(self) -> None:
        character = self._go_to(_NEXT_IN_FORMAT)
        if character == "{":
            self.contexts.append(_Code(["}"]))
        elif character == "}":
            self.contexts.pop()
        self.at += 1

    def _in_code(self, context: _Code) -> re.Match[str] | None:
        character = self._go_to(_NEXT_IN_CODE if context.closers is None else _NEXT_IN_FIELD)
        if not character:
            return None
        if character == "#":
            line_end = _LINE_END.search(self.text, self.at)
            self.at = line_end.end() if line_end is not None else len(self.text)
        elif character in "'\"":
            self._open_text(character)
        else:
            found = _VARIABLE.match(self.text, self.at)
            if found is not None:
                return found
            if context.closers is not None:
                self._in_field(context, context.closers, character)
            self.at += 1
        return None

    def _open_text(self, character: str) -> None:
        quote = character * 3 if self.text.startswith(character * 3, self.at) else character
        before = self.text[max(0, self.at - _LONGEST_PREFIX) : self.at]
        self.contexts.append(_Text(quote, _FORMATTED.search(before) is not None))
        self.at += len(quote)

    def _in_field(self, context: _Code, closers: list[str], character: str) -> None:
        is_outermost = len(closers) == 1
        if character in _CLOSERS:
            closers.append(_CLOSERS[character])
        elif character == closers[-1]:
            closers.pop()
            if not closers:
                self.contexts.pop()
        elif is_outermost and character == "l" and self._is_lambda():
            context.in_lambda = True
        elif is_outermost and character == ":":
            if not context.in_lambda:
                self.contexts[-1] = _Format()
            context.in_lambda = False

    def _is_lambda(self) -> bool:
        end = self.at + len(_LAMBDA)
        if not self.text.startswith(_LAMBDA, self.at):
            return False
        around = self.text[self.at - 1 : self.at], self.text[end : end + 1]
        return not any(f"a{each}".isidentifier() for each in around if each)


def shell_variable_in_python(text: str) -> re.Match[str] | None:
    """Return the first `$NAME` that stands in code of a Python file; not in strings, comments or format texts."""
    return _Scanner(text).find()
