"""docs/policy-tests.md works: its commands run in their order, its file is read, its words are those of the code."""

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.policies.files import DOCUMENT, FILES
from apps.policies.models import PolicyTest
from apps.policies.selectors import live_publication
from apps.policies.services import demo_import, publish

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "policy-tests.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.django_db


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def test_every_command_runs_in_its_order_and_the_file_is_read(
    environment: Any, admin: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    demo_import(environment, by=admin)
    publish(environment, by=admin, message="demo", expected_live="")
    (cases,) = blocks("json")
    for number, block in enumerate(blocks("sh")):
        if number == 1:  # "edit the files"
            (tmp_path / "policy" / "policy-tests.json").write_text(cases)
            document = json.loads((tmp_path / "policy" / DOCUMENT).read_text())
            document["tools"]["deny"] = [*document["tools"].get("deny", []), "x_search"]
            (tmp_path / "policy" / DOCUMENT).write_text(json.dumps(document))
        for line in block.splitlines():
            words = shlex.split(line)
            assert words[:3] == ["python", "manage.py", "policy"]
            call_command(*words[2:], stdout=io.StringIO(), stderr=io.StringIO())
    assert [(test.name, test.is_enabled) for test in PolicyTest.objects.all()] == [
        ("ops is asked before a restart", False),
        ("support never runs commands", True),
    ]
    assert "<testsuite" in (tmp_path / "report.xml").read_text()
    live = live_publication(environment)
    assert live is not None and live.number == 2


def test_the_table_names_the_files() -> None:
    assert tuple(re.findall(r"^\| `([a-z.-]+)` \|", PAGE, flags=re.MULTILINE)) == FILES
