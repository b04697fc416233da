"""From a draft to a row that is ready for its place in a chain: masked, storable, digested."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from operator import itemgetter
from typing import Any
from uuid import UUID

from apps.audit.chain import (
    FORMAT,
    SALT_BYTES,
    body_columns,
    body_digest,
    canonical,
    commitment_of_texts,
    content_columns,
    entry_id_at,
    storable,
    storable_text,
)
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.masking import NULL, Masker

# An index of PostgreSQL holds at most 2,704 bytes a row; a hostile tool name must not keep its denial from being told.
INDEXED_TEXT_LIMIT = 512
# What was refused is kept as evidence, not as storage for whoever is refused.
DENIED_PARAMS_LIMIT_BYTES = 64 * 1024
SMALL_VALUES = 500
SMALL_LETTERS = 16 * 1024
NO_DECISION = EntryDecision(verdict="")
ROW_OF, CONTENT_OF = itemgetter(*body_columns()), itemgetter(*content_columns())
EMPTY = (NULL, b'""')
REASON = "decision_reason"  # the one part of the content that is text, not JSON


@dataclass(frozen=True, slots=True)
class SealedEntry:
    """A row without its place in the chain: columns as in `body_columns`, content as in audit_content or None."""

    id: UUID
    at: datetime
    row: tuple[Any, ...]
    body: bytes
    content: tuple[Any, ...] | None
    size_bytes: int


def seal_entry(draft: EntryDraft) -> SealedEntry:
    """Mask a draft and digest it. Nothing unmasked outlives this function."""
    at = (draft.at or datetime.now(UTC)).astimezone(UTC)
    entry_id = entry_id_at(at)
    masker = Masker(draft.sensitive_fields)
    params = masker.written("params", draft.params)
    if draft.kind == EntryKind.DENIAL:
        params, masker = _bounded(params, masker)
    result = _result(draft, masker)
    error = masker.written("error", draft.error)
    changes = masker.written("changes", draft.changes)
    reason = "" if draft.decision is None else masker.text(draft.decision.reason)
    masked = canonical(masker.record() or None)
    written = {
        "params": params, "result": result, "error": error, "masked": masked, "changes": changes,
        REASON: canonical(reason),
    }  # fmt: skip
    has_content = any(text not in EMPTY for text in written.values())
    salt = os.urandom(SALT_BYTES)
    columns = _columns(draft, entry_id, at)
    columns["content_commitment"] = commitment_of_texts(salt, written) if has_content else None
    texts = {name: None if text == NULL else text.decode() for name, text in written.items()}
    texts[REASON] = reason
    body = body_digest(columns)
    columns["phases"] = _json_text(columns["phases"])
    return SealedEntry(
        id=entry_id,
        at=at,
        row=ROW_OF(columns),
        body=body,
        content=(at, entry_id, draft.call_id, salt, *CONTENT_OF(texts)) if has_content else None,
        size_bytes=sum(map(len, written.values())),
    )


def _result(draft: EntryDraft, masker: Masker) -> bytes:
    if draft.result is None or draft.result_masks is None:
        return masker.written("result", draft.result)
    return canonical(masker.masked(draft.result, draft.result_masks))


def is_small(draft: EntryDraft) -> bool:
    """Say whether a draft is masked in no time. Looks at no more of it than it takes to tell."""
    left, letters = [draft.params, draft.result, draft.error, draft.changes], 0
    for _ in range(SMALL_VALUES):
        if not left:
            return True
        value = left.pop()
        if isinstance(value, Mapping):
            letters += sum(len(name) for name in islice(value, SMALL_VALUES) if isinstance(name, str))
            left += islice(value.values(), SMALL_VALUES)
        elif isinstance(value, list | tuple):
            left += value[:SMALL_VALUES]
        elif isinstance(value, str):
            letters += len(value)
        if letters > SMALL_LETTERS or len(left) >= SMALL_VALUES:
            return False
    return not left


def _bounded(params: bytes, masker: Masker) -> tuple[bytes, Masker]:
    """Put a note in the place of params that are too large, and drop what was noted about masking them.

    The hash is of the masked JSON: one of the raw text would let secrets be guessed.
    """
    if len(params) <= DENIED_PARAMS_LIMIT_BYTES:
        return params, masker
    note = f"not kept: the parameters of a refused call are larger than {DENIED_PARAMS_LIMIT_BYTES} bytes"
    told = {"note": note, "size_bytes": len(params), "sha256": hashlib.sha256(params).hexdigest()}
    return canonical(told), masker.fresh()


def _columns(draft: EntryDraft, entry_id: UUID, at: datetime) -> dict[str, Any]:
    decision = draft.decision or NO_DECISION
    return {
        "at": at,
        "id": entry_id,
        "format": FORMAT,
        "kind": str(draft.kind),
        "actor": _short(draft.actor),
        "environment": _short(draft.environment),
        "agent": _short(draft.agent),
        "session_key": _short(draft.session_key),
        "channel": _short(draft.channel),
        "sender": _short(draft.sender),
        "tool": _short(draft.tool),
        "call_id": draft.call_id,
        "approval_id": draft.approval_id,
        "status": _short(draft.status),
        "duration_ms": draft.duration_ms,
        "decision": _short(decision.verdict),
        "decision_layer": _short(decision.layer),
        "decision_label": _short(decision.label),
        "decision_rule": _short(decision.rule),
        "snapshot_digest": _short(draft.snapshot_digest),
        "trace_id": _short(draft.trace_id),
        "phases": storable(draft.phases),
    }


def _short(text: str | None) -> str:
    if not text:
        return ""
    if type(text) is str and len(text) <= INDEXED_TEXT_LIMIT and text.isascii() and "\x00" not in text:
        return text
    text = storable_text(str(text))
    return text if len(text) <= INDEXED_TEXT_LIMIT else text[: INDEXED_TEXT_LIMIT - 1] + "…"


def _json_text(value: Any) -> str | None:
    return None if value is None else canonical(value).decode()
