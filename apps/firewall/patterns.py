"""Regular expressions that people write: an accepted subset that is searched in bounded time.

Accepted: literals, sets, groups, alternatives, look-around, `^`, `$`, `\\b` and repeats. Refused: back-references,
conditions, and a repeat inside a repeat where a text can be shared out between them in several ways, because such an
expression can take years: `(a+)+`, but not `a+(-a+)*`, where each character has one place.
Repeats without bound end at a bound: a long one where what follows cannot belong to the repeat, else a short one.

A group named `luhn`, as in `(?<luhn>[0-9]{16})`, counts only where its digits end in the check digit of a card number.

Expressions are read as JavaScript writes them: `\\d`, `\\w` and `\\b` mean ASCII, `$` is the very end.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from re import _compiler, _parser  # type: ignore[attr-defined] # the parsed form has no public door
from typing import Any

from apps.firewall.errors import FirewallError

LENGTH_LIMIT = 500
CLEAR_REPEAT_LIMIT = 8192
UNCLEAR_STEPS = 10_000
NESTED_REPEAT_AT_MOST = 1
WINDOW_CHARACTERS = 16_384
OVERLAP_CHARACTERS = 8_192
CHECKED_GROUP = "luhn"

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "g": re.NOFLAG, "u": re.NOFLAG, "y": re.NOFLAG}
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE_CHARACTER = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY", "RANGE")
_REFUSED = ("GROUPREF", "GROUPREF_EXISTS", "GROUPREF_IGNORE")
_LOOKS = ("ASSERT", "ASSERT_NOT")
# One character each of what sets usually tell apart; `ÿ` and `中` stand for all others.
_OTHERS = {"\u00a0", "ÿ", "中"}
_ALPHABET = [chr(number) for number in range(128)] + sorted(_OTHERS)


class PatternError(FirewallError):
    """The expression cannot be used; the message says why."""

    code = "pattern_refused"


@lru_cache(maxsize=1024)
def compile_pattern(written: str) -> re.Pattern[str]:
    """Make an expression that ends in bounded time.

    Args:
        written: plain, or `/…/flags` with the flags of JavaScript (`i`, `m`, `s`; `g`, `u`, `y` mean nothing here).
    Raises:
        PatternError: blank, not an expression, or outside the accepted subset.
    """
    source, flags = _split(written)
    if not source.strip():
        raise PatternError("the expression is blank")
    if len(source) > LENGTH_LIMIT:
        raise PatternError(f"the expression is longer than {LENGTH_LIMIT} characters")
    source = re.sub(r"\(\?<(?![=!])", "(?P<", source)
    try:
        tree = _parser.parse(source, flags | re.ASCII)
        _check(tree, set(), inside_repeat=False)
        _bound(tree)
        pattern: re.Pattern[str] = _compiler.compile(tree, flags | re.ASCII)
    except (re.error, OverflowError, RecursionError) as exc:
        raise PatternError(f"`{source}` is not an expression: {exc}") from exc
    return pattern


def search_bounded(pattern: re.Pattern[str], text: str, *, limit_s: float) -> Iterator[re.Match[str] | int]:
    """Find every match, window by window, and stop when the time is up.

    Yields:
        Matches with positions of the whole text; last, when time ran out, the position from which nothing was read.
    """
    ends_at = time.monotonic() + limit_s
    at = 0
    while at < len(text) or at == 0:
        window_end = min(len(text), at + WINDOW_CHARACTERS)
        next_at = window_end
        for match in pattern.finditer(text, at, min(len(text), window_end + OVERLAP_CHARACTERS)):
            if match.start() >= window_end:
                break
            yield match
            next_at = max(next_at, match.end())
        if next_at >= len(text):
            return
        at = next_at
        if time.monotonic() > ends_at:
            yield at
            return


def counts(match: re.Match[str]) -> bool:
    """Say whether a match counts: where the expression has a group `luhn`, its digits must end in their check digit.

    Source: ISO/IEC 7812-1, annex B.
    """
    if CHECKED_GROUP not in match.re.groupindex or match[CHECKED_GROUP] is None:
        return True
    return has_check_digit(match[CHECKED_GROUP])


def has_check_digit(shown: str) -> bool:
    """Say whether the last digit of a number, written with any marks between, checks the others.

    Source: ISO/IEC 7812-1, annex B.
    """
    digits = [int(letter) for letter in reversed(shown) if letter.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return bool(digits) and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _split(written: str) -> tuple[str, int]:
    literal = re.fullmatch(r"/(.+)/([a-z]*)", written.strip(), re.DOTALL)
    if literal is None:
        return written, 0
    flags = 0
    for letter in literal[2]:
        if letter not in _FLAGS:
            raise PatternError(f"`{letter}` is not a flag")
        flags |= _FLAGS[letter]
    return literal[1], flags


def _check(tree: Any, follow: set[str], *, inside_repeat: bool) -> None:
    """Refuse what can take long.

    Args:
        follow: characters with which what comes after the tree can begin, another round of its repeat included.
    """
    for index, (operation, argument) in enumerate(tree):
        name = str(operation)
        after, can_end = _first(list(tree), index + 1)
        behind = after | follow if can_end else after
        if name in _REFUSED:
            raise PatternError("back-references are not accepted")
        if name == "AT" and str(argument) == "AT_END" and not tree.state.flags & re.MULTILINE:
            tree[index] = (operation, _compiler.AT_END_STRING)
        if inside_repeat and name == "BRANCH" and not _branches_differ(argument[1]):
            raise PatternError("a repeat of alternatives that begin alike is not accepted")
        if name in _REPEATS:
            least, most, body = argument
            if inside_repeat and least != most and not _has_one_way(body, behind):
                raise PatternError(
                    "a repeat inside a repeat is accepted only where what follows it cannot belong to it"
                )
            again = _first(list(body), 0)[0] if most > NESTED_REPEAT_AT_MOST else set()
            _check(body, behind | again, inside_repeat=inside_repeat or most > NESTED_REPEAT_AT_MOST)
            continue
        for part in _parts(name, argument):
            _check(part, behind, inside_repeat=inside_repeat)


def _has_one_way(body: Any, behind: set[str]) -> bool:
    """Say whether the next character alone tells if a repeat of this body goes on or what follows it begins."""
    own, can_be_empty = _first(list(body), 0)
    return not can_be_empty and not own & behind


def _parts(name: str, argument: Any) -> Sequence[Any]:
    if name == "BRANCH":
        return list(argument[1])
    if name == "SUBPATTERN":
        return [argument[3]]
    if name == "ATOMIC_GROUP":
        return [argument]
    if name in _LOOKS:
        return [argument[1]]
    return []


def _branches_differ(branches: Iterable[Any]) -> bool:
    seen: set[str] = set()
    for branch in branches:
        first, can_be_empty = _first(list(branch), 0)
        if can_be_empty or first & seen:
            return False
        seen |= first
    return True


def _bound(tree: Any) -> None:
    """Give every repeat without bound its bound, in place."""
    repeats = list(_repeats(tree, set()))
    unclear = [repeat for repeat in repeats if not repeat[2]]
    short = max(2, int(UNCLEAR_STEPS ** (1 / max(1, len(unclear)))))
    for owner, index, is_clear in repeats:
        operation, (least, most, body) = owner[index]
        limit = CLEAR_REPEAT_LIMIT if is_clear else short
        if least > limit:
            raise PatternError(f"a repeat of more than {limit} is not accepted")
        owner[index] = (operation, (least, min(most, limit) if most != _parser.MAXREPEAT else limit, body))


def _repeats(tree: Any, follow: set[str]) -> Iterator[tuple[Any, int, bool]]:
    """List long repeats as (owner, index, whether what follows cannot belong to it)."""
    items = list(tree)
    for index, (operation, argument) in enumerate(items):
        name = str(operation)
        after, can_end = _first(items, index + 1)
        behind = after | follow if can_end else after
        if name in _REPEATS:
            _least, most, body = argument
            if most > UNCLEAR_STEPS**0.25:
                own, _ = _first(list(body), 0)
                yield tree, index, not own & behind and len(list(body)) == 1
            continue
        for part in _parts(name, argument):
            yield from _repeats(part, behind)


def _first(items: Sequence[Any], start: int) -> tuple[set[str], bool]:
    """Say with which characters a sequence can begin, and whether it can be empty."""
    first: set[str] = set()
    for operation, argument in items[start:]:
        name = str(operation)
        if name in _ONE_CHARACTER:
            return first | _characters(operation, argument), False
        if name in _REPEATS:
            inner, empty = _first(list(argument[2]), 0)
            empty = empty or argument[0] == 0
        elif name == "AT" or name in _LOOKS:
            continue
        else:
            answers = [_first(list(part), 0) for part in _parts(name, argument)]
            inner = set().union(*(answer[0] for answer in answers))
            empty = any(answer[1] for answer in answers)
        first |= inner
        if not empty:
            return first, False
    return first, True


def _characters(operation: Any, argument: Any) -> set[str]:
    tree = _parser.parse("", 0)
    tree.append((operation, argument))
    one = _compiler.compile(tree, re.DOTALL | re.IGNORECASE | re.ASCII)
    found = {letter for letter in _ALPHABET if one.fullmatch(letter)}
    return found | _OTHERS if _names_others(argument) else found


def _names_others(argument: Any) -> bool:
    """Say whether a set or letter names characters beyond ASCII, none of which may be in our alphabet."""
    if isinstance(argument, int):
        return argument > 127
    return isinstance(argument, list | tuple) and any(_names_others(part) for part in argument)
