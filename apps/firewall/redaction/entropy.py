"""Runs of letters that no person would write: keys and tokens of makers that we do not know."""

import itertools
import math
from collections import Counter

LENGTH_AT_LEAST = 32
LOOK_AT = 4096
ENTROPY_AT_LEAST = 4.2  # bits a character; words joined together have 3 to 4
TURNS_AT_LEAST = 0.3  # how often the kind of character changes; words do it seldom
KINDS_AT_LEAST = 3


def looks_random(run: str) -> bool:
    """Say whether a run without spaces looks like a random secret: long, all kinds of characters, well mixed.

    Digests and identifiers in one case (hex, UUID, base32) are no secrets and do not count.
    """
    run = run[:LOOK_AT]
    if len(run) < LENGTH_AT_LEAST or (run.count("/") > 4 and "+" not in run):
        return False
    return is_mixed(run, digits_at_least=KINDS_AT_LEAST) and _entropy(run) >= ENTROPY_AT_LEAST


def is_mixed(run: str, *, digits_at_least: int = 1) -> bool:
    """Say whether small and capital letters and digits change places as only chance does it."""
    if run.islower() or run.isupper():  # most runs are, and each letter by itself takes long
        return False
    kinds = [_kind(letter) for letter in run]
    counts = Counter(kinds)
    if min(counts["a"], counts["A"]) < KINDS_AT_LEAST or counts["0"] < digits_at_least:
        return False
    turns = sum(1 for one, other in itertools.pairwise(kinds) if one != other)
    return turns / len(run) >= TURNS_AT_LEAST


def _kind(letter: str) -> str:
    if letter.isdigit():
        return "0"
    if letter.islower():
        return "a"
    return "A" if letter.isupper() else "-"


def _entropy(run: str) -> float:
    total = len(run)
    return -sum(count / total * math.log2(count / total) for count in Counter(run).values())
