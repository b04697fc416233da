"""What spreadsheets do to a table of senders, and keys that no sender can have."""

import pytest

from apps.policies.document.findings import Findings
from apps.policies.document.reading import read_tree
from apps.policies.document.sender_table import MARK, read_table, text_meant, write_table
from apps.policies.lint.addresses import sender_meant

NUMBER = "+491701234567"


@pytest.mark.parametrize(
    "content",
    [
        f"sep=;\nkey;deny\n{NUMBER};exec\n",
        f"{MARK}sep=;\r\nkey;deny\r\n{NUMBER};exec\r\n",
        f"SEP=,\nkey,deny\n{NUMBER},exec\n",
        f"key,deny,,\n{NUMBER},exec,,\n",
        f"key;allow;also_allow;deny;\n{NUMBER};;;exec;\n",
        f"\u200bkey;deny\n{NUMBER};exec\n",
    ],
)
def test_what_a_spreadsheet_adds_to_a_table_is_read_over(content: str) -> None:
    (row,) = read_table(content.encode())

    assert (row.key, row.lists["deny"], row.mistake) == (NUMBER, ["exec"], None)


def test_lines_are_those_of_the_file_below_a_hint_too() -> None:
    (row,) = read_table(f"sep=;\nkey;deny\n\n{NUMBER};exec\n")

    assert row.line == 4


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("4,91702E+11", "rounded"),
        ("4.91702E+11", "rounded"),
        ("e164:4,91702e+11", "rounded"),
        ("\u202a+491701234567\u202c", "invisible"),
        ("+4917\u200b01234567", "invisible"),
        ("id:\u00ad42", "invisible"),
        ("name:\u2066Ann", "invisible"),
    ],
)
def test_a_key_that_a_spreadsheet_or_a_copy_spoilt_is_refused(key: str, code: str) -> None:
    (row,) = read_table(f"key;deny\n{key};exec\n")

    assert row.mistake is not None
    assert (row.mistake.field, row.mistake.code) == ("key", code)


PERSIAN = "name:\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # its word is spelt with a joiner


@pytest.mark.parametrize("key", [NUMBER, "name:Zo\u00eb", PERSIAN, "id:1e5x", "username:e10"])
def test_a_key_as_people_have_it_is_taken(key: str) -> None:
    (row,) = read_table(f"key;deny\n{key};exec\n")

    assert (row.key, row.mistake) == (key, None)


def test_a_cell_below_a_column_without_a_name_is_refused() -> None:
    (row,) = read_table(f"key,deny,\n{NUMBER},exec,read\n")

    assert row.mistake is not None and row.mistake.code == "too_many"


def test_a_text_that_was_read_in_another_encoding_is_noticed() -> None:
    assert text_meant("name:M\u00c3\u00bcller") == "name:M\u00fcller"
    assert text_meant("name:Zo\u00c3\u00ab") == "name:Zo\u00eb"
    for well in ("name:M\u00fcller", "name:\u7389", NUMBER, "*"):
        assert text_meant(well) == ""


def test_a_table_begins_with_the_mark_of_utf_8_by_choice() -> None:
    assert next(iter(write_table([]))).startswith(MARK + "key,")
    assert next(iter(write_table([], mark=False))).startswith("key,")
    assert read_table("".join(write_table([]))) == []


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("telegram:42", "channel:telegram:42"),
        ("gchat:42", "channel:gchat:42"),
        ("channel:telegram:@ann", "username:ann"),
        ("telegram:@ann", "username:ann"),
        ("e164:+1 (555) 123-0001", "e164:+15551230001"),
        ("e164:15551230001", "e164:+15551230001"),
        ("@ann", "username:ann"),
        ("+15551230001", "e164:+15551230001"),
        ("channel:telegram:42", ""),
        ("e164:+15551230001", ""),
        ("id:42", ""),
        ("*", ""),
    ],
)
def test_a_key_that_no_sender_can_have_is_told_with_what_was_meant(key: str, meant: str) -> None:
    assert sender_meant(key) == meant


@pytest.mark.parametrize(("encoding", "named"), [("utf-16", "UTF-16"), ("latin-1", "Latin-1")])
def test_a_document_in_another_encoding_is_refused_by_the_name_of_that_encoding(encoding: str, named: str) -> None:
    findings = Findings()

    assert read_tree('{"agents": {"entries": {"main": {"name": "D\u00e4tcher"}}}}'.encode(encoding), findings) is None
    assert named in findings.items[0].message
