"""`manage.py tool_search`: labelled queries out and in, and what search is worth on them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.runs.models import SearchLabel
from tests.runs.making import published_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(environment: Any, admin: Any) -> Any:
    return published_in(environment, admin)


def told(*arguments: str) -> str:
    out = io.StringIO()
    call_command("tool_search", *arguments, stdout=out)
    return out.getvalue()


def test_lines_go_out_and_come_back(published: Any, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"query": "show a file", "tools": ["read"]}\n{"query": "运行命令", "tools": ["exec"]}\n')

    assert told("labels", "import", str(file)) == "2 labelled queries added or extended\n"
    assert told("labels", "export") == file.read_text()
    assert told("labels", "export", str(tmp_path / "again")) == ""
    assert (tmp_path / "again").read_text() == file.read_text()


def test_a_mistake_is_told_with_its_line(published: Any, tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text('{"query": "show a file", "tools": ["raed"]}\n')

    with pytest.raises(CommandError, match=r"line 1\.tools: .*`raed`"):
        told("labels", "import", str(file))
    assert not SearchLabel.objects.exists()


def test_a_file_that_is_none_is_told(published: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be used"):
        told("labels", "import", str(tmp_path / "nothing"))
    with pytest.raises(CommandError, match="no environment"):
        told("evaluate", "--environment", "nowhere")


def test_evaluate_prints_the_shipped_set_and_the_environments_own(published: Any, tmp_path: Path) -> None:
    (shipped, own) = told("evaluate").splitlines()
    assert shipped.startswith("shipped: ")
    assert float(shipped.partition("recall@5 ")[2].split()[0]) >= 0.9
    assert own == "production: no labelled queries to ask (0 name no live tool)"

    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps({"query": "read", "tools": ["read"]}))
    told("labels", "import", str(file))
    own = told("evaluate", "--environment", "production").splitlines()[1]
    assert "1 queries" in own and "recall@1 1.000" in own and "MRR 1.000" in own
