"""What the index of words is asked for: words that people type, and the columns that no index of the ledger holds."""

import re
from dataclasses import dataclass
from typing import Final

from apps.accounts.selectors import actors_named
from apps.audit.filters import EntryFilters

# The columns of audit_words that name an entry by its own key, or the first entry of its call.
OWN: Final = ("at", "entry_id")
HEAD: Final = ("head_at", "head_id")
# The same letters that the SQL function audit_text_words takes for blanks.
_NO_WORD = re.compile(r"[][!\"#$%&'()*+,./:;<=>?@\\^`{|}~_\s-]+")
WORDS_LIMIT = 12
TOKEN_LETTERS: Final = 400
LONGEST: Final = 33
"""Bits of the longest duration: 62 days and more in milliseconds."""
# As the SQL function audit_tokens writes them.
_SIGNS: Final = {
    "actor": "=a:",
    "channel": "=c:",
    "decision": "=d:",
    "layer": "=l:",
    "rule": "=r:",
    "snapshot_digest": "=s:",
    "trace_id": "=t:",
    "approval_id": "=p:",
}
_USUAL: Final = frozenset({"allow"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """A condition on `w`, a row of audit_words, with its values."""

    sql: str
    values: tuple[str, ...]


def search_query(text: str) -> str:
    """Write words as a tsquery: all must occur, each may go on."""
    words = [word for word in _NO_WORD.split(text) if word][:WORDS_LIMIT]
    return " & ".join(f"'{word}':*" for word in words)


def wanted_of(filters: EntryFilters) -> Wanted | None:
    """Say what the index is asked for; None where it has nothing to add. It may find too much, never too little."""
    tokens = _tokens(filters)
    query = search_query(filters.text)
    if filters.text and not query:
        return Wanted("FALSE", ())  # nothing but punctuation was typed: no word contains it
    parts = [("to_tsquery('simple', %s)", query)] if query else []
    if tokens:
        parts.append(("%s::tsquery", " & ".join(tokens)))
    if not parts:
        return None
    return Wanted(f"w.words @@ ({' && '.join(sql for sql, _ in parts)})", tuple(value for _, value in parts))


def _tokens(filters: EntryFilters) -> list[str]:
    tokens = []
    for name, sign in _SIGNS.items():
        value = getattr(filters, name)
        if name == "actor" and value:
            value = actors_named(value)
        values = value if isinstance(value, tuple) else (value,) if value not in ("", None) else ()
        if values and not _USUAL.intersection(values):
            tokens.append(_any_of([sign + str(each) for each in values]))
    if filters.duration_min is not None:
        tokens.append(
            _any_of([f"=m:{bits}" for bits in range(min(filters.duration_min.bit_length(), LONGEST), LONGEST + 1)])
        )
    return tokens


def _any_of(lexemes: list[str]) -> str:
    return f"({' | '.join(map(_quoted, lexemes))})"


def _quoted(lexeme: str) -> str:
    lexeme = lexeme[:TOKEN_LETTERS].replace("\\", "\\\\").replace("'", "''")
    return f"'{lexeme}'"
