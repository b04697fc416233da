"""docs/writing-tools.md says what holds: its tables are the code's, its three tools reach the audit."""

import inspect
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from io import StringIO
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx
import pytest
from django.core.management import call_command

import openclaw_admin.testing
import openclaw_admin.tools
from apps.audit.models import Entry
from apps.firewall.tools.definition import OPEN_SCHEMA, Definition
from tests.gateway.server import Server
from tests.gateway.test_decisions import eventually
from tests.gateway.test_publications import published, publishing  # noqa: F401 - a fixture
from tests.ports import free_port

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "writing-tools.md").read_text(encoding="utf-8")
AUTHOR, PORT = "/srv/author", "8091"
BOT = '{"agents": {"entries": {"bot": {}}}}'
FIVE_MINUTES_S = 300
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return re.split(r"^##+ ", PAGE.split(f" {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def rows(title: str) -> list[list[str]]:
    table = re.findall(r"^\| (`.+?`.*) \|$", section(title), re.MULTILINE)
    return [re.split(r" ?\| ?", row) for row in table]


# ---- tables ---------------------------------------------------------------------------------------------------------


def members() -> Iterator[tuple[str, str]]:
    """Name the members of a definition and of its parts, each with its default as the page writes it."""
    hints = get_type_hints(Definition)
    for each in fields(Definition):
        yield each.name, shown(each)
        for kind in (hints[each.name], *get_args(hints[each.name])):
            if isinstance(kind, type) and is_dataclass(kind):
                yield from ((f"{each.name}.{inner.name}", shown(inner)) for inner in fields(kind))


def shown(each: "Field[Any]") -> str:
    if each.default is MISSING and each.default_factory is MISSING:
        return ""
    default = each.default if each.default_factory is MISSING else each.default_factory()
    if default is None:
        return "none"
    if default == OPEN_SCHEMA:
        return "an open object"
    return f"`{json.dumps(default)}`"


def test_the_table_of_members_is_that_of_a_definition() -> None:
    assert [(row[0].strip("`"), row[1]) for row in rows("Members of a definition")] == list(members())


def signature(owner: Any) -> str:
    """Write a signature without its types."""
    found = inspect.signature(owner)
    plain = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    text = str(found.replace(parameters=plain, return_annotation=found.empty))
    return text.replace("=<factory>", "").replace("(self, ", "(").replace("(self)", "()")


def test_the_tables_of_helpers_are_those_of_the_code() -> None:
    written = {row[0].strip("`") for row in rows("Helpers")}
    named = {text.partition("(")[0].partition(".")[0] for text in written}
    assert named == {*openclaw_admin.tools.__all__, *openclaw_admin.testing.__all__}
    for text in written:
        name, bracket, _rest = text.partition("(")
        owner: Any = (
            openclaw_admin.tools if hasattr(openclaw_admin.tools, name.partition(".")[0]) else openclaw_admin.testing
        )
        for part in name.split("."):
            owner = getattr(owner, part)
        if bracket:
            assert text == name + signature(owner)


# ---- three tools ----------------------------------------------------------------------------------------------------


class Way:
    """The blocks of one section, with the reader's folder, port, address and token in place of the page's."""

    def __init__(self, title: str, folder: Path, port: int, environment: dict[str, str]) -> None:
        self.folder, self.port, self.environment = folder, port, environment
        text = section(title).replace(AUTHOR, str(folder)).replace(PORT, str(port))
        self.blocks = BLOCK.findall(text)
        self.server: subprocess.Popen[bytes] | None = None
        self.said: list[str] = []

    def go(self, then: Callable[[], object]) -> None:
        """Do what each block says; before the first call, wait until it is published."""
        for language, code in self.blocks:
            if language in {"python", "yaml"}:
                path = Path(code.splitlines()[0].removeprefix("# "))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(code)
            elif language == "bash":
                self.said += [self.command(line) for line in code.splitlines()]
            elif code.startswith("python3 "):
                program = shlex.split(code)[1]
                self.server = subprocess.Popen([sys.executable, program], stderr=subprocess.DEVNULL)
                eventually(self.listens)
            else:
                then()
                self.said.append(self.shell(code))

    def listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except OSError:
            return False
        return True

    def command(self, line: str) -> str:
        program, *words = shlex.split(line)
        assert program == "manage.py", line
        out = StringIO()
        call_command(*words, stdout=out, stderr=out)
        return out.getvalue()

    def shell(self, code: str) -> str:
        ran = subprocess.run(
            ["/bin/bash", "-ec", code], env=os.environ | self.environment, capture_output=True, text=True, timeout=60
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout


@pytest.mark.unhurried
@pytest.mark.parametrize(
    ("title", "tool", "result"),
    [
        ("A Python tool", "calculate_double", {"product": 42}),
        ("A tool of a YAML file", "get_price", {"price": 2, "currency": "CHF"}),
        ("An HTTP tool", "calculate_triple", {"product": 42}),
    ],
)
def test_a_new_author_comes_from_nothing_to_the_row_of_the_audit(
    publishing: Server,  # noqa: F811
    environment: Any,
    token: Callable[..., Any],
    tmp_path: Path,
    title: str,
    tool: str,
    result: dict[str, Any],
) -> None:
    published(environment, BOT)
    secret = token("decisions_ask", "calls_make")[1]
    way = Way(title, tmp_path / "author", free_port(), {"DOOR": publishing.url, "TOKEN": secret})

    def offered() -> bool:
        with publishing.client(secret) as client:
            asked: httpx.Response = client.post("/api/v1/decisions", json={"agent": "bot", "tool": tool})
        return bool(asked.json()["allowed"])

    began = time.monotonic()
    try:
        way.go(lambda: eventually(offered))
    finally:
        if way.server is not None:
            way.server.kill()
            way.server.wait()

    assert time.monotonic() - began < FIVE_MINUTES_S
    assert any("1 added" in said for said in way.said), way.said
    answers = [json.loads(said) for said in way.said if said.startswith("{")]
    assert [(each["status"], each["result"]) for each in answers] == [("completed", result)]
    outcome = Entry.objects.get(kind="call_outcome", tool=tool)
    assert outcome.status == "completed"
    assert tool in way.said[-1] and "completed" in way.said[-1], way.said[-1]


def test_a_format_of_ones_own_works_as_it_is_written(tmp_path: Path) -> None:
    (code,) = [
        each for language, each in BLOCK.findall(section("Check a text in a way of your own")) if language == "python"
    ]
    tool = (
        "from openclaw_admin.tools import tool\n\n"
        "@tool(parameters={'type': 'object', 'properties': {'plate': {'type': 'string', 'format': 'car-plate'}}})\n"
        "def find_car(**params):\n    'Find a car.'\n    return params\n"
    )
    (tmp_path / "car_tool.py").write_text(code + tool)
    assert openclaw_admin.testing.run_tool(tmp_path, "find_car", {"plate": "BE-1"}).status == "completed"
    answer = openclaw_admin.testing.run_tool(tmp_path, "find_car", {"plate": "no"})
    assert answer.error is not None
    assert "must be a plate of Switzerland such as `BE-1234`" in answer.error["details"][0]["message"]
