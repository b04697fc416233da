"""A small ledger taken away in every form, and the hands of somebody who changes it without the key."""

import json
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import connection

import verify_audit
from apps.audit.chain import canonical, genesis
from apps.audit.exports import entry_export
from apps.audit.filters import EntryFilters
from apps.audit.formats import COLUMNS
from apps.audit.manifests import DOMAIN, RowFacts, manifest_sign
from apps.audit.statements import DOMAIN as STATEMENT_DOMAIN
from apps.audit.statements import GENESIS

TABLES = {
    "audit_boot": "id, started_at, ended_at, seq, head",
    "audit_content": "at, entry_id, call_id, salt, params, result, error, masked, changes, decision_reason",
    "audit_entry": ", ".join([*verify_audit.BODY_1, "chain_id", "seq", "prev_hash", "hash"]),
    "audit_statement": "number, at, kind, body, prev_hash, hash, signature, public_key",
}
Row = dict[str, str]


@dataclass
class Dump:
    """The ledger's tables as `pg_dump` writes them: rows of texts, escaped."""

    tables: dict[str, list[Row]] = field(default_factory=dict)

    def write(self, path: Path) -> Path:
        """Write a plain dump, with what stands around the ledger in one."""
        blocks = ["--\n-- PostgreSQL database dump\n--\n\nSET client_encoding = 'UTF8';\n"]
        for name, rows in self.tables.items():
            shown = f"{name}_default" if name in ("audit_entry", "audit_content") else name
            lines = "".join("\t".join(row.values()) + "\n" for row in rows)
            blocks.append(f"COPY public.{shown} ({TABLES[name]}) FROM stdin;\n{lines}\\.\n\n")
        path.write_text("".join(blocks), encoding="utf-8")
        return path

    def copy(self) -> "Dump":
        return Dump(deepcopy(self.tables))

    def chain(self, chain: str) -> list[Row]:
        rows = [row for row in self.tables["audit_entry"] if row["chain_id"] == chain]
        return sorted(rows, key=lambda row: int(row["seq"]))

    def relink(self, chain: str) -> None:
        """Make a chain look whole again, its boot included: all that is left to differ is what was signed."""
        before = genesis_of(chain)
        rows = self.chain(chain)
        for number, row in enumerate(rows, 1):
            row["seq"], row["prev_hash"] = str(number), hexed(before)
            before = verify_audit.entry_hash(verify_audit.dumped_entry(plain(row)))
            row["hash"] = hexed(before)
        boot = next(boot for boot in self.tables["audit_boot"] if boot["id"] == chain)
        boot["seq"], boot["head"] = str(len(rows)), hexed(before)

    def recommit(self, content: Row) -> None:
        """Bind a changed content in its entry."""
        entry = next(row for row in self.tables["audit_entry"] if row["id"] == content["entry_id"])
        bound = verify_audit.commitment(verify_audit.dumped_content(plain(content)), int(entry["format"]))
        entry["content_commitment"] = hexed(bound)

    def resign(self, key: Ed25519PrivateKey) -> None:
        """Sign every statement anew, checkpoints over the heads of now."""
        heads = {row["id"]: (int(row["seq"]), row["head"][3:]) for row in self.tables["audit_boot"]}
        before = GENESIS
        for row in self.tables["audit_statement"]:
            body = json.loads(plain(row)["body"] or "{}")
            for head in body.get("heads", ()):
                head["seq"], head["hash"] = heads[head["chain"]]
            said = said_in(row) | {"body": canonical(body).decode(), "prev_hash": before.hex()}
            said["public_key"] = key.public_key().public_bytes_raw().hex()
            before = verify_audit.statement_hash(said)
            row |= {"body": escaped(said["body"]), "prev_hash": hexed(bytes.fromhex(said["prev_hash"]))}
            row |= {"hash": hexed(before), "signature": hexed(key.sign(STATEMENT_DOMAIN + before))}
            row["public_key"] = hexed(bytes.fromhex(said["public_key"]))


@dataclass
class Taken:
    """An export: its lines and its manifest."""

    lines: list[str]
    manifest: dict[str, Any]

    def copy(self) -> "Taken":
        return deepcopy(self)

    def write(self, folder: Path) -> list[str]:
        path, manifest = folder / "rows.jsonl", folder / "rows.manifest.json"
        path.write_bytes(self.whole())
        manifest.write_bytes(canonical(self.manifest))
        return [str(path), str(manifest)]

    def whole(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode()

    def retell(self, key: Ed25519PrivateKey | None = None) -> None:
        """Have the manifest tell of the lines of now; without a key the signature stays the old one."""
        rows = [json.loads(line) for line in self.lines]
        facts = facts_of(rows)
        whole = self.whole()
        self.manifest["file"] |= {"bytes": len(whole), "sha256": sha256(whole).hexdigest()}
        self.manifest["rows"] = {"count": facts.count, "digest": facts.digest.hex(), "chains": facts.chains_json()}
        last = rows[-1]
        self.manifest["trailer"] = {"chain": last["chain_id"], "seq": last["seq"], "hash": last["hash"]}
        if key is not None:
            self.manifest["public_key"] = key.public_key().public_bytes_raw().hex()
            said = {name: value for name, value in self.manifest.items() if name != "signature"}
            self.manifest["signature"] = key.sign(DOMAIN + sha256(canonical(said)).digest()).hex()


def dump_now() -> Dump:
    """Read the tables as `COPY` gives them, within the transaction of the test."""
    dump = Dump()
    for name, columns in TABLES.items():
        with connection.cursor() as cursor, cursor.copy(f"COPY (SELECT {columns} FROM {name}) TO STDOUT") as copy:
            text = b"".join(bytes(block) for block in copy).decode()
        named = columns.split(", ")
        dump.tables[name] = [dict(zip(named, line.split("\t"), strict=True)) for line in text.split("\n")[:-1]]
    return dump


def export_now(folder: Path, form: str = "jsonl") -> tuple[Path, Path]:
    """Export everything, with its manifest."""
    path, manifest = folder / f"rows.{form}", folder / f"rows.{form}.manifest.json"
    path.write_bytes(b"".join(entry_export(EntryFilters(), form)))
    rows = verify_audit.csv_rows(path) if form == "csv" else verify_audit.jsonl_rows(path)
    told = {"format": form, "filters": {}, "columns": list(COLUMNS)}
    manifest.write_bytes(manifest_sign(told, path=path, name=path.name, facts=facts_of(rows)))
    return path, manifest


def facts_of(rows: Any) -> RowFacts:
    facts = RowFacts()
    facts.add_rows((UUID(row["chain_id"]), row["seq"], bytes.fromhex(row["hash"])) for row in rows)
    return facts


def said_in(row: Row) -> dict[str, Any]:
    texts = plain(row)
    said: dict[str, Any] = {"number": int(row["number"]), "at": verify_audit.instant(row["at"])}
    return said | {"kind": texts["kind"], "body": texts["body"]}


def genesis_of(chain: str) -> bytes:
    return genesis(UUID(chain))


def plain(row: Row) -> dict[str, str | None]:
    return {name: verify_audit.unescaped(value) for name, value in row.items()}


def hexed(value: bytes) -> str:
    return "\\\\x" + value.hex()


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
