"""One remark of the review."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

LintSeverity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A remark about one record.

    Attributes:
        code: stable, in snake_case.
        severity: "error" keeps the draft from being published.
        path: place in the document.
        record: id of the record; None for the draft as a whole. `kind` says which kind of record it is.
        entry: what in the list is meant; empty for the record as a whole.
        suggestion: what was probably meant; empty when nothing comes close.
    """

    code: str
    severity: LintSeverity
    path: str
    record: UUID | None
    kind: str
    entry: str
    message: str
    suggestion: str = ""
