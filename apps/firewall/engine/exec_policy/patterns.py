"""Patterns that people write, in a subset whose cost is bounded."""

import re
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined] # the parsed form has no public door
from typing import Any, Final, Protocol

from apps.firewall.engine.exec_policy.javascript import LINE_ENDS, UntranslatableError, code_units, translate
from apps.firewall.engine.exec_policy.linear import LinearExpression, UnsupportedError

LONGEST_PATTERN: Final = 512
LONGEST_TEXT: Final = 1024
ALL: Final = "^.*$"
BEGINNING: Final = "AT_BEGINNING"
END: Final = "AT_END_STRING"
NUL: Final = "\0"
OPEN_REPEATS: Final = 2  # each one multiplies the worst case of `re` by the length of the text


class Expression(Protocol):
    """A pattern over arguments, compiled."""

    def search(self, text: str, /) -> object:
        """Look for the pattern anywhere in a text; what is found is true."""


class PatternError(ValueError):
    """The pattern is no regular expression, or outside the subset."""


def glob_expression(pattern: str, *, ignore_case: bool, mark_crosses_folders: bool) -> re.Pattern[str]:
    """Compile a path glob: `**` is any text, `*` any but `/`, `?` one character."""
    return _glob(pattern, ignore_case, mark_crosses_folders)


@lru_cache(maxsize=20_000)
def _glob(pattern: str, ignore_case: bool, mark_crosses_folders: bool) -> re.Pattern[str]:
    parts = re.split(r"(\*\*+|\*|\?)", pattern)
    one = "." if mark_crosses_folders else "[^/]"
    meaning = {"*": "[^/]*", "?": one}
    text = "".join(
        ".*" if len(part) > 1 and part.strip("*") == "" and part else meaning.get(part, re.escape(part))
        for part in parts
    )
    return re.compile(text, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


@lru_cache(maxsize=20_000)
def argument_expression(pattern: str) -> Expression:
    """Compile a pattern over arguments.

    It is read as JavaScript reads it. Few repetitions are searched by `re`; many, and one inside another, by a search
    whose cost grows with the text. Refused: look-around, references to groups, and what that search cannot do.

    Raises:
        PatternError: it is invalid or outside the subset.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"the pattern is longer than {LONGEST_PATTERN} characters")
    try:
        translated = translate(pattern)
        compiled = re.compile(translated, re.ASCII)
        tree = _parser.parse(translated, re.ASCII)
    except UntranslatableError as exc:
        raise PatternError(str(exc)) from exc
    except (re.error, RecursionError, OverflowError) as exc:
        raise PatternError(f"the pattern is no regular expression: {exc}") from exc
    repeats, is_nested = _open_repeats(tree, inside=False)
    if repeats <= OPEN_REPEATS and not is_nested:
        return compiled
    try:
        return LinearExpression(tree)
    except UnsupportedError as exc:
        raise PatternError(str(exc)) from exc


def _open_repeats(tree: Any, *, inside: bool) -> tuple[int, bool]:
    """Count the repetitions without end, and say whether one stands inside another repetition."""
    count, is_nested = 0, False
    for operation, argument in tree:
        name = str(operation)
        bodies: list[tuple[Any, bool]] = []
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            _, highest, body = argument
            is_open = highest > 32
            is_nested = is_nested or (is_open and inside)
            count += is_open
            bodies = [(body, inside or highest > 1)]
        elif name == "SUBPATTERN":
            bodies = [(argument[-1], inside)]
        elif name == "BRANCH":
            bodies = [(branch, inside) for branch in argument[1]]
        for body, within in bodies:
            more, nested = _open_repeats(body, inside=within)
            count, is_nested = count + more, is_nested or nested
    return count, is_nested


def _tree(pattern: str) -> Any:
    """Return the parsed form of a pattern that `argument_expression` takes."""
    return _parser.parse(translate(pattern), re.ASCII)


def is_anchored(pattern: str) -> bool:
    """Say whether a pattern holds from the first to the last argument: `^a|b$` and `^a\\$` only look like it.

    Args:
        pattern: that `argument_expression` takes.
    """
    tree = _tree(pattern)
    marks = [str(argument) for operation, argument in tree if str(operation) == "AT"]
    ends = len(tree) > 1 and str(tree[0][0]) == str(tree[-1][0]) == "AT"
    return ends and marks[0] == BEGINNING and marks[-1] == END


@lru_cache(maxsize=20_000)
def is_exact(pattern: str) -> bool:
    """Say whether a pattern tells every word: anchored, with nothing left open but letters, digits and underscores.

    So nobody can slip an option, a path or a second word into what it leaves open.

    Args:
        pattern: that `argument_expression` takes.
    """
    return is_anchored(pattern) and all(_tells(str(operation), argument) for operation, argument in _tree(pattern))


def _tells(name: str, argument: Any) -> bool:
    if name in {"AT", "LITERAL"}:
        return True
    if name == "IN":
        return all(_is_word(str(operation), value) for operation, value in argument)
    bodies: list[Any] = []
    if name == "BRANCH":
        bodies = list(argument[1])
    elif (name == "SUBPATTERN" and not argument[1] | argument[2]) or name in {"MAX_REPEAT", "MIN_REPEAT"}:
        bodies = [argument[-1]]
    return bool(bodies) and all(_tells(str(operation), value) for body in bodies for operation, value in body)


def _is_word(name: str, value: Any) -> bool:
    if name == "CATEGORY":
        return str(value) in {"CATEGORY_DIGIT", "CATEGORY_WORD"}
    ends = {"LITERAL": (value, value), "RANGE": value}.get(name)
    return ends is not None and all(re.fullmatch(r"\w", chr(code), re.ASCII) for code in range(ends[0], ends[1] + 1))


def pattern_fault(pattern: str) -> str:
    """Say why a pattern matches nothing; empty when it is one that can be searched."""
    try:
        argument_expression(pattern)
    except PatternError as exc:
        return str(exc)
    return ""


def is_narrower(pattern: str, *, than: str) -> bool:
    """Say whether a pattern surely covers nothing that another one does not; both are anchored.

    That is seen of one text alone, which the other covers, and of any one line where the other covers all of these.
    """
    tree = list(_tree(pattern))
    if than == ALL:
        return _is_of_one_line(tree)
    text = _only_text(tree)
    return text is not None and bool(argument_expression(than).search(text))


def _only_text(tree: list[Any]) -> str | None:
    """Give the one text that an anchored pattern covers; None where it covers several, or that cannot be told."""
    if any(str(operation) != "LITERAL" for operation, _ in tree[1:-1]):
        return None
    return "".join(chr(code) for _, code in tree[1:-1])


def _is_of_one_line(tree: Any) -> bool:
    """Say whether no part of a pattern covers the end of a line, which `.` does not cover."""
    return all(_part_is_of_one_line(str(operation), argument) for operation, argument in tree)


def _part_is_of_one_line(operation: str, argument: Any) -> bool:
    if operation == "AT":
        return True
    if operation == "BRANCH":
        return all(map(_is_of_one_line, argument[1]))
    if operation == "SUBPATTERN":
        return _is_of_one_line(argument[-1])
    if operation in {"MAX_REPEAT", "MIN_REPEAT"}:
        return _is_of_one_line(argument[-1])
    return not any(_covers(operation, argument, ord(end)) for end in LINE_ENDS)


def _covers(operation: str, argument: Any, code: int) -> bool:
    """Say whether a part that reads one character may read this one."""
    if operation == "LITERAL":
        return bool(argument == code)
    if operation == "NOT_LITERAL":
        return bool(argument != code)
    if operation == "RANGE":
        return bool(argument[0] <= code <= argument[1])
    if operation == "CATEGORY":
        return str(argument) not in {"CATEGORY_DIGIT", "CATEGORY_WORD"}
    if operation != "IN":
        return True
    is_negated = str(argument[0][0]) == "NEGATE"
    is_member = any(_covers(str(each), value, code) for each, value in argument[is_negated:])
    return is_member != is_negated


def arguments_match(pattern: str, arguments: tuple[str, ...]) -> bool:
    """Search a pattern in the arguments joined by blanks; what cannot be judged does not match.

    A pattern that holds the character NUL finds one behind each argument, and two where there is none.
    """
    text = " ".join(arguments)
    if NUL in pattern:
        text = "".join(f"{argument}{NUL}" for argument in arguments) or NUL * 2
    if len(text) > LONGEST_TEXT:
        return False
    try:
        return bool(argument_expression(pattern).search(code_units(text)))
    except PatternError:
        return False
