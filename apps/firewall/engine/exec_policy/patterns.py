"""Patterns that people write, in a subset whose cost is bounded."""

import re
from functools import lru_cache
from typing import Any, Final

LONGEST_PATTERN: Final = 512
LONGEST_TEXT: Final = 1024
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


def arguments_match(pattern: str, arguments: tuple[str, ...]) -> bool:
    """Search a pattern in the arguments joined by blanks; what cannot be judged does not match."""
    text = " ".join(arguments)
    if len(text) > LONGEST_TEXT:
        return False
    try:
        return argument_expression(pattern).search(text) is not None
    except PatternError:
        return False
