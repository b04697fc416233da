"""What callers get of a result, and what the record keeps of it."""

import base64
import json
from typing import Any

import pytest

from apps.firewall.runtime.results import ResultRules, Settled, settle
from apps.firewall.tools.running import ToolOutcome, failed

KEY = b"k" * 32
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(200)) * 40).decode()


def settled(result: Any, *, limit: int = 10_000, kept_bytes: int = 262_144, **more: Any) -> Settled:
    rules = ResultRules(key=KEY, kept_bytes=kept_bytes)
    return settle(ToolOutcome(result=result), rules, limit=limit, **more)


def text_of(outcome: ToolOutcome) -> str:
    assert outcome.result is not None
    return str(outcome.result["content"][0]["text"])


def said(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def test_a_small_result_is_sent_and_kept_as_it_is() -> None:
    done = settled({"ok": True, "lines": ["a", "b"]})

    assert done.sent.result == done.kept == {"ok": True, "lines": ["a", "b"]}
    assert done.facts == {
        "characters": 13, "shown": 13, "limit": 10_000, "truncated": False, "size_bytes": 29, "masked": 0,
    }  # fmt: skip


def test_secrets_and_sensitive_fields_reach_nobody() -> None:
    done = settled({"api_key": "hush hush", "note": f"use {SECRET}", "pins": {"code": 4711}}, sensitive=("pins.code",))

    for shown in (done.sent.result, done.kept):
        assert SECRET not in json.dumps(shown) and "hush" not in json.dumps(shown) and "4711" not in json.dumps(shown)
    assert done.facts["masked"] == len(done.notes) == 3
    assert {note.path for note in done.notes} == {"result.api_key", "result.note", "result.pins.code"}


def test_callers_get_less_than_the_record_keeps_and_both_say_so() -> None:
    done = settled(said("word " * 200_000))

    assert len(text_of(done.sent)) <= 10_000 and "of 1,000,019 characters are shown]" in text_of(done.sent)
    assert done.kept is not None
    assert 250_000 < len(json.dumps(done.kept)) < 264_000 and "bytes are shown]" in json.dumps(done.kept)
    assert done.facts["truncated"] and len(done.facts["digest"]) == 64


@pytest.mark.parametrize("place", range(199_880, 200_010, 7))
def test_a_secret_across_the_end_is_seen_whole(place: int) -> None:
    text = "x " * (place // 2) + SECRET + " y" * 500_000

    done = settled(said(text), limit=200_000, kept_bytes=200_000)

    everything = json.dumps([done.sent.result, done.kept])
    assert SECRET[:10] not in everything and SECRET[-10:] not in everything


def test_what_the_overlap_cuts_in_two_is_not_shown_where_masks_make_room() -> None:
    text = " ".join([f"token={'s' * 300}"] * 2000)

    done = settled(said(text), limit=1_000, kept_bytes=20_000)

    assert "ssss" not in json.dumps([done.sent.result, done.kept])


def test_one_long_secret_is_one_mask_and_a_statement() -> None:
    done = settled(said("-----BEGIN PRIVATE KEY-----\n" + "QUJD" * 300_000))

    assert "QUJD" not in json.dumps([done.sent.result, done.kept])
    assert "[masked " in text_of(done.sent) and "[cut: " in json.dumps(done.sent.result)


def test_the_digest_tells_results_apart_and_needs_the_key() -> None:
    one, same, other = (settled(said("word " * 100_000 + end)) for end in ("a", "a", "b"))
    elsewhere = settle(ToolOutcome(result=said("word " * 100_000 + "a")), ResultRules(key=b"z" * 32), limit=10_000)

    assert one.facts["digest"] == same.facts["digest"]
    assert len({each.facts["digest"] for each in (one, other, elsewhere)}) == 3


def test_what_programs_read_beside_the_text_has_room_of_its_own() -> None:
    done = settled({**said("a" * 9_000), "details": {"rows": ["b" * 30] * 300}})

    assert done.sent.result is not None and not done.facts["truncated"]
    assert done.sent.result["details"]["rows"][-1] == "b" * 30


def test_an_image_is_sent_whole_and_the_record_keeps_its_size() -> None:
    done = settled(
        {"content": [{"type": "image", "mimeType": "image/png", "data": PNG}, said("a chart")["content"][0]]}
    )

    assert done.sent.result is not None and done.sent.result["content"][0]["data"] == PNG
    assert done.kept is not None
    assert done.kept["content"][0] == {"type": "image", "mimeType": "image/png", "data": "[8008 bytes, not kept]"}
    assert done.facts["media"] == 1 and "digest" in done.facts


def test_what_only_calls_itself_an_image_is_masked_as_text() -> None:
    disguised = base64.b64encode(SECRET.encode() * 3).decode()
    done = settled({"content": [{"type": "image", "mimeType": "image/png", "data": disguised}]})

    assert disguised not in json.dumps([done.sent.result, done.kept])


def test_a_file_of_text_is_masked_and_one_of_bytes_is_not() -> None:
    files = {".env": b"A=" + SECRET.encode(), "a.bin": b"\xff\x00\xfe" * 50}
    content = [
        {"type": "file", "name": name, "mimeType": "application/zip", "data": base64.b64encode(body).decode()}
        for name, body in files.items()
    ]

    done = settled({"content": content})

    assert done.sent.result is not None and done.kept is not None
    text, binary = (base64.b64decode(block["data"]) for block in done.sent.result["content"])
    assert SECRET.encode() not in text and b"[masked " in text
    assert binary == files["a.bin"]
    sizes = [block["data"] for block in done.kept["content"]]
    assert sizes == [f"[{len(text)} bytes, not kept]", "[150 bytes, not kept]"]


def test_an_image_behind_the_end_goes_with_it() -> None:
    blocks = [*said("a" * 20_000)["content"], {"type": "image", "mimeType": "image/png", "data": PNG}]

    assert PNG not in json.dumps(settled({"content": blocks}).sent.result)


def test_errors_are_masked_and_bounded() -> None:
    done = settle(failed("no_luck", f"the key is {SECRET} " + "x" * 5_000), ResultRules(key=KEY), limit=10_000)

    assert done.sent.error is not None and done.kept is None
    assert SECRET not in done.sent.error["message"] and len(done.sent.error["message"]) == 2_000


def test_a_tool_without_a_limit_has_the_installations_and_none_has_more_than_the_largest() -> None:
    rules = ResultRules(limit=500)
    assert [rules.limit_for(stated) for stated in (None, 20, 10**9)] == [500, 20, 1_000_000]
