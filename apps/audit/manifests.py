"""Signed manifests: what an export holds, so that somebody far away can tell that nothing of it was changed.

`RowFacts` is fed while rows are written and can be kept between two runs of a worker; `manifest_sign` makes the
document that lies beside the file. `verify_audit.py` checks it offline.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.audit.chain import canonical, instant_text, storable
from apps.audit.checkpoints import checkpoint_numbers, checkpoints_make
from apps.audit.signing import audit_key
from apps.audit.statements import Statement, StatementKind, statements, statements_numbered

FORMAT = 1
DOMAIN = b"openclaw-admin audit manifest\n"
ROWS_SEED = hashlib.sha256(b"openclaw-admin audit export").digest()


@dataclass(slots=True)
class RowFacts:
    """What is known of the rows written so far: their number, their order, and where each chain begins and ends.

    The digest is a chain of its own: after each row, SHA-256 over the digest before and the row's hash.
    """

    count: int = 0
    digest: bytes = ROWS_SEED
    chains: dict[UUID, list[int]] = field(default_factory=dict)
    last: tuple[str, int, str] | None = None

    def add_rows(self, rows: Iterable[tuple[UUID, int, bytes]]) -> None:
        """Take in rows, in the order of the file: chain, number, hash."""
        digest, chains, row, count, sha256 = self.digest, self.chains, None, self.count, hashlib.sha256
        for row in rows:
            chain_id, seq, entry_hash = row
            digest = sha256(digest + entry_hash).digest()
            count += 1
            seen = chains.get(chain_id)
            if seen is None:
                chains[chain_id] = [seq, seq, 1]
                continue
            if seq < seen[0]:
                seen[0] = seq
            if seq > seen[1]:
                seen[1] = seq
            seen[2] += 1
        if row is not None:
            self.last = (str(row[0]), row[1], bytes(row[2]).hex())
        self.digest, self.count = digest, count

    def to_json(self) -> dict[str, Any]:
        """Give them as JSON, from which `from_json` goes on."""
        return {
            "count": self.count,
            "digest": self.digest.hex(),
            "chains": self.chains_json(),
            "last": None if self.last is None else list(self.last),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> "RowFacts":
        chains = {UUID(each["chain"]): [each["first"], each["last"], each["count"]] for each in kept["chains"]}
        last = None if kept["last"] is None else tuple(kept["last"])
        return cls(kept["count"], bytes.fromhex(kept["digest"]), chains, last)

    def chains_json(self) -> list[dict[str, Any]]:
        return [
            {"chain": str(chain_id), "first": first, "last": last, "count": count}
            for chain_id, (first, last, count) in sorted(self.chains.items())
        ]


def manifest_sign(export: Mapping[str, Any], *, path: Path, name: str, facts: RowFacts) -> bytes:
    """Write the signed manifest of a file that is complete. Signs a checkpoint first, so that each row is covered.

    Args:
        export: what the file is: `id`, `format`, `filters`, `columns`, `requested_by`, `requested_at`; JSON.
        name: the name under which the file is given away.
    Raises:
        AuditKeyError: the key cannot be used.
    """
    checkpoints_make()
    key = audit_key()
    document: dict[str, Any] = {
        "manifest": FORMAT,
        "made_at": instant_text(timezone.now()),
        "export": storable(export),
        "file": {"name": name, "bytes": path.stat().st_size, "sha256": _file_digest(path)},
        "rows": {"count": facts.count, "digest": facts.digest.hex(), "chains": facts.chains_json()},
        "trailer": None if facts.last is None else dict(zip(("chain", "seq", "hash"), facts.last, strict=True)),
        "statements": [statement.document() for statement in _bearing(facts)],
        "public_key": key.public.hex(),
    }
    signature = key.sign(DOMAIN + hashlib.sha256(canonical(document)).digest())
    return canonical(document | {"signature": signature.hex()}) + b"\n"


def _bearing(facts: RowFacts) -> list[Statement]:
    """Pick the statements that bear on these rows: the keys, what covers their chains, what was taken from them."""
    found = {each.number: each for each in statements(kind=StatementKind.KEY)}
    found |= {each.number: each for each in statements_numbered(checkpoint_numbers(list(facts.chains)))}
    spans = {str(chain_id): (first, last) for chain_id, (first, last, _) in facts.chains.items()}
    for kind in (StatementKind.PURGE, StatementKind.ERASURE):
        found |= {each.number: each for each in statements(kind=kind) if _touches(each, spans)}
    return [found[number] for number in sorted(found)]


def _touches(statement: Statement, spans: Mapping[str, tuple[int, int]]) -> bool:
    for gone in statement.told.get("ranges", ()):
        span = spans.get(gone["chain"])
        if span is not None and gone["first"] <= span[1] and gone["last"] >= span[0]:
            return True
    return False


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
