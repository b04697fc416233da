"""What a model is told of a call: its result or its error as text and images."""

import json
from typing import Any

import pytest

from apps.firewall.tools.model_calls import (
    NOTHING,
    ImagePart,
    TextPart,
    answer_of,
)
from tests.firewall.tools.provider_calls import PIXEL, call


@pytest.mark.parametrize(
    ("result", "error", "parts"),
    [
        ({"stdout": "hi\n"}, None, (TextPart('{"stdout": "hi\\n"}'),)),
        (None, None, (TextPart(NOTHING),)),
        ({}, None, (TextPart(NOTHING),)),
        ({"content": [{"type": "text", "text": "城市"}], "details": {"n": 1}}, None, (TextPart("城市"),)),
        ({"content": [{"type": "text", "text": " "}]}, None, (TextPart(NOTHING),)),
        ({"content": [], "structuredContent": {"n": 1}}, None, (TextPart('{"n": 1}'),)),
        ({"content": "plain"}, None, (TextPart('{"content": "plain"}'),)),
        (
            {"content": [{"type": "image", "mimeType": "image/png", "data": PIXEL}]},
            None,
            (ImagePart("image/png", PIXEL),),
        ),
        (
            {"content": [{"type": "image", "mimeType": "image/png", "data": "no base64!"}]},
            None,
            (TextPart("[an image that is not base64 is left out]"),),
        ),
        (
            {"content": [{"type": "image", "mimeType": "text/html", "data": PIXEL}]},
            None,
            (TextPart("[an image without its type or its data is left out]"),),
        ),
        (
            {"content": [{"type": "resource_link", "uri": "file:///a"}]},
            None,
            (TextPart('{"type": "resource_link", "uri": "file:///a"}'),),
        ),
        (
            None,
            {"code": "not_found", "message": "no file `a`", "details": []},
            (TextPart('{"error": "not_found", "message": "no file `a`"}'),),
        ),
        (
            {"stdout": ""},
            {"code": "exit_status", "message": "it ended with 1"},
            (TextPart('{"error": "exit_status", "message": "it ended with 1"}'), TextPart('{"stdout": ""}')),
        ),
    ],
)
def test_a_result_becomes_text_and_images(result: Any, error: Any, parts: tuple[Any, ...]) -> None:
    told = answer_of(call(), result=result, error=error)

    assert (told.parts, told.is_error) == (parts, error is not None)


def test_mistakes_in_params_are_told_in_the_form_that_models_know() -> None:
    details = [{"path": "city", "code": "required_field_missing", "message": "`city` is required"}]

    told = answer_of(
        call(), result=None, error={"code": "parameter_validation_failed", "message": "1 mistake", "details": details}
    )

    assert json.loads(told.text) == {
        "error": "parameter_validation_failed",
        "details": [{**details[0], "path": "/city"}],
    }


def test_an_error_that_a_tool_says_in_its_result_is_told_once() -> None:
    result = {"content": [{"type": "text", "text": "no such city"}, {"type": "text", "text": "try another"}]}

    told = answer_of(call(), result=result, error={"code": "tool_failed", "message": "no such city"})

    assert told.text == '{"error": "tool_failed", "message": "no such city"}\n\ntry another'


def test_a_result_that_says_it_is_an_error_is_one() -> None:
    result = {"content": [{"type": "text", "text": "no such city"}], "isError": True}

    assert answer_of(call(), result=result, error=None).is_error


def test_long_text_is_cut_and_says_so() -> None:
    blocks = [{"type": "text", "text": "汉" * 8}, {"type": "text", "text": "b" * 8}, {"type": "text", "text": "c"}]

    told = answer_of(call(), result={"content": blocks}, error=None, text_limit=10)

    assert [part.text for part in told.parts if isinstance(part, TextPart)] == [
        "汉" * 8,
        "bb\n\n[cut: the first 2 of 8 characters are shown] Ask for less at once, or for another part.",
        "[cut: the first 0 of 1 characters are shown] Ask for less at once, or for another part.",
    ]


def test_notes_follow_the_result() -> None:
    told = answer_of(call(), result={"content": [{"type": "text", "text": "ok"}]}, error=None, notes=["use `b`"])

    assert told.text == "ok\n\nNote: use `b`"
