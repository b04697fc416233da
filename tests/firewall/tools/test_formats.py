"""Formats: what has them, where paths may lead, validators of one's own, and the form in which tools get values."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.formats import FORMATS, FormatTakenError, is_id_card_cn
from apps.firewall.tools.parameters import Prepared, check_params, needs_folders, prepare_params
from apps.firewall.tools.transform import TRANSFORMERS

RIGHT = {
    "date-time": ["2026-01-31T09:30:00Z", "2026-01-31t09:30:00.5+08:00"],
    "date": ["2026-02-28", "2024-02-29"],
    "time": ["09:30:00", "09:30:00Z", "23:59:60.5+08:00"],
    "email": ["name@example.com", "First.Last+tag@Example.COM"],
    "uri": ["https://example.com/a?b=1#c", "mailto:a@b.c"],
    "uri-reference": ["/a/b?c", "../x", "https://example.com"],
    "ipv4": ["192.0.2.1"],
    "ipv6": ["2001:db8::1", "::ffff:192.0.2.1"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000"],
    "regex": ["^[a-z]+$"],
    "phone-number": ["13812345678", "+8613812345678", "+1 (555) 010-9999", "010-62345678"],
    "id-card-cn": ["11010519491231002X", "11010519491231002x", "440524188001010014"],
}
WRONG = {
    "date-time": ["2026-01-31", "2026-01-31T09:30:00", "2026-02-30T00:00:00Z", "2026-01-31T25:00:00Z"],
    "date": ["31.01.2026", "2026-02-30", "2026-1-1"],
    "time": ["24:00:00", "9:30:00", "09:30", "noon"],
    "email": ["test@", "@example.com", "a b@example.com", "Name <name@example.com>"],
    "uri": ["example.com", "http://a b"],
    "uri-reference": ["a b", "\\x"],
    "ipv4": ["192.0.2", "192.0.2.256", "01.2.3.4"],
    "ipv6": ["2001:db8:::1", "192.0.2.1"],
    "uuid": ["123e4567", "zzze4567-e89b-12d3-a456-426614174000"],
    "regex": ["(", "[a"],
    "phone-number": [
        "12345",
        "call me",
        "+86138123456789012",
        "138-1234-567x",
        "１３８１２３４５６７８",
        "555) 0109999",
    ],
    "id-card-cn": ["110105194912310021", "11010519490231002X", "99010519491231002X", "11010519491231002", "x" * 18],
}


def tool(schema: dict[str, Any], **more: Any) -> Definition:
    return Definition(name="try", parameters={"type": "object", "properties": {"it": schema}}, **more)


def with_format(name: str, value: str, **more: Any) -> Prepared:
    return prepare_params(tool({"type": "string", "format": name}), {"it": value}, **more)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in RIGHT.items() for text in texts])
def test_a_text_of_the_format_passes(name: str, text: str) -> None:
    assert with_format(name, text).problems == []


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in WRONG.items() for text in texts])
def test_a_text_of_another_form_is_named_with_an_example(name: str, text: str) -> None:
    (problem,) = with_format(name, text).problems

    assert (problem["path"], problem["code"]) == ("it", "invalid_format")
    assert FORMATS.meaning(name) in problem["message"]


@given(st.integers(0, 17), st.integers(1, 9))
def test_a_single_wrong_digit_is_no_identity_number(at: int, plus: int) -> None:
    right = "440524188001010014"
    wrong = right[:at] + str((int(right[at]) + plus) % 10) + right[at + 1 :]

    assert not is_id_card_cn(wrong)


@given(st.text())
def test_no_text_breaks_a_format(text: str) -> None:
    for name, check in FORMATS.checks().items():
        assert check(text) in {True, False}, name


@pytest.fixture
def even() -> Iterator[str]:
    FORMATS.register("even-number", lambda text: text.isdecimal() and int(text) % 2 == 0, example="24")
    yield "even-number"
    FORMATS.unregister("even-number")


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"anyOf": [{"$ref": "#/$defs/phone"}]}, "no"),
        ({"not": {"not": {"format": "phone-number"}}}, "no"),
        ({"prefixItems": [{}, {"format": "phone-number"}]}, ["", "no"]),
        ({"dependentSchemas": {"a": {"properties": {"a": {"format": "phone-number"}}}}}, {"a": "no"}),
    ],
)
def test_a_format_counts_wherever_a_schema_names_it(schema: JsonObject, value: Any) -> None:
    whole = {"properties": {"value": schema}, "$defs": {"phone": {"format": "phone-number"}}}
    alone = {"properties": {"value": schema}}

    assert check_params(whole, {"value": value})
    assert "$ref" in str(schema) or check_params(alone, {"value": value})


def test_a_validator_of_ones_own_counts_at_once_and_stops_when_it_is_taken_away(even: str) -> None:
    definition = tool({"type": "string", "format": even})

    (problem,) = prepare_params(definition, {"it": "3"}).problems
    assert problem["message"] == '`it` must be an even-number such as `24`, got "3"'
    assert prepare_params(definition, {"it": "4"}).problems == []

    FORMATS.unregister(even)
    assert prepare_params(definition, {"it": "3"}).problems == []


@pytest.mark.parametrize("name", ["even-number", "date", "file-path"])
def test_a_format_that_exists_is_not_replaced(even: str, name: str) -> None:
    with pytest.raises(FormatTakenError):
        FORMATS.register(name, lambda _: True)


@pytest.mark.parametrize(
    ("name", "sent", "form"),
    [
        ("date-time", "2026-01-31t09:30:00z", "2026-01-31T09:30:00+00:00"),
        ("date-time", "2026-01-31T09:30:00.250+08:00", "2026-01-31T09:30:00.250000+08:00"),
        ("date-time", "2026-12-31T23:59:60Z", "2026-12-31T23:59:60Z"),
        ("date-time", "2026-01-31T09:30:00.123456789Z", "2026-01-31T09:30:00.123456789Z"),
        ("date", "2026-01-31", "2026-01-31"),
        ("uri", "HTTPS://Name@Example.COM:8443/Path%2fx?Q=%7e#F", "https://Name@example.com:8443/Path%2Fx?Q=%7E#F"),
        ("uri", "MAILTO:Name@Example.com", "mailto:Name@Example.com"),
        ("email", "First.Last@Example.COM", "First.Last@example.com"),
    ],
)
def test_a_tool_gets_each_value_in_one_form(name: str, sent: str, form: str) -> None:
    assert with_format(name, sent).params == {"it": form}


@given(st.sampled_from(["date-time", "date", "uri", "email"]), st.text() | st.datetimes().map(str))
def test_a_form_stays_as_it_is_when_it_is_made_again(name: str, text: str) -> None:
    once = with_format(name, text)
    if not once.problems:
        assert TRANSFORMERS[name](once.params["it"]) == once.params["it"]


def test_a_form_that_the_schema_does_not_accept_is_not_made() -> None:
    answer = prepare_params(tool({"type": "string", "format": "email", "enum": ["A@B.example"]}), {"it": "A@B.example"})

    assert answer == ({"it": "A@B.example"}, [], [])


def test_values_are_brought_into_form_at_every_level_and_in_the_form_of_a_union_that_holds() -> None:
    link = {"anyOf": [{"type": "integer"}, {"type": "string", "format": "uri"}]}

    answer = prepare_params(tool({"type": "array", "items": {"properties": {"a/b~": link}}}), {"it": [{"a/b~": "X:y"}]})

    assert answer.params == {"it": [{"a/b~": "x:y"}]}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a file, a folder, and links that lead inside and outside; beside it what must not be reached."""
    here = tmp_path / "desk"
    (here / "in").mkdir(parents=True)
    (here / "a.txt").write_text("a")
    (tmp_path / "desk-2").mkdir()
    (tmp_path / "desk-2" / "s.txt").write_text("s")
    (tmp_path / "secret.txt").write_text("s")
    (here / "to-a").symlink_to("a.txt")
    (here / "to-secret").symlink_to("../secret.txt")
    (here / "to-outside").symlink_to("..")
    (here / "in" / "chain").symlink_to("../to-outside")
    (here / "loop").symlink_to("loop")
    os.link(tmp_path / "secret.txt", here / "twin.txt")
    os.mkfifo(here / "pipe")
    return here


def path_answer(desk: Path, name: str, path: str) -> Prepared:
    return with_format(name, path, folders=(str(desk),))


@pytest.mark.parametrize(
    ("name", "path", "real"),
    [
        ("file-path", "a.txt", "a.txt"),
        ("file-path", "./in/../a.txt", "a.txt"),
        ("file-path", "to-a", "a.txt"),
        ("directory-path", "in/", "in"),
        ("directory-path", ".", "."),
    ],
)
def test_a_path_inside_reaches_the_tool_as_what_it_really_is(desk: Path, name: str, path: str, real: str) -> None:
    assert path_answer(desk, name, path) == ({"it": os.path.realpath(desk / real)}, [], [])
    assert path_answer(desk, name, str(desk / path)).params == {"it": os.path.realpath(desk / real)}


OUTSIDE = [
    "../secret.txt",
    "to-secret",
    "to-outside/secret.txt",
    "in/chain/secret.txt",
    "/etc/passwd",
    "../desk-2/s.txt",
]
NOTHING = ["", "gone.txt", "in", "pipe", "loop", "twin.txt", "a.txt/b", "a\0.txt", "~/a.txt", "x" * 5000]


@pytest.mark.parametrize("path", [*OUTSIDE, *NOTHING])
def test_a_file_that_is_outside_or_none_is_refused(desk: Path, path: str) -> None:
    (problem,) = path_answer(desk, "file-path", path).problems

    assert (problem["path"], problem["code"]) == ("it", "invalid_format")


@pytest.mark.parametrize("path", ["..", "to-outside", "in/chain", "/", "../desk-2", "a.txt", "gone"])
def test_a_folder_that_is_outside_or_none_is_refused(desk: Path, path: str) -> None:
    assert [each["code"] for each in path_answer(desk, "directory-path", path).problems] == ["invalid_format"]


def test_the_answer_does_not_tell_what_exists_outside(desk: Path) -> None:
    there, not_there = (path_answer(desk, "file-path", path).problems[0] for path in ("../secret.txt", "../nothing"))

    assert there["message"].replace("secret.txt", "nothing") == not_there["message"]


def test_without_folders_no_path_is_accepted(desk: Path) -> None:
    assert with_format("file-path", str(desk / "a.txt")).problems != []


def test_a_schema_by_itself_knows_no_folders_and_takes_any_path() -> None:
    assert check_params({"properties": {"it": {"format": "file-path"}}}, {"it": "anything"}) == []


def test_a_tool_says_whether_its_params_may_be_paths() -> None:
    assert needs_folders(tool({"type": "array", "items": {"format": "directory-path"}}))
    assert not needs_folders(tool({"type": "string", "format": "uri"}))
