"""The commands of a line as a request keeps them for people."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from apps.approvals.models import Approval
from apps.firewall.engine.exec_policy import Evidence, Part

SECRET = "sk-ant-" + "a1B2c3D4e5F6g7H8" * 2


def part(line: str, text: str, **fields: Any) -> Part:
    start = line.index(text)
    given: dict[str, Any] = {
        "program": f"/usr/bin/{text.split()[0]}",
        "why": Evidence("allowlist_miss", text.split()[0]),
    } | fields
    return Part(text=text, start=start, end=start + len(text), **given)


def kept(ask: Callable[..., Approval], line: str, *parts: Part) -> Approval:
    approval = ask(command=line, parts=parts)
    approval.refresh_from_db()
    return approval


def test_each_command_keeps_its_place_and_what_was_said_of_it(ask: Callable[..., Approval]) -> None:
    line = "git status && curl x.example"
    first = part(line, "git status", why=None, satisfied_by="allowlist", pattern="/usr/bin/git", joint="&&")
    approval = kept(ask, line, first, part(line, "curl x.example"))
    assert [approval.command[each["start"] : each["end"]] for each in approval.parts] == [
        "git status",
        "curl x.example",
    ]
    assert approval.parts[0] == {
        "start": 0,
        "end": 10,
        "program": "/usr/bin/git",
        "wrappers": [],
        "by": "allowlist",
        "pattern": "/usr/bin/git",
        "why": None,
        "stricter": False,
    }
    assert approval.parts[1]["why"] == {"code": "allowlist_miss", "text": "curl"}


def test_places_hold_in_the_line_without_its_secrets(ask: Callable[..., Approval]) -> None:
    line = f"login --token {SECRET} && ls"
    approval = kept(ask, line, part(line, f"login --token {SECRET}"), part(line, "ls"))
    first, second = (approval.command[each["start"] : each["end"]] for each in approval.parts)
    assert SECRET not in approval.command
    assert first.startswith("login --token [masked ")
    assert first.endswith("]")
    assert second == "ls"


def test_a_piece_of_a_secret_is_never_shown(ask: Callable[..., Approval]) -> None:
    line = f"login --token {SECRET}"
    cut = Evidence("wrapper", SECRET[9:20])
    approval = ask(
        command=line,
        parts=[part(line, line, why=cut)],
        evidence=[{"code": "shell_syntax", "text": SECRET[9:22]}, {"code": "network", "text": "x.example"}],
    )
    approval.refresh_from_db()
    assert approval.parts[0]["why"]["text"] == "…"
    assert [each["text"] for each in approval.evidence[:2]] == ["…", "x.example"]


def test_a_place_that_is_not_in_the_line_is_left_out(ask: Callable[..., Approval]) -> None:
    far = replace(part("ls", "ls"), start=400, end=402)
    assert kept(ask, "ls", far).parts == []
