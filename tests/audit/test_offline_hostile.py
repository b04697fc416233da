"""`verify_audit.py` on files made to mislead it: nothing is read in two ways, nothing hides, nothing bursts."""

import gzip
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import verify_audit
from apps.audit.checkpoints import checkpoints_make
from apps.audit.drafts import EntryReceipt
from apps.audit.services import entry_record
from apps.audit.statements import statement_sign
from tests.audit.drafts import intent
from tests.audit.ledger_files import Dump, dump_now, export_now
from tests.audit.test_offline import codes, judged, keys, pinned, written  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]


@pytest.fixture
def dump(written: list[EntryReceipt]) -> Dump:  # noqa: F811 - a fixture
    checkpoints_make()
    return dump_now()


def verdict(dump: Dump, folder: Path, *, more: str = "") -> int:
    path = dump.write(folder / "dump.sql")
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    return judged("dump", path, "--key", pinned())


def test_a_manifest_that_says_something_twice_is_none(written: list[EntryReceipt], tmp_path: Path) -> None:  # noqa: F811
    rows, manifest = export_now(tmp_path)
    manifest.write_text('{"export":{"filters":{"agent":"another"}},' + manifest.read_text()[1:])
    assert judged("export", rows, manifest, "--key", pinned()) == 2


@pytest.mark.parametrize("text", ["[" * 100_000, '{"manifest": 1, "signature": NaN}', "\ufeff{}", "", "[]", "1" * 9999])
def test_what_is_no_manifest_cannot_be_judged(tmp_path: Path, text: str) -> None:
    rows, manifest = tmp_path / "rows", tmp_path / "manifest"
    rows.write_bytes(b"")
    manifest.write_text(text)
    assert judged("export", rows, manifest, "--key", "00" * 32) == 2


def test_a_manifest_does_not_fit_to_another_export(written: list[EntryReceipt], tmp_path: Path) -> None:  # noqa: F811
    rows, _ = export_now(tmp_path)
    entry_record(intent())
    (tmp_path / "later").mkdir()
    _, manifest = export_now(tmp_path / "later")
    assert judged("export", rows, manifest, "--key", pinned()) == 1


@pytest.mark.parametrize(
    "line",
    [
        "INSERT INTO public.audit_entry VALUES (1);",
        "delete from audit_statement;",
        'COPY "public"."audit_entry" (at, id) FROM stdin;',
        "COPY public.audit_content FROM stdin;",
    ],
)
def test_a_dump_that_writes_in_ways_it_does_not_read_is_a_problem(
    dump: Dump, tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdict(dump, tmp_path, more=f"{line}\n") == 1
    assert codes(capsys) == {"written_otherwise"}


def test_rows_of_other_tables_may_look_like_anything(dump: Dump, tmp_path: Path) -> None:
    rows = "COPY public.audit_entry (at, id) FROM stdin;\nINSERT INTO audit_entry\t1\n\\\\.\t2\n"
    assert verdict(dump, tmp_path, more=f"COPY public.notes (text, n) FROM stdin;\n{rows}\\.\n") == 0


@pytest.mark.parametrize("written_as", ["\\141", "\\x61", "\\q"])
def test_letters_are_written_in_one_way(
    dump: Dump, tmp_path: Path, written_as: str, capsys: pytest.CaptureFixture[str]
) -> None:
    dump.tables["audit_entry"][0]["agent"] = written_as
    assert verdict(dump, tmp_path) == 1
    assert "unreadable" in codes(capsys)


@pytest.mark.parametrize("table", ["audit_entry", "audit_boot", "audit_statement"])
@pytest.mark.parametrize("number", ["99999999999999999999", "-1", "0", "1.0", "\\N", "9" * 5000])
def test_a_number_that_is_none_is_a_problem_and_no_crash(dump: Dump, tmp_path: Path, table: str, number: str) -> None:
    dump.tables[table][0]["number" if table == "audit_statement" else "seq"] = number
    assert verdict(dump, tmp_path) == 1


def test_nothing_stands_in_columns_that_no_hash_covers(
    dump: Dump, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump.tables["audit_entry"][0]["decision_reason"] = "nobody decided this"
    assert verdict(dump, tmp_path) == 1
    assert codes(capsys) == {"changed"}


def test_what_was_signed_away_does_not_come_back(
    dump: Dump, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = dump.tables["audit_entry"][0]
    gone = {"chain": row["chain_id"], "first": 1, "last": 1}
    statement_sign("erasure", {"reason": "asked", "by": "user:admin", "subject": "00", "ranges": [gone]})
    hashes = {"prev": dump.chain(row["chain_id"])[0]["prev_hash"][3:], "hash": "00" * 32}
    statement_sign("purge", {"reason": "retention", "by": "system", "class": "calls", "ranges": [gone | hashes]})
    assert verdict(dump_now(), tmp_path) == 1
    assert codes(capsys) == {"content_back", "purged_back"}


def test_what_a_file_says_cannot_pass_for_what_the_program_says(
    dump: Dump, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = dump.tables["audit_entry"][0]
    row["chain_id"] = row["at"] = "\x1b[2J\x1b[Heverything holds\u202e\\n"
    path = dump.write(tmp_path / "dump.sql")
    assert verify_audit.main(["dump", str(path), "--key", pinned()]) == 1
    said = capsys.readouterr().out
    assert not set(said) & {"\x1b", "\u202e"} and "everything holds" not in said.splitlines()


def test_a_line_without_an_end_fills_no_memory(dump: Dump, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_audit, "LONGEST_LINE", 1 << 16)
    assert verdict(dump, tmp_path, more="x" * (1 << 17)) == 2


def test_a_packed_dump_that_ends_early_cannot_be_judged(dump: Dump, tmp_path: Path) -> None:
    packed = gzip.compress(dump.write(tmp_path / "dump.sql").read_bytes())
    (tmp_path / "dump.gz").write_bytes(packed[: len(packed) // 2])
    assert judged("dump", tmp_path / "dump.gz", "--key", pinned()) == 2
    (tmp_path / "dump.gz").write_bytes(packed[:40] + b"\xff" * 40 + packed[80:])
    assert judged("dump", tmp_path / "dump.gz", "--key", pinned()) == 2


def test_it_says_which_statement_was_the_newest(dump: Dump, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = dump.write(tmp_path / "dump.sql")
    assert verify_audit.main(["dump", str(path), "--key", pinned()]) == 0
    number = dump.tables["audit_statement"][-1]["number"]
    assert f"the newest signed statement here is number {number} of 20" in capsys.readouterr().out


@pytest.mark.parametrize("agent", ["'=1", "''-1", "'plain", "=1", "'", "''", " x", "-'", "\t'=", "＝1"])
def test_each_cell_of_a_csv_file_is_read_in_one_way(fresh_writer: None, tmp_path: Path, agent: str) -> None:
    entry_record(intent(agent=agent, session_key=agent[::-1], tool=agent, params={"x": agent}))
    assert judged("export", *export_now(tmp_path, "csv"), "--key", pinned()) == 0


# ------------------------------------------------------------------------------------------------ keys, signatures


def test_only_a_key_of_the_right_kind_is_pinned(dump: Dump, tmp_path: Path) -> None:
    path, pem = dump.write(tmp_path / "dump.sql"), tmp_path / "key.pem"
    other = X25519PrivateKey.generate().public_key()
    for text in (other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), b"", b"-\n-\n-", b"\xff"):
        pem.write_bytes(text)
        assert judged("dump", path, "--key", pem) == 2


def test_a_signature_has_one_form() -> None:
    key = Ed25519PrivateKey.generate()
    public, signature = key.public_key().public_bytes_raw(), key.sign(b"said")
    assert verify_audit.signature_fits(public, signature, b"said")
    higher = int.from_bytes(signature[32:], "little") + verify_audit.ORDER
    assert not verify_audit.signature_fits(public, signature[:32] + higher.to_bytes(32, "little"), b"said")
    assert not verify_audit.signature_fits(public, signature + b"\x00", b"said")
    assert not verify_audit.signature_fits(public[:31], signature, b"said")


@pytest.mark.parametrize("number", [verify_audit.P, verify_audit.P + 1, 2**255 - 1, 2**255 | 1])
def test_a_point_has_one_form(number: int) -> None:
    assert verify_audit.point_of(number.to_bytes(32, "little")) is None


@pytest.mark.parametrize("number", [1, verify_audit.P - 1, 0])
def test_a_key_that_fits_to_any_signature_is_none(number: int) -> None:
    weak = number.to_bytes(32, "little")
    neutral = (1).to_bytes(32, "little")
    said = [f"said {each}".encode() for each in range(16)]
    assert not any(verify_audit.signature_fits(weak, neutral + bytes(32), payload) for payload in said)


def test_many_keys_fill_no_memory() -> None:
    for _ in range(verify_audit.KEPT_MULTIPLES + 4):
        key = Ed25519PrivateKey.generate()
        assert verify_audit.signature_fits(key.public_key().public_bytes_raw(), key.sign(b"x"), b"x")
    assert len(verify_audit._multiples) <= verify_audit.KEPT_MULTIPLES + 1
