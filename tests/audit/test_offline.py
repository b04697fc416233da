"""`verify_audit.py`, alone: what was taken away intact is judged intact, and no change of it goes unseen."""

import gzip
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import verify_audit
from apps.audit.checkpoints import checkpoints_make
from apps.audit.drafts import EntryReceipt
from apps.audit.sealing import seal_entry
from apps.audit.services import entry_record
from apps.audit.signing import audit_key, key_id, public_pem
from apps.audit.statements import key_rotate, statement_sign, statements
from apps.audit.writer import Writer
from apps.firewall.identifiers import new_id
from tests.audit.drafts import DENIED, denial, intent, outcome
from tests.audit.ledger_files import Dump, Taken, dump_now, escaped, export_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

SCRIPT = Path(verify_audit.__file__)
MAINTENANCE = "BEGIN; SET LOCAL openclaw_admin.audit_maintenance = 'on'; {}; COMMIT"
NASTY: dict[str, Any] = {
    "text": "=1+1\t\\x41\n'\"ü\u2028",
    "list": [1, 0.1, None, True, {"": []}],
    "deep": {"b": 1, "a": "\\N"},
}


@pytest.fixture(autouse=True)
def keys(settings: Any, tmp_path: Path) -> None:
    settings.KEYS_DIR, settings.AUDIT_KEY = tmp_path / "keys", ""


@pytest.fixture
def written(fresh_writer: None, another_process: Writer) -> list[EntryReceipt]:
    """Two chains with every kind of content there is."""
    drafts = [
        [
            intent(params=NASTY, changes={"hooks": [{"path": "a", "to": "-1"}]}),
            outcome(new_id(), result={"ok": number}, error=None) if number % 2 else intent(),
            denial(agent="=cmd|'/c calc'!A1", decision=DENIED, params={"n": number}),
        ]
        for number in range(6)
    ]
    ours = [entry_record(draft) for triple in drafts for draft in triple]
    for triple in drafts[:3]:
        another_process.submit(*map(seal_entry, triple)).result(timeout=30)
    return ours


def pinned() -> str:
    return key_id(audit_key().public)


def judged(*arguments: Any) -> int:
    return verify_audit.main([*map(str, arguments), "--json"])


def codes(capsys: pytest.CaptureFixture[str]) -> set[str]:
    return {problem["code"] for problem in json.loads(capsys.readouterr().out)["problems"]}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_as_it_was_signed_holds(written: list[EntryReceipt], tmp_path: Path, form: str) -> None:
    assert judged("export", *export_now(tmp_path, form), "--key", pinned()) == 0


def test_a_dump_as_it_stands_holds(written: list[EntryReceipt], tmp_path: Path) -> None:
    checkpoints_make()
    path = dump_now().write(tmp_path / "dump.sql")
    (tmp_path / "key.pem").write_text(public_pem(audit_key().public))
    packed = tmp_path / "dump.sql.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert judged("dump", path, "--key", pinned()) == judged("dump", packed, "--key", tmp_path / "key.pem") == 0


def test_it_runs_outside_the_project_with_nothing_but_python(written: list[EntryReceipt], tmp_path: Path) -> None:
    files = export_now(tmp_path)
    alone = shutil.copy(SCRIPT, tmp_path / "v.py")
    command = [sys.executable, "-I", "-S", alone, "export", *files, "--key", pinned()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={}, check=False)
    assert done.returncode == 0, done.stderr
    assert "everything holds" in done.stdout and "does not prove" in done.stdout


@pytest.mark.parametrize("use", ["no key at all", "another key"])
def test_it_trusts_no_key_that_the_auditor_did_not_pin(
    written: list[EntryReceipt], tmp_path: Path, use: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = export_now(tmp_path)
    if use == "no key at all":
        with pytest.raises(SystemExit, match="2"):
            judged("export", *files)
        return
    assert judged("export", *files, "--key", "00" * 32) == 1 and codes(capsys) == {"key_unknown"}
    path = dump_now().write(tmp_path / "dump.sql")
    assert judged("dump", path, "--key", "00" * 32) == 1 and codes(capsys) == {"key_unknown"}


@pytest.mark.parametrize("pin", ["old", "new"])
def test_either_side_of_a_rotation_may_be_pinned(written: list[EntryReceipt], tmp_path: Path, pin: str) -> None:
    checkpoints_make()
    old = pinned()
    key_rotate(by="user:admin")
    entry_record(intent())
    checkpoints_make()
    path = dump_now().write(tmp_path / "dump.sql")
    assert pinned() != old
    assert judged("dump", path, "--key", {"old": old, "new": pinned()}[pin]) == 0


def test_what_was_erased_or_purged_is_explained_by_what_was_signed(
    written: list[EntryReceipt], owner_sql: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoints_make()
    chain, three, four = written[0].chain_id, written[2], written[3]
    owner_sql(MAINTENANCE.format(f"DELETE FROM audit_content WHERE entry_id IN ('{four.id}', '{written[4].id}')"))
    owner_sql(MAINTENANCE.format(f"DELETE FROM audit_content WHERE at <= '{three.at.isoformat()}'"))
    owner_sql(MAINTENANCE.format(f"DELETE FROM audit_entry WHERE chain_id = '{chain}' AND seq <= 3"))
    path = dump_now().write(tmp_path / "dump.sql")
    assert judged("dump", path, "--key", pinned()) == 1
    assert {"missing", "content_missing"} <= codes(capsys)
    gone = {"chain": str(chain), "first": 1, "last": 3}
    linked = {"prev": verify_audit.genesis(str(chain)).hex(), "hash": three.hash.hex()}
    statement_sign("purge", {"reason": "retention", "by": "user:admin", "class": "calls", "ranges": [gone | linked]})
    erased = {"chain": str(chain), "first": 4, "last": 5}
    statement_sign("erasure", {"reason": "asked", "by": "user:admin", "subject": "00", "ranges": [erased]})
    path = dump_now().write(tmp_path / "dump.sql")
    assert judged("dump", path, "--key", pinned()) == 0, capsys.readouterr().out
    assert judged("export", *export_now(tmp_path), "--key", pinned()) == 0, capsys.readouterr().out


def test_a_witness_knows_of_statements_that_were_taken_back(written: list[EntryReceipt], tmp_path: Path) -> None:
    checkpoints_make()
    entry_record(intent())
    checkpoints_make()
    kept = tmp_path / "witness.jsonl"
    kept.write_text("".join(json.dumps(each.document()) + "\n" for each in statements()))
    dump = dump_now()
    path = dump.write(tmp_path / "dump.sql")
    assert judged("dump", path, "--witness", kept, "--key", pinned()) == 0
    chain = max(dump.tables["audit_entry"], key=lambda row: int(row["seq"]))["chain_id"]
    dump.tables["audit_entry"].remove(dump.chain(chain)[-1])
    dump.tables["audit_statement"].pop()
    dump.relink(chain)
    entries = {row["id"] for row in dump.tables["audit_entry"]}
    dump.tables["audit_content"] = [row for row in dump.tables["audit_content"] if row["entry_id"] in entries]
    path = dump.write(tmp_path / "dump.sql")
    assert judged("dump", path, "--key", pinned()) == 0  # what nobody outside has seen can be taken back
    assert judged("dump", path, "--witness", kept, "--key", pinned()) == 1


@pytest.mark.parametrize("start", [b"PGDMP\x01\x0e", b"-- nothing of ours\n", b"\xff\xfe"])
def test_what_is_no_dump_cannot_be_judged(tmp_path: Path, start: bytes) -> None:
    (tmp_path / "dump").write_bytes(start)
    assert judged("dump", tmp_path / "dump", "--key", "00" * 32) == 2


# --------------------------------------------------------------------------------- two hundred changes of six kinds

KINDS = ("edit", "delete", "insert", "reorder", "truncate", "resign")
SEEDS = range(17)  # of each kind, in an export and in a dump: 204


@pytest.mark.parametrize("medium", ["export", "dump"])
def test_no_change_goes_unseen(written: list[EntryReceipt], tmp_path: Path, medium: str) -> None:
    rows, manifest = export_now(tmp_path)  # makes the checkpoint that covers everything
    taken = Taken(rows.read_text().split("\n")[:-1], json.loads(manifest.read_text()))
    dump = dump_now()
    unseen = [
        (kind, seed)
        for kind in KINDS
        for seed in SEEDS
        if _judged_after(kind, seed, (taken if medium == "export" else dump).copy(), tmp_path) != 1
    ]
    assert unseen == []


def _judged_after(kind: str, seed: int, taken: Taken | Dump, folder: Path) -> int:
    chance = random.Random(f"{kind} {seed}")
    if isinstance(taken, Taken):
        _change_export(kind, chance, taken)
        return judged("export", *taken.write(folder), "--key", pinned())
    _change_dump(kind, chance, taken)
    return judged("dump", taken.write(folder / "changed.sql"), "--key", pinned())


def _change_export(kind: str, chance: random.Random, taken: Taken) -> None:
    lines, place = taken.lines, chance.randrange(len(taken.lines) - 1)
    if kind in ("edit", "resign"):
        lines[place] = _edited(chance, json.loads(lines[place]))
    elif kind == "delete":
        del lines[place]
    elif kind == "insert":
        lines.insert(place, _edited(chance, json.loads(chance.choice(lines))))
    elif kind == "reorder":
        lines[place], lines[place + 1] = lines[place + 1], lines[place]
    else:
        del lines[-chance.randrange(1, len(lines)) :]
    if kind == "resign":
        taken.retell(Ed25519PrivateKey.generate())
    elif chance.random() < 0.5:
        taken.retell()  # the digests fit again, the signature cannot


def _edited(chance: random.Random, row: dict[str, Any]) -> str:
    name = chance.choice(["tool", "agent", "status", "actor", "at", "params", "duration_ms", "salt", "hash", "seq"])
    row[name] = {"at": "2026-01-01T00:00:00.000000Z", "duration_ms": 987654, "seq": 77}.get(name, "ab" * 32)
    return json.dumps(row)


def _change_dump(kind: str, chance: random.Random, dump: Dump) -> None:
    entries = dump.tables["audit_entry"]
    chain = chance.choice([row["chain_id"] for row in entries])
    rows = dump.chain(chain)
    place = chance.randrange(len(rows) - 1)
    is_careful = chance.random() < 0.6  # makes hashes, links and boot fit again
    if kind in ("edit", "resign"):
        _edit_dump(chance, dump, rows[place], is_careful or kind == "resign")
    elif kind == "delete":
        _delete_from_dump(chance, dump, rows[place])
    elif kind == "insert":
        entries.append(rows[place] | {"id": "01980000" + rows[place]["id"][8:], "status": "invented"})
    elif kind == "reorder":
        first, second = rows[place], rows[place + 1]
        first["seq"], second["seq"] = second["seq"], first["seq"]
    else:
        for row in rows[-chance.randrange(1, len(rows)) :]:
            _delete_entry(dump, row)
    if is_careful or kind == "resign":
        dump.relink(chain)
    if kind == "resign":
        dump.resign(Ed25519PrivateKey.generate())


def _edit_dump(chance: random.Random, dump: Dump, row: dict[str, str], is_careful: bool) -> None:
    content = next((each for each in dump.tables["audit_content"] if each["entry_id"] == row["id"]), None)
    if content is not None and chance.random() < 0.4:
        content[chance.choice(["params", "result"])] = escaped(json.dumps({"innocent": chance.random()}))
        if is_careful:
            dump.recommit(content)
        return
    row[chance.choice(["tool", "agent", "status", "actor", "trace_id", "environment"])] = "innocent"


def _delete_from_dump(chance: random.Random, dump: Dump, row: dict[str, str]) -> None:
    if chance.random() < 0.3:
        dump.tables["audit_content"].remove(chance.choice(dump.tables["audit_content"]))
    elif chance.random() < 0.3:
        dump.tables["audit_statement"].clear()
    else:
        _delete_entry(dump, row)


def _delete_entry(dump: Dump, row: dict[str, str]) -> None:
    dump.tables["audit_entry"].remove(row)
    kept = [each for each in dump.tables["audit_content"] if each["entry_id"] != row["id"]]
    dump.tables["audit_content"] = kept
