"""Import, then export: nothing is lost, and a second round changes nothing."""

import json
from pathlib import Path
from typing import Any

import json5
import pytest

from apps.policies.selectors import document_export
from apps.policies.services import document_import

SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"

pytestmark = pytest.mark.django_db


def test_the_full_sample_comes_back_as_it_was(environment: Any) -> None:
    text = SAMPLE.read_text()
    document_import(environment, text, by=None)
    assert json.dumps(document_export(environment, secrets="open")) == json.dumps(json5.loads(text))


def test_a_second_round_changes_nothing(environment: Any) -> None:
    document_import(environment, SAMPLE.read_text(), by=None)
    first = document_export(environment, secrets="open")
    report = document_import(environment, json.dumps(first), by=None)
    assert report.counts["created"] == report.counts["changed"] == report.counts["deleted"] == 0
    assert document_export(environment, secrets="open") == first
