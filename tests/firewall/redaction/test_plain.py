"""What is told quickly to hold no secret, the masker leaves as it is."""

from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.firewall.redaction import is_plain_json, is_plain_value, mask_value

TAIL = "a1B2c3D4e5F6g7H8"
PIECES = (
    *("sk-", "gsk_", "ghp_", "xoxb-", "SG.", "npm_", "AKIA", "eyJ", "1//", "r8_", "key-", "hf_", "dapi", "SK"),
    *(TAIL, TAIL * 3, "0123456789abcdef" * 2, "ABCDEFGHIJKLMNOP", ".", "_", "-", "/", "+", "=", ":", "Kx9zQ"),
    *("password", "to\u212aen", "token", "bearer ", "basic ", "cookie: ", "--pin", "-----BEGIN PRIVATE KEY-----"),
    *("4111 1111 1111 1111", "378282246310005", "card number: 5500", "pan=41111", "cvv:123", "account", "4111"),
    *("https://", "u:p", "@", "hooks.slack.com/services/T1", "?sig=", "&code=1234", "123456789:", "[masked "),
    *(" ", "\n", "\t", '"', "'", "\\", "\\n", "\x00", "\x1f", "é", "İ", "中文", "report", "/srv/report", "{", ","),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
NAMES = st.one_of(
    TEXTS,
    st.sampled_from(("text", "command", "name", "value", "key", "field", "content", "pin", "cvv", "apiKey", "id")),
)
LEAVES = st.one_of(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(), st.just(4111111111111111))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.tuples(inner), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)


@given(VALUES)
@example({"name": "pin", "value": "1234"})
@example(["--pin", "1234"])
@example({"text": "\\npm_" + TAIL})
@example({"text": "line\nnpm_" + TAIL})
@example({"text": 'to\u212aen="hunter2hunter2"'})
def test_what_is_called_plain_the_masker_leaves_as_it_is(value: Any) -> None:
    if is_plain_value(value) and is_plain_json(orjson.dumps(value)):
        masked = mask_value(value, key=b"k" * 32, path="params")
        assert (masked.value, masked.notes) == (value, ())


@pytest.mark.parametrize(
    "value",
    [
        {"command": "grep -rn timeout /srv/report --max-count 12", "limit": 50, "deep": [{"is_set": True, "no": None}]},
        {"content": [{"type": "text", "text": 'first line\n\t"second" line, 中文'}], "reference": "case1x2x31"},
        {"digest": "0f" * 32, "at": "2026-11-20T12:00:00.000000Z", "url": "https://example.org/some/longer/path.html"},
        {},
        "",
    ],
)
def test_values_of_most_calls_are_called_plain(value: Any) -> None:
    assert is_plain_value(value)
    assert is_plain_json(orjson.dumps(value))
