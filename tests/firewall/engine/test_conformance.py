"""The engine against what both releases recorded, and the command that compares them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.conformance.areas import AREAS
from apps.policies.conformance.compare import Failure, at_least_as_strict, members, remaining_secret, same
from apps.policies.conformance.runner import read_vectors, run_vectors

VECTORS = Path(__file__).parents[2] / "conformance"
FILES = sorted(path for path in (*VECTORS.glob("*.jsonl"), *VECTORS.glob("series-*/*.jsonl")) if path.stem in AREAS)
"""Every recorded file, of every series."""

# ours masks more than it must; the reasons of a refusal that no hook gave are in our own words
OUR_OWN_WAY = ("redaction", "hooks")


def _rows(numbers: str) -> frozenset[str]:
    return frozenset(f"exec_approval-{number}" for number in numbers.split())


# Kinds in which ours is stricter on purpose; each is named in docs/policy.md.
PATTERNS_AS_WRITTEN = _rows(
    "0570 0571 0585 s1-0354 s1-0698 s1-0735 s2-0260 s2-0418 s2-0549 s2-0568 s3-0277 s3-0315 "
    "s3-0799 s3-0827 s4-0724 s4-0729 s5-0574"
)
"""That release takes the marks of a path pattern for parts of a regular expression, so that the pattern for one program
admits others; ours admits the path as it is written."""
STRICTER = {("exec_approval", "2026.2"): PATTERNS_AS_WRITTEN}

# A line that neither admits: the cause or the commands that the release shows beside are others, as its parser goes on
# elsewhere behind an open here-document and behind a letter that the tables of ours end before.
OTHER_DETAILS = {
    ("exec_approval", "2026.9"): _rows("s1-0162 s3-0196 s3-0616 s5-0597"),
    # a line that goes on behind a backslash: the release goes on to look for another cause
    ("exec_approval", "2026.2"): _rows("s4-0739 s5-0558 s5-0561 s5-0767"),
}

RIGHT = {"id": "x-1", "area": "tool_names", "kind": "normalize", "input": {"name": "BASH"}, "expect": "exec"}
WRONG = {**RIGHT, "id": "x-2", "expect": "bash"}


def _write(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def _status(*arguments: str) -> int:
    try:
        call_command("conformance", *arguments)
    except SystemExit as exc:
        return int(exc.code or 0)
    return 0


@pytest.mark.parametrize("release", DIALECTS)
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(VECTORS).with_suffix("")))
def test_the_engine_answers_as_the_release_did(path: Path, release: str) -> None:
    area = path.stem
    stricter = STRICTER.get((area, release), frozenset())
    report = run_vectors(path, [row for row in read_vectors(path) if row["id"] not in stricter], release)
    assert report.required.total > 0
    assert [each for each in report.differences if each.required] == []
    assert report.holds
    if area not in OUR_OWN_WAY:
        excused = OTHER_DETAILS.get((area, release), frozenset())
        assert [each for each in report.differences if each.row not in excused] == []


@pytest.mark.parametrize(("area", "release"), STRICTER)
def test_where_we_differ_on_purpose_nothing_more_is_admitted(area: str, release: str) -> None:
    rows = [(path, row) for path in FILES if path.stem == area for row in read_vectors(path)]
    differences = {
        row["id"]: [each.difference for each in run_vectors(path, [row], release).differences]
        for path, row in rows
        if row["id"] in STRICTER[area, release]
    }
    assert set(differences) == STRICTER[area, release]
    assert all(differences.values())
    of_verdicts = [each for found in differences.values() for each in found if each.member == "allowlistSatisfied"]
    assert of_verdicts
    assert all(each.expected is True and each.actual is False for each in of_verdicts)


def test_agreement_leaves_with_nought(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _status(_write(tmp_path / "any name.jsonl", RIGHT)) == 0
    assert capsys.readouterr().out.count("rows 1/1  required 1/1  detail 0/0") == 2


def test_a_required_difference_leaves_with_one_and_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _status(_write(tmp_path / "a.jsonl", RIGHT, WRONG), "--release", "2026.9") == 1
    shown = capsys.readouterr().out
    assert "required 1/2" in shown
    assert "x-2 normalize: result (required)" in shown
    assert 'expected "bash"' in shown


@pytest.mark.parametrize(
    "row",
    [
        {**RIGHT, "area": "nonsense"},
        {**RIGHT, "kind": "nonsense"},
        {key: RIGHT[key] for key in ("id", "area", "input", "expect")},
        {"id": "x"},
        {**RIGHT, "input": "BASH"},
        {key: RIGHT[key] for key in ("id", "area", "kind", "input")},
        3,
    ],
)
def test_an_unknown_area_kind_or_row_leaves_with_two(tmp_path: Path, row: Any) -> None:
    assert _status(_write(tmp_path / "a.jsonl", RIGHT, row)) == 2


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{", b"\xff\xfe", b"[]"])
def test_what_is_no_file_of_vectors_leaves_with_two(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert _status(str(path)) == 2


def test_a_missing_file_leaves_with_two_even_beside_a_difference(tmp_path: Path) -> None:
    assert _status(_write(tmp_path / "a.jsonl", WRONG), str(tmp_path / "missing.jsonl")) == 2


def test_rows_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    rows = [
        RIGHT,
        {**WRONG, "gate": False},
        {**WRONG, "kind": "dump", "input": {"what": "anything"}},
        {**WRONG, "versions": ["2026.2"]},
        {**WRONG, "expect": "exec", "expect_2026_2": {"nonString": "object"}, "quirk": "js_prototype"},
    ]
    path = Path(_write(tmp_path / "a.jsonl", *rows))
    newer = run_vectors(path, read_vectors(path), "2026.9")
    assert (str(newer.rows), newer.not_compared) == ("2/2", 3)
    older = run_vectors(path, read_vectors(path), "2026.2")
    assert (str(older.rows), older.not_compared) == ("1/2", 3)


def test_many_details_hide_no_required_difference(tmp_path: Path) -> None:
    def text(shown: str) -> dict[str, str]:
        return {"text_base64": base64.b64encode(shown.encode()).decode()}

    row = {"area": "redaction", "kind": "text", "input": {"options": None, **text(SECRET)}, "expect": text("***")}
    path = Path(_write(tmp_path / "a.jsonl", *[{"id": "x-1", **row}] * 2000, WRONG))
    report = run_vectors(path, read_vectors(path), "2026.9")
    assert WRONG["id"] in {each.row for each in report.differences if each.required}


def test_a_row_that_breaks_the_engine_fails_and_the_rest_is_asked(tmp_path: Path) -> None:
    path = Path(_write(tmp_path / "a.jsonl", {**RIGHT, "input": {}}, RIGHT))
    report = run_vectors(path, read_vectors(path), "2026.9")
    assert str(report.rows) == "1/2"
    assert "KeyError" in report.differences[0].difference.actual


def test_a_refusal_is_compared_as_a_fact(tmp_path: Path) -> None:
    row = {"area": "tool_names", "kind": "match", "input": {"policy": {"deny": [5]}, "tools": ["read"]}}
    rows = [{**row, "expect": {"error": {"name": "TypeError"}}}, {**row, "expect": {"read": True}}]
    path = Path(_write(tmp_path / "a.jsonl", *rows, {**RIGHT, "expect": {"error": "text"}}))
    assert str(run_vectors(path, read_vectors(path), "2026.9").rows) == "1/3"


def test_details_count_only_where_the_older_release_has_its_own_expectation() -> None:
    path = VECTORS / "sandbox_policy.jsonl"
    rows = [row for row in read_vectors(path) if row["kind"] == "resolve"]
    shared = [{key: member for key, member in row.items() if key != "expect_2026_2"} for row in rows]
    assert run_vectors(path, shared, "2026.2").detail.total == 0
    assert run_vectors(path, shared, "2026.9").detail.total > 0


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": [1.0, 2], "a": 1}, True),
        ([1, 2], [2, 1], False),
        (1, True, False),
        (0, False, False),
        (None, False, False),
        ("a", "A", False),
        ({"a": None}, {}, False),
        ({"agentIdError": "x"}, {"agentIdError": "y"}, True),
        ({"agentIdError": "x"}, {}, False),
    ],
)
def test_values_are_compared_as_json(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal


def test_members_named_nowhere_are_not_compared() -> None:
    judge = members(("a", "deep.*.x"), ("deep.*.y",))
    expected = {"a": 1, "deep": {"k": {"x": 1, "y": 2}}, "other": 3}
    verdicts = list(judge({}, expected, {"a": 1, "deep": {"k": {"x": 1, "y": 9}}}))
    assert [(each.required, each.difference is None) for each in verdicts] == [
        (True, True),
        (True, True),
        (False, False),
    ]
    assert next(judge({}, expected, Failure("x"))).difference is not None


SECRET = "key=sk-abcdefghijklmnop end"


@pytest.mark.parametrize(
    ("recorded", "own", "strict"),
    [
        (SECRET, "key=*** end", True),
        ("key=*** end", "key=*** end", True),
        ("key=*** end", "***", True),
        ("key=*** end", "key=…ghijkl… end", False),
        ("key=sk-a…mnop end", "key=sk-abcdefg end", False),
        ("key=sk-a…mnop end", "key=sk-a…redacted…mnop end", True),
        ("key=…redacted… end", SECRET, False),
    ],
)
def test_nothing_that_the_recording_removed_may_remain(recorded: str, own: str, strict: bool) -> None:
    assert (remaining_secret(SECRET, recorded, own) is None) is strict


def test_a_short_piece_counts_with_what_stands_before_it() -> None:
    assert remaining_secret("pin: 12 and 12", "pin: *** and 12", "pin: *** and 12") is None
    assert remaining_secret("pin: 12 and 12", "pin: *** and 12", "pin: 12 and ***") is not None


def test_a_masked_text_is_judged_decoded() -> None:
    def holder(text: str) -> dict[str, str]:
        return {"text_base64": base64.b64encode(text.encode()).decode()}

    verdicts = list(at_least_as_strict(holder(SECRET), holder("key=*** end"), holder("key=… end")))
    assert [(each.required, each.difference is None) for each in verdicts] == [(True, True), (False, False)]
