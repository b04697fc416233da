"""Masking: nothing of a secret stays, everything else does, and it ends in time."""

import json
import re
import string
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from apps.firewall.redaction import MaskedText, MaskOptions, is_secret_name, mask_text, mask_value

KEY = b"a key for tests"
LETTERS = string.ascii_letters + string.digits
SECRETS = st.text(alphabet=LETTERS + "+/_-.!$%", min_size=8, max_size=60).map(lambda text: "Z9" + text)
BEARERS = st.text(alphabet=LETTERS, min_size=24, max_size=60)


def mask(text: str, **options: Any) -> MaskedText:
    return mask_text(text, key=KEY, **options)


def mask_json(value: Any, **options: Any) -> Any:
    return mask_value(value, key=KEY, **options).value


PLACES: list[Callable[[str], str]] = [
    lambda secret: f"API_KEY={secret}",
    lambda secret: f"export GITHUB_TOKEN='{secret}' && make",
    lambda secret: f'db_password = "{secret}"',
    lambda secret: f"db.pass: {secret}",
    lambda secret: f"client-secret={secret}",
    lambda secret: json.dumps({"auth": {"accessToken": secret}}),
    lambda secret: json.dumps(json.dumps({"refresh_token": secret})),
    lambda secret: json.dumps({"cmd": f'curl -H "X-Api-Key: {secret}" https://example.test'}),
    lambda secret: f"deploy --api-key {secret} --verbose",
    lambda secret: f"deploy --password={secret}",
    lambda secret: f"Authorization: Basic {secret}",
    lambda secret: f"proxy-authorization: Bot {secret}",
    lambda secret: f"curl -H 'Authorization: {secret}' https://example.test",
    lambda secret: f'authorization: Digest username="anna", response="{secret}"',
    lambda secret: f"Cookie: theme=dark; sid={secret}",
    lambda secret: f"https://example.test/callback?state=1&code={secret.replace('%', '')}".replace("%", ""),
    lambda secret: f"code={secret}&state=1",
    lambda secret: f"<password>{secret}</password>",
    lambda secret: f"secrets = {{'token': '{secret}'}}",
    lambda secret: f'headers["X-Auth-Token"] = "{secret}"',
    lambda secret: f"-----BEGIN EC PRIVATE KEY-----\n{secret}\n-----END EC PRIVATE KEY-----",
    lambda secret: f"-----BEGIN OPENSSH PRIVATE KEY-----\n{secret}\n",
]


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(secret=SECRETS, before=st.text(max_size=30), after=st.text(max_size=30))
def test_a_planted_secret_never_stays(place: Callable[[str], str], secret: str, before: str, after: str) -> None:
    assume(secret not in before + after)
    planted = place(secret)
    text = f"{before}\n{planted}\n{after}"
    shown = secret.replace("%", "") if "callback" in planted else secret
    masked = mask(text)
    assert shown not in masked.text
    assert masked.notes


@settings(max_examples=60, deadline=None)
@given(secret=BEARERS, before=st.text(max_size=20))
def test_a_bearer_token_never_stays(secret: str, before: str) -> None:
    assert secret not in mask(f"{before} Bearer {secret}").text


VENDOR_TOKENS = [
    "sk-proj-" + "a1B2" * 8,
    "gho_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "xoxp-1-2-" + "a1b2" * 5,
    "ya29." + "a1B2" * 9,
    "hf_" + "abCD" * 8,
    "rk_live_" + "a1B2" * 6,
    "SG." + "a1B2" * 5 + "." + "a1B2" * 8,
    "pypi-" + "AgEI" * 12,
    "dop_v1_" + "0af1" * 16,
    "dp.st.prd." + "a1B2" * 9,
    "dckr_pat_" + "a1B2" * 6,
    "dapi" + "0af1" * 8,
    "glsa_" + "a1B2" * 8,
    "nfp_" + "a1B2" * 8,
    "ATATT3x" + "a1B2" * 8,
    "HRKU-" + "a1B2" * 8,
    "pat-na1-" + "0af1" * 8,
    "FlyV1 fm2_" + "a1B2" * 8,
    "r8_" + "a1B2" * 9,
    "xai-" + "a1B2" * 12,
    "npm_" + "a1B2" * 9,
    "AKIA" + "ABCD2345" * 2,
    "1234567890:" + "AAh_x-Y7" * 4,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + "a1B2" * 8,
    "https://hooks.slack.com/services/T0/B0/" + "a1B2" * 6,
    "https://discord.com/api/webhooks/1/" + "a1B2" * 12,
    "oca_01jabcdefghjkmnpqrstvwxyza_" + "0af1" * 16,
]


@pytest.mark.parametrize("shown", VENDOR_TOKENS)
def test_a_token_that_its_look_gives_away_is_masked_anywhere(shown: str) -> None:
    secret = re.split(r"[/ ]", shown)[-1]
    assert secret not in mask(f"the server said ({shown}), why").text
    assert secret not in json.dumps(mask_json({"result": [{"text": f"see {shown}"}]}))


@pytest.mark.parametrize(
    "text",
    [
        "hello world",
        "my token is secret",
        "tokenize=abcdefgh",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
        "https://example.test:8443/npm/@scope/package",
        "ask-somebody-for-the-disk-management",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        "/usr/lib/python3.11/site-packages/django/contrib/auth/management/commands",
        "12:34:56 build finished in 1234567890 ns",
        '{"key": "color", "value": "red"}',
        '{"max_tokens": 500, "token": null}',
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert mask(text) == MaskedText(text, ())


def test_a_mask_tells_length_and_hash_and_nothing_else() -> None:
    masked = mask("PASSWORD=hunter2")
    assert re.fullmatch(r"PASSWORD=\[masked 7 characters, [0-9a-f]{8}\]", masked.text)
    (note,) = masked.notes
    assert (note.rule, note.length) == ("named_value", 7)
    assert note.hash in masked.text


def test_the_hash_needs_the_key() -> None:
    one = mask_text("PASSWORD=hunter2", key=b"one").notes[0].hash
    other = mask_text("PASSWORD=hunter2", key=b"other").notes[0].hash
    assert one != other


def test_equal_secrets_have_equal_hashes_wherever_they_stand() -> None:
    notes = mask("--token abcdefgh1234 TOKEN=abcdefgh1234").notes
    assert len({note.hash for note in notes}) == 1


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=string.printable, max_size=200))
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask("KEY=abcdefgh " + text).text
    assert mask(once).text == once


def test_a_secret_behind_a_mask_is_still_masked() -> None:
    once = mask("TOKEN=abcdefgh").text
    assert "realsecret" not in mask(once + "realsecret").text


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text_can_be_masked(text: str) -> None:
    masked = mask(text)
    if not masked.notes:
        assert masked.text == text


def test_letters_that_grow_in_lower_case_do_not_move_the_mask() -> None:
    assert "hunter2hunter2" not in mask("İİİİ PASSWORD=hunter2hunter2 İ").text


# --- values ---


@pytest.mark.parametrize(
    "name",
    ["apiKey", "API-KEY", "db_password", "DB_PASS", "x-auth-token", "clientSecret", "cvv", "cardNumber", "Set-Cookie"],
)
def test_a_field_with_a_secrets_name_is_masked(name: str) -> None:
    assert is_secret_name(name)
    assert mask_json({name: "correct horse"})[name].startswith("[masked 13 characters, ")


@pytest.mark.parametrize(
    "name", ["key", "path", "sessionKey", "primary_key", "max_tokens", "compass", "content", "author"]
)
def test_a_field_with_another_name_is_not(name: str) -> None:
    assert not is_secret_name(name)
    assert mask_json({name: "correct horse"}) == {name: "correct horse"}


def test_everything_below_a_secret_field_is_masked() -> None:
    masked = mask_json({"credentials": {"user": "anna", "pins": [1234, True, None]}})
    assert masked["credentials"]["user"].startswith("[masked 4 ")
    assert masked["credentials"]["pins"][0].startswith("[masked 4 ")
    assert masked["credentials"]["pins"][1:] == [True, None]


def test_a_tools_own_sensitive_fields_are_masked_by_name_or_path() -> None:
    value = {"Recipient": "anna", "auth": {"who": "bert"}, "who": "carl"}
    masked = mask_json(value, sensitive_fields=["recipient", "auth.who"])
    assert masked["Recipient"].startswith("[masked 4 ")
    assert masked["auth"]["who"].startswith("[masked 4 ")
    assert masked["who"] == "carl"


def test_an_argument_list_hides_the_value_behind_its_option() -> None:
    masked = mask_json({"argv": ["deploy", "--api-key", "abc", "--verbose"]})
    assert masked["argv"][2].startswith("[masked 3 ")
    assert masked["argv"][3] == "--verbose"


def test_a_pair_of_name_and_value_is_understood() -> None:
    masked = mask_json({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "HOME", "value": "/root"}]})
    assert masked["env"][0]["value"].startswith("[masked 7 ")
    assert masked["env"][1]["value"] == "/root"


def test_a_secret_as_the_name_of_a_field_is_masked() -> None:
    secret = "ghp_" + "a1B2" * 9
    assert secret not in json.dumps(mask_json({secret: 1}))


def test_a_card_number_is_masked_as_text_and_as_number() -> None:
    masked = mask_json({"note": "pay with 4111 1111 1111 1111", "number": 4111111111111111, "ns": 1732100000000000001})
    assert "1111" not in masked["note"]
    assert masked["number"].startswith("[masked 16 ")
    assert masked["ns"] == 1732100000000000001


def test_notes_say_where() -> None:
    noted = mask_value({"a": [{"token": "abcdefgh"}]}, key=KEY, path="params")
    assert [(note.path, note.rule) for note in noted.notes] == [("params.a[0].token", "field")]


def test_the_value_that_was_given_is_not_changed() -> None:
    value = {"token": "abcdefgh", "list": ["TOKEN=abcdefgh"]}
    mask_json(value)
    assert value == {"token": "abcdefgh", "list": ["TOKEN=abcdefgh"]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(value=JSON, secret=SECRETS, path=st.lists(st.sampled_from(["a", 0]), max_size=5))
def test_a_secret_planted_in_any_value_never_stays(value: Any, secret: str, path: list[Any]) -> None:
    planted: Any = {"password": secret, "beside": value}
    for step in path:
        planted = [planted, value] if step == 0 else {"a": planted, "b": value}
    masked = mask_json(planted)
    assert json.dumps(secret)[1:-1] not in json.dumps(masked)


def test_a_value_nested_without_end_is_masked_below_the_limit() -> None:
    value: Any = "innermost"
    for _ in range(5000):
        value = [value]
    assert "innermost" not in json.dumps(mask_json(value))


# --- bounds ---


def test_what_is_beyond_the_limit_is_masked_whole() -> None:
    masked = mask_text("a b " * 100, key=KEY, limit_characters=40)
    assert masked.text.startswith("a b " * 10 + "[masked 360 characters, ")
    assert masked.notes[0].rule == "too_long"


HOSTILE = {
    "one letter": "a" * 1_000_000,
    "names": "key=" * 250_000,
    "names and space": "key" + " " * 1_000_000,
    "half tokens": "eyJaaaa-" * 125_000,
    "half addresses": "://a:" * 200_000,
    "half elements": "key>" * 250_000,
    "half keys": "-----BEGIN PRIVATE KEY-----" * 40_000,
    "half headers": "authorization:" * 70_000,
    "half forms": "'a=b" * 250_000,
    "escapes": "token=" + "\\" * 1_000_000,
    "quotes": '"a=' * 330_000,
    "options": "-a" * 500_000,
    "digits": "1:" * 500_000,
    "commands": "curl -u " * 60_000,
    "attached": "mysql -px " * 50_000,
    "open quotes": "curl '" * 70_000,
    "piped": "echo a | " * 60_000,
    "names of another language": "passwort" * 60_000,
    "words of a wallet": "zoo," * 120_000,
    "lines of a password file": "a:5432:" * 70_000,
    "names at the end of values": "token=a:" * 125_000,
    "quotes within words": "token=" + "it's" * 250_000,
    "names of cards": "card_number" * 90_000,
    "halves of makers' tokens": "am_sk_" * 160_000,
}


@pytest.mark.unhurried
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.slow
def test_hostile_text_takes_no_longer_than_its_length(name: str) -> None:
    text = HOSTILE[name]
    quarter = min(_seconds(text[: len(text) // 4]) for _ in range(2))
    assert _seconds(text) < max(12 * quarter, 5.0)  # a square would take minutes


def _seconds(text: str, **options: Any) -> float:
    began = time.thread_time()
    mask(text, **options)
    return time.thread_time() - began


# --- options ---


def test_mode_off_masks_nothing() -> None:
    off = MaskOptions(mode="off")
    assert mask("TOKEN=abcdefgh", options=off) == MaskedText("TOKEN=abcdefgh", ())
    assert mask_json({"token": "abcdefgh"}, options=off) == {"token": "abcdefgh"}


def test_an_unknown_mode_masks() -> None:
    assert "abcdefgh" not in mask("TOKEN=abcdefgh", options=MaskOptions(mode="sometimes")).text


OWN_HOSTILE = {"pairs": "&a=b" * 250_000, "first pairs": " a=b" * 250_000, "headers": "authorization: a " * 60_000}


@pytest.mark.unhurried
@pytest.mark.parametrize("name", OWN_HOSTILE)
def test_what_holds_beside_own_patterns_takes_no_longer_than_the_text(name: str) -> None:
    own = MaskOptions(patterns=(r"order-\d+",))
    text = OWN_HOSTILE[name]
    quarter = min(_seconds(text[: len(text) // 4], options=own) for _ in range(2))
    assert _seconds(text, options=own) < max(12 * quarter, 5.0)


def test_own_patterns_replace_the_rules() -> None:
    own = MaskOptions(patterns=(r"/customer=(\d+)/i",))
    masked = mask("TOKEN=abcdefgh Customer=12345", options=own)
    assert masked.text.startswith("TOKEN=abcdefgh Customer=[masked 5 characters, ")
    assert masked.notes[0].rule == "pattern_0"


def test_a_pattern_without_flags_ignores_case_and_one_with_flags_says_it() -> None:
    assert "12345" not in mask("Customer=12345", options=MaskOptions(patterns=(r"customer=(\d+)",))).text
    assert "12345" in mask("Customer=12345", options=MaskOptions(patterns=(r"/customer=(\d+)/",))).text


@pytest.mark.parametrize(
    ("form", "secret"),
    [
        ("https://example.test/?page=2&api-key={}&b=1", "hunter2hunter2"),
        ("user=anna&password={}", "hunter2hunter2"),
        ("?security_code={}", "hunter2hunter2"),
        ("the aws key is {} today", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ('Authorization: Digest username="anna", response="{}"', "hunter2hunter2"),
    ],
)
def test_own_patterns_leave_addresses_signatures_and_aws_keys_masked(form: str, secret: str) -> None:
    own = MaskOptions(patterns=(r"order-\d+",))
    assert secret not in mask(form.format(secret), options=own).text
    assert mask("https://example.test/?page=2&sort=key", options=own).notes == ()


def test_patterns_that_cannot_be_used_are_skipped() -> None:
    own = MaskOptions(patterns=("", "(a+)+$", "[", r"order-\d+"))
    assert mask("aaaa order-77", options=own).text.startswith("aaaa [masked 8 characters, ")


@pytest.mark.unhurried
@pytest.mark.slow
def test_a_pattern_that_runs_out_of_time_masks_the_rest() -> None:
    own = MaskOptions(patterns=(r"(.*)(.*)(.*)(.*)(.*)z",))
    began = time.monotonic()
    masked = mask("a" * 300_000, options=own)
    assert time.monotonic() - began < 60
    assert [note.rule for note in masked.notes] == ["out_of_time"]


FORMS = [
    ("user[password]={}&user[name]=anna", "hunter2hunter2"),
    ("password%5D%3D{}", "hunter2hunter2"),
    ('{{"cookie": "{}"}}', "sid=hunter2hunter2"),
    ("cookies = '{}'", "sid=hunter2hunter2"),
    ("//registry.example.test/:_auth={}", "hunter2hunter2=="),
    ("card[cvc]={}", "123"),
    ('{{"cardNumber":"{}"}}', "4000 0000 0000 0001"),
    ("the aws key is {} today", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("Ocp-Apim-Subscription-Key: {}", "0123456789abcdef"),
    ("postgres://anna:{}@db.example.test:5432/x", "p:ss/w0rd"),
    ("redis://:{}@cache.example.test", "p@ssw0rd"),
    ("amqp://anna:{}@mq/%2f?heartbeat=1", "p4ss"),
]


@pytest.mark.parametrize(("form", "secret"), FORMS)
def test_a_secret_is_masked_in_less_usual_forms(form: str, secret: str) -> None:
    text = form.format(secret)
    assert secret in text
    assert secret not in mask(text).text
