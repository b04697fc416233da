"""Shapes of secrets, none of which stays, and texts without one, nothing of which is masked. The cases are data."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from apps.firewall.redaction import MaskOptions, is_plain_json, is_plain_value, mask_text, mask_value

KEY = b"a key for tests"
FOLDER = Path(__file__).parent
MARKED = re.compile("«(.*?)»")


def lines(name: str) -> list[str]:
    """Read the cases of a file; lines that begin with `#` are headings."""
    written = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line for line in written if line and not line.startswith("#")]


def value_of(line: str) -> Any:
    """Take a line as the JSON that it is, else as a text."""
    if line[0] in "[{":
        try:
            return json.loads(line)
        except ValueError:
            pass
    return line.replace("\\n", "\n")


def masked(value: Any) -> str:
    return json.dumps(mask_value(value, key=KEY).value, ensure_ascii=False)


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of(inner)


SECRETS = lines("secrets.txt")
INNOCENT = lines("innocent.txt")


def test_the_shapes_are_many() -> None:
    options = SECRETS[: SECRETS.index("echo «Kirschbaum7» | docker login -u anna --password-stdin")]
    assert len(SECRETS) >= 300
    assert len(INNOCENT) >= 280
    assert len({line.split()[0].rsplit("/", 1)[-1] for line in options if line[0] not in "[{"}) >= 60


@pytest.mark.parametrize("line", SECRETS)
def test_nothing_of_a_secret_stays(line: str) -> None:
    secrets = MARKED.findall(line)
    shown = masked(value_of(MARKED.sub(r"\1", line)))
    assert secrets
    assert [secret for secret in secrets if secret in shown] == []


@pytest.mark.parametrize("line", SECRETS)
def test_a_value_that_holds_a_secret_is_not_called_plain(line: str) -> None:
    value = {"value": value_of(MARKED.sub(r"\1", line))}
    if mask_value(value, key=KEY).notes:
        assert not (is_plain_value(value) and is_plain_json(orjson.dumps(value)))


@pytest.mark.parametrize("line", INNOCENT)
def test_a_text_without_a_secret_stays_as_it_is(line: str) -> None:
    value = value_of(line)
    assert mask_value(value, key=KEY).value == value
    for text in texts_of(value):
        assert mask_text(text, key=KEY).notes == ()


@pytest.mark.parametrize("line", SECRETS)
def test_masking_a_shape_twice_changes_nothing(line: str) -> None:
    once = mask_value(value_of(MARKED.sub(r"\1", line)), key=KEY).value
    assert mask_value(once, key=KEY).value == once


def test_rules_hold_where_no_pattern_of_an_installation_can_be_used() -> None:
    own = MaskOptions(patterns=("", "(a+)+$", "["))
    assert "Kirschbaum7" not in mask_text("DB_PASSWORD=Kirschbaum7", key=KEY, options=own).text
    assert mask_value({"password": "Kirschbaum7"}, key=KEY, options=own).value != {"password": "Kirschbaum7"}
