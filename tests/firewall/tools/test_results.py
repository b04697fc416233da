"""What authors answer with, and how anything they return becomes a result."""

import base64
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from apps.firewall.tools.authoring.answers import ANSWER_LIMIT_BYTES, answer_text
from apps.firewall.tools.model_calls import ModelCall, answer_of
from apps.firewall.tools.results import IMAGE_LIMIT_BYTES, FileUnusableError, ImageUnusableError
from openclaw_admin.tools import (
    ToolError,
    file_result,
    file_result_from_file,
    image_result,
    image_result_from_file,
    json_result,
    string_enum,
    text_result,
)

PNG = b"\x89PNG\r\n\x1a\n and the rest"


class Unit(Enum):
    METRIC = "metric"


class Weather(BaseModel):
    day: date
    unit: Unit


@dataclass
class Point:
    x: int


def test_json_is_read_by_the_model_as_text_and_by_programs_as_details() -> None:
    result = json_result({"城市": "西安", "at": datetime(2026, 9, 1, tzinfo=UTC)})

    (part,) = result["content"]
    assert part["type"] == "text"
    assert "西安" in part["text"]
    assert json.loads(part["text"])["at"].startswith("2026-09-01")
    assert json.loads(answer_text(result))["details"] == {"城市": "西安", "at": "2026-09-01T00:00:00+00:00"}


def test_an_image_comes_with_words_beside_it() -> None:
    result = image_result(
        label="chart", base64="aGk=", mime_type="image/png", path="/tmp/chart.png", details={"dpi": 96}
    )

    assert result == {
        "content": [
            {"type": "text", "text": "/tmp/chart.png"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        ],
        "details": {"label": "chart", "path": "/tmp/chart.png", "dpi": 96},
    }
    assert text_result("done", details=3) == {"content": [{"type": "text", "text": "done"}], "details": 3}


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8", "image/webp"),
    ],
)
def test_the_kind_of_an_image_is_read_from_its_content(tmp_path: Path, content: bytes, mime_type: str) -> None:
    (tmp_path / "named.txt").write_bytes(content)

    result = image_result_from_file(label="x", path=str(tmp_path / "named.txt"))

    image = result["content"][1]
    assert (image["mimeType"], base64.b64decode(image["data"])) == (mime_type, content)


def test_a_file_that_is_no_image_for_a_model_says_why(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("<svg/>")
    (tmp_path / "large.png").write_bytes(PNG + bytes(IMAGE_LIMIT_BYTES))

    for name, words in (("text.png", "is no PNG"), ("large.png", "more than"), ("none.png", "no such file")):
        with pytest.raises(ImageUnusableError, match=words):
            image_result_from_file(label="x", path=str(tmp_path / name))


def test_an_enum_of_texts_is_a_schema() -> None:
    schema = string_enum(["create", "delete"], description="What to do.")

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == {"type": "string", "enum": ["create", "delete"], "description": "What to do."}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {"content": []}),
        ("hi", {"content": [{"type": "text", "text": "hi"}]}),
        (3, {"content": [{"type": "text", "text": "3"}], "details": 3}),
        ([1, {"a": (2,)}], {"content": [{"type": "text", "text": '[1, {"a": [2]}]'}], "details": [1, {"a": [2]}]}),
        (Weather(day=date(2026, 9, 1), unit=Unit.METRIC), {"day": "2026-09-01", "unit": "metric"}),
        (Point(1), {"x": 1}),
        (
            {"a": Decimal("1.5"), "b": timedelta(seconds=2), "c": {Unit.METRIC}, "d": UUID(int=1), "e": Path("/x")},
            {"a": "1.5", "b": 2.0, "c": ["metric"], "d": str(UUID(int=1)), "e": "/x"},
        ),
    ],
)
def test_whatever_a_tool_returns_becomes_an_object(value: Any, expected: dict[str, Any]) -> None:
    assert json.loads(answer_text(value)) == expected


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (object(), "result_not_json"),
        ({"a": b"bytes"}, "result_not_json"),
        ({"a": float("nan")}, "result_not_json"),
        ({(1, 2): 3}, "result_not_json"),
        ("x" * ANSWER_LIMIT_BYTES, "result_too_large"),
    ],
    ids=["object", "bytes", "no number", "odd key", "large"],
)
def test_what_no_json_carries_is_an_error_of_the_tool(value: Any, code: str) -> None:
    with pytest.raises(ToolError) as refusal:
        answer_text(value)

    assert refusal.value.code == code


def test_a_value_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)

    with pytest.raises(ToolError, match="the result is no JSON"):
        answer_text({"a": endless})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_json_is_carried_as_it_is(value: Any) -> None:
    result = json.loads(answer_text(value))

    assert isinstance(result, dict)
    if isinstance(value, dict):
        assert result == value
    elif not isinstance(value, str) and value is not None:
        assert result["details"] == value


def test_a_file_is_answered_with_its_name_its_type_and_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_bytes(b"room,seats\n")

    result = file_result_from_file(path=str(tmp_path / "rooms.csv"), text="All rooms.", details={"rows": 1})

    words, file = result["content"]
    assert (words["text"], file["name"], file["mimeType"]) == ("All rooms.", "rooms.csv", "text/csv")
    assert base64.b64decode(file["data"]) == b"room,seats\n" and result["details"] == {"rows": 1}
    with pytest.raises(FileUnusableError, match="no such file"):
        file_result_from_file(path=str(tmp_path / "missing"))


def test_a_model_is_told_of_a_file_and_not_its_bytes() -> None:
    result = file_result(name="a.zip", base64="UEsDBA==", mime_type="application/zip")
    call = ModelCall(id="1", name="pack", arguments={})

    assert answer_of(call, result=result, error=None).text == "[the file a.zip, application/zip, 4 bytes]"
