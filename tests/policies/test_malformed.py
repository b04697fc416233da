"""Bad files: each mistake is named with its path, all at once, and no record changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.policies.errors import DocumentInvalidError
from apps.policies.kinds import KINDS, event_model
from apps.policies.selectors import approvals_export, document_export
from apps.policies.services import document_check, document_import

FOLDER = Path(__file__).parent / "malformed"
EXPECTED: dict[str, list[dict[str, str]]] = json.loads((FOLDER / "expectations.json").read_text())
SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"

pytestmark = pytest.mark.django_db


def texts(name: str) -> tuple[bytes | None, bytes | None]:
    text = (FOLDER / f"{name}.json5").read_bytes()
    return (None, text) if name.startswith("approvals_") and name != "approvals_words" else (text, None)


def test_every_file_has_its_expectation() -> None:
    assert {path.stem for path in FOLDER.glob("*.json5")} == set(EXPECTED)
    assert len(EXPECTED) >= 30


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_each_mistake_is_named_and_nothing_changes(name: str, environment: Any) -> None:
    document_import(environment, SAMPLE.read_text(), approvals='{"version":1}', by=None)
    before = document_export(environment), approvals_export(environment)
    logged = {kind: event_model(model).objects.count() for kind, model in KINDS.items()}
    text, approvals = texts(name)
    with pytest.raises(DocumentInvalidError) as caught:
        document_import(environment, text, approvals=approvals, by=None)
    found = [{"path": detail["path"], "code": detail["code"]} for detail in caught.value.details]
    assert sorted(found, key=str) == sorted(EXPECTED[name], key=str)
    assert (document_export(environment), approvals_export(environment)) == before
    assert {kind: event_model(model).objects.count() for kind, model in KINDS.items()} == logged


def test_mistakes_of_both_documents_are_named_together(environment: Any) -> None:
    with pytest.raises(DocumentInvalidError) as caught:
        document_import(environment, '{"tools":{"deny":1}}', approvals='{"defaults":{"ask":"maybe"}}', by=None)
    assert [detail["path"] for detail in caught.value.details] == ["tools.deny", "approvals:defaults.ask"]


def test_a_check_says_the_same_without_importing(environment: Any) -> None:
    found = document_check(environment, '{"tools":{"deny":1}}')
    assert [(item.path, item.severity) for item in found] == [("tools.deny", "error")]


def test_a_misspelt_word_comes_with_a_suggestion(environment: Any) -> None:
    (mistake,) = document_check(environment, '{"tools":{"profile":"codding"}}')
    assert mistake.message.endswith("did you mean `coding`?")


def test_a_file_beyond_the_bounds_is_not_even_parsed(environment: Any) -> None:
    (mistake,) = document_check(environment, b" " * (32 * 1024 * 1024 + 1))
    assert mistake.code == "too_large"
    (mistake,) = document_check(environment, "// long\n" * 200_000 + "{}")
    assert mistake.code == "too_large_for_json5"
