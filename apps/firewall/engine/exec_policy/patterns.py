"""Patterns that people write, in a subset whose cost is bounded."""

import re
from functools import lru_cache
from typing import Any, Final

LONGEST_PATTERN: Final = 512
LONGEST_TEXT: Final = 1024
ALL: Final = "^.*$"
LINE_END: Final = ord("\n")
OPEN_REPEATS: Final = 2  # each one multiplies the worst case by the length of the text


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
def argument_expression(pattern: str) -> re.Pattern[str]:
    """Compile a pattern over arguments.

    Refused: look-around, references to groups, a repetition inside a repetition without end, and more than two
    repetitions without end: their cost on a hostile text has no bound worth the name.

    Raises:
        PatternError: it is invalid or outside the subset.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"the pattern is longer than {LONGEST_PATTERN} characters")
    try:
        compiled = re.compile(pattern, re.ASCII)
        tree = re._parser.parse(pattern, re.ASCII)  # type: ignore[attr-defined]
    except (re.error, RecursionError, OverflowError) as exc:
        raise PatternError(f"the pattern is no regular expression: {exc}") from exc
    if _open_repeats(tree, inside=False) > OPEN_REPEATS:
        raise PatternError(f"the pattern has more than {OPEN_REPEATS} repetitions without end")
    return compiled


def _open_repeats(tree: Any, *, inside: bool) -> int:
    count = 0
    for operation, argument in tree:
        name = str(operation)
        if name in {"ASSERT", "ASSERT_NOT", "GROUPREF", "GROUPREF_EXISTS"}:
            raise PatternError("look-around and references are not supported")
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            _, highest, body = argument
            is_open = highest > 32
            if is_open and inside:
                raise PatternError("a repetition inside a repetition is not supported")
            count += is_open + _open_repeats(body, inside=inside or highest > 1)
        elif name in {"SUBPATTERN", "ATOMIC_GROUP"}:
            count += _open_repeats(argument[-1] if name == "SUBPATTERN" else argument, inside=inside)
        elif name == "BRANCH":
            count += sum(_open_repeats(branch, inside=inside) for branch in argument[1])
    return count


def is_anchored(pattern: str) -> bool:
    """Say whether a pattern holds from the first to the last argument: `^a|b$` and `^a\\$` only look like it.

    Args:
        pattern: that `argument_expression` takes.
    """
    tree = re._parser.parse(pattern, re.ASCII)  # type: ignore[attr-defined]
    marks = [str(argument) for operation, argument in tree if str(operation) == "AT"]
    ends = len(tree) > 1 and str(tree[0][0]) == str(tree[-1][0]) == "AT"
    return ends and marks[0] == "AT_BEGINNING" and marks[-1] == "AT_END"


def is_narrower(pattern: str, *, than: str) -> bool:
    """Say whether a pattern surely covers nothing that another one does not; both are anchored.

    That is seen of one text alone, which the other covers, and of any one line where the other covers all of these.
    """
    tree = list(re._parser.parse(pattern, re.ASCII))  # type: ignore[attr-defined]
    if than == ALL:
        return _is_of_one_line(tree)
    text = _only_text(tree)
    return text is not None and argument_expression(than).search(text) is not None


def _only_text(tree: list[Any]) -> str | None:
    """Give the one text that an anchored pattern covers; None where it covers several, or that cannot be told."""
    if any(str(operation) != "LITERAL" for operation, _ in tree[1:-1]):
        return None
    return "".join(chr(code) for _, code in tree[1:-1])


def _is_of_one_line(tree: Any) -> bool:
    """Say whether no part of a pattern covers the end of a line, which `.` does not cover."""
    return all(_part_is_of_one_line(str(operation), argument) for operation, argument in tree)


def _part_is_of_one_line(operation: str, argument: Any) -> bool:
    if operation == "LITERAL":
        return bool(argument != LINE_END)
    if operation == "RANGE":
        return not argument[0] <= LINE_END <= argument[1]
    if operation == "CATEGORY":
        return str(argument) in {"CATEGORY_DIGIT", "CATEGORY_WORD"}
    if operation == "BRANCH":
        return all(map(_is_of_one_line, argument[1]))
    if operation == "SUBPATTERN":
        _, flags, _, body = argument
        return not flags and _is_of_one_line(body)
    if operation in {"MAX_REPEAT", "MIN_REPEAT"}:
        return _is_of_one_line(argument[-1])
    return operation in {"ANY", "AT"} or (operation == "IN" and _is_of_one_line(argument))


def arguments_match(pattern: str, arguments: tuple[str, ...]) -> bool:
    """Search a pattern in the arguments joined by blanks; what cannot be judged does not match."""
    text = " ".join(arguments)
    if len(text) > LONGEST_TEXT:
        return False
    try:
        return argument_expression(pattern).search(text) is not None
    except PatternError:
        return False
