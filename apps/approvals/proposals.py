"""Narrower answers: what a standing "always" was really used for, and the closest rule that covers just that."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.approvals.models import Grant
from apps.audit.drafts import EntryKind
from apps.audit.filters import EntryFilters
from apps.audit.selectors import calls_by_id, entries
from apps.firewall.shell import read_line

LOOKED_AT: Final = 500
FEWEST: Final = 3
"""Uses below which nothing is proposed: too few to tell what a rule is for."""

ANY: Final = "^.*$"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A narrower rule, and how many of the looked-at uses it covers: all of them."""

    kind: Literal["exact", "first"]
    arg_pattern: str
    uses: int


def argv_of(params: Any) -> tuple[str, ...]:
    """Read the words of a past command; none when only a shell could tell them."""
    if not isinstance(params, dict):
        return ()
    argv = params.get("argv")
    if isinstance(argv, list):
        return tuple(map(str, argv))
    line = read_line(str(params.get("command", "")))
    return () if line.syntax or line.unreadable else line.argv


def exact_pattern(arguments: Sequence[str]) -> str:
    """Write the pattern that covers exactly these arguments."""
    return f"^{plain_pattern(' '.join(arguments))}$"


def first_pattern(first: str) -> str:
    """Write the pattern that covers everything with this first argument."""
    return f"^{plain_pattern(first)}( .*)?$"


def plain_pattern(text: str) -> str:
    """Escape what means something in an expression, and no more, so that people can read it."""
    return re.escape(text).replace(r"\-", "-").replace(r"\ ", " ").replace(r"\/", "/")


def proposal_for(grant: Grant) -> Proposal | None:
    """Propose a narrower rule for a grant with a pattern: one that covers each of its last uses. None where none is.

    Arguments are those on record; one that was masked tells nothing, so nothing is proposed then.
    """
    if not grant.arg_pattern or grant.uses < FEWEST:
        return None
    found = entries(
        EntryFilters(environment=grant.environment.slug, kind=(EntryKind.GRANT_USED,), tool=(grant.tool,)),
        limit=LOOKED_AT,
    )
    ids = [row.call_id for row in found.rows if (row.changes or {}).get("grant") == grant.shown_id and row.call_id]
    records = calls_by_id(ids).values()
    used = [argv_of(record.params) for record in records if not record.masked]
    if len(used) < FEWEST or len(used) != len(ids) or () in used:
        return None
    known = {argv[1:] for argv in used}
    if len(known) == 1:
        pattern = exact_pattern(next(iter(known)))
        return None if pattern == grant.arg_pattern else Proposal("exact", pattern, len(used))
    firsts = {each[0] if each else "" for each in known}
    if len(firsts) == 1 and grant.arg_pattern == ANY and "" not in firsts:
        return Proposal("first", first_pattern(firsts.pop()), len(used))
    return None
