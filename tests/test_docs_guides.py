"""The guides say what works: their commands run, their programs run, and each error code stands in its page."""

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command, get_commands, load_command_class
from django.urls import resolve

from apps.api.errors import STATUS_OF_CODE
from apps.gateway.runtime_api.app import ROUTES
from tests.gateway.conftest import holder, server  # noqa: F401 - fixtures

ROOT = Path(__file__).resolve().parent.parent
GUIDES = [ROOT / "docs" / f"{name}-guide.md" for name in ("admin", "operator", "auditor", "integrator")]
TROUBLE = ROOT / "docs" / "troubleshooting.md"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
ASKED = re.compile(r"\A([A-Z]+) (/\S+)\n")
MANAGE = re.compile(r"manage\.py (.+?)(?:\s+#.*)?$", re.MULTILINE)
ROW = re.compile(r"^\| `([a-z_]+)` \| [^|]+ \| [^|]+ \|$", re.MULTILINE)
LANGUAGES = {"bash", "json", "python"}


def blocks(language: str, *pages: Path) -> Iterator[str]:
    for page in pages:
        yield from (code for word, code in BLOCK.findall(page.read_text()) if word == language)


def codes() -> Iterator[str]:
    """Give each `code` that a class of ours has."""
    for path in (ROOT / "apps").rglob("*.py"):
        for each in ast.walk(ast.parse(path.read_text())):
            if isinstance(each, ast.ClassDef):
                yield from _code_of(each)


def _code_of(found: ast.ClassDef) -> Iterator[str]:
    for line in found.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        value = getattr(line, "value", None)
        if isinstance(target, ast.Name) and target.id == "code" and isinstance(value, ast.Constant) and value.value:
            yield str(value.value)


def test_each_error_code_has_its_line_and_no_line_is_left_over() -> None:
    listed = ROW.findall(TROUBLE.read_text())
    assert len(listed) == len(set(listed))
    assert {*codes(), *STATUS_OF_CODE} - set(listed) == set(), "say in docs/troubleshooting.md what to do"
    doors = {"invalid_request", "not_authenticated", "throttled", "parse_error", "method_not_allowed"}
    assert set(listed) - {*codes(), *STATUS_OF_CODE} == doors | {"database_unavailable"}


def test_every_block_is_of_a_language_that_is_tried() -> None:
    assert {word for page in [*GUIDES, TROUBLE] for word, _ in BLOCK.findall(page.read_text())} <= LANGUAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_json_is_json_and_goes_to_a_path_that_exists(page: Path) -> None:
    for block in blocks("json", page):
        asked = ASKED.match(block)
        assert json.loads(block[asked.end() :] if asked else block)
        assert asked is None or _answers(asked[1], asked[2]), block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_other_settings_are_written_as_their_programs_read_them(page: Path) -> None:
    for block in blocks("toml", page):
        assert tomllib.loads(block)
    for block in blocks("yaml", page):
        assert yaml.safe_load(block)
    for block in blocks("python", page):
        assert ast.parse(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_commands_take_what_is_written_there(page: Path) -> None:
    for block in [*blocks("sh", page), *blocks("bash", page)]:
        for line in MANAGE.findall(block):
            name, *words = shlex.split(line)
            command = load_command_class(get_commands()[name], name)
            assert command.create_parser("manage.py", name).parse_args(words), line


def _answers(method: str, path: str) -> bool:
    """Say whether a door of programs or agents has such a path and method."""
    if any(route.pattern.fullmatch(path) and method in route.methods for route in ROUTES):
        return True
    view: Any = resolve(path).func
    return method in getattr(view.view_class, "permissions", {})


def test_the_commands_run(environment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = [line for block in blocks("bash", *GUIDES) for line in block.splitlines()]
    assert lines
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "manage.py", line
        call_command(*words)


@pytest.mark.django_db(transaction=True)
def test_the_first_program_makes_a_call(
    server: Any,  # noqa: F811 - a fixture
    token: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ask, _ = blocks("python", *GUIDES)
    _run(ask, server.url, token("decisions_ask", "calls_make")[1], monkeypatch)
    verdict, stage, reason, *answer = capsys.readouterr().out.split()
    assert (verdict, reason, answer) == ("allow", "allowed", ["200", "completed"]), stage


@pytest.mark.django_db(transaction=True)
def test_the_second_program_reads_the_draft(
    live_server: Any,
    environment: Any,
    token: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, read = blocks("python", *GUIDES)
    _run(read, live_server.url, token("policy_read")[1], monkeypatch)
    assert re.fullmatch(r"\[\]\n\d+ findings\n", capsys.readouterr().out)


def _run(program: str, url: str, secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCLAW_ADMIN_URL", url)
    monkeypatch.setenv("OPENCLAW_ADMIN_TOKEN", secret)
    exec(compile(program, "integrator-guide.md", "exec"), {"__name__": "guide"})  # the guide's own words
