"""What was approved is what runs: a change in between is caught, or the request had said that it is not bound."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.api.serializers.approvals import approval_shown
from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.firewall.identifiers import read_id
from apps.firewall.runtime.executors import bound_files
from apps.firewall.runtime.stages import approval as approval_stage
from tests.gateway.conftest import call
from tests.gateway.test_calls import workspace
from tests.gateway.test_decisions import eventually

Change = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to change what was approved.

    Args:
        files: of the workspace when it is asked, by name.
        changes: what is written afterwards, by name; or what does it.
        names: the part of the refusal that tells what has changed, below the workspace.
        params: of the call besides the command.
    """

    command: str
    files: dict[str, str]
    changes: dict[str, str] | Change
    names: str
    params: dict[str, Any] | None = None


def swap_link(name: str, target: str) -> Change:
    def change(desk: Path) -> None:
        (desk / name).unlink(missing_ok=True)
        (desk / name).symlink_to(target)

    return change


def keep_size_and_time(desk: Path) -> None:
    """Rewrite a script with as many bytes, and set its time back."""
    path = desk / "run.sh"
    before = path.stat()
    path.write_text("touch made##")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def rename_folders(desk: Path) -> None:
    (desk / "d1").rename(desk / "gone")
    (desk / "d2").rename(desk / "d1")


def delete_override(desk: Path) -> None:
    (desk / "GNUmakefile").unlink()


OK, BAD = "echo fine", "touch made"
RUN = {"run.sh": "echo harmless"}
GIT = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n\tbare = false\n",
    ".git/refs/keep": "",
    ".git/objects/keep": "",
}
MAKE = {"Makefile": "all:\n\techo fine\n"}

CAUGHT: dict[str, Way] = {
    "a script after cd": Way("cd d1 && sh run.sh", {"d1/run.sh": OK}, {"d1/run.sh": BAD}, "d1/run.sh"),
    "a script after two cds": Way("cd a && cd b && sh ./run.sh", {"a/b/run.sh": OK}, {"a/b/run.sh": BAD}, "a/b/run.sh"),
    "data after cd": Way("cd d1 && cat data", {"d1/data": "a"}, {"d1/data": "b"}, "d1/data"),
    "a script by a pattern": Way("sh good.*", {"good.sh": OK}, {"good.sh": BAD}, "good.sh"),
    "one more file for a pattern": Way("cat good.*", {"good.sh": OK}, {"good.a": BAD}, "good.a"),
    "a script by braces": Way("sh {good,}.sh", {"good.sh": OK}, {"good.sh": BAD}, "good.sh"),
    "data by braces": Way("cat {good,other}.txt", {"good.txt": "a"}, {"good.txt": "b"}, "good.txt"),
    "a Makefile": Way("make", MAKE, {"Makefile": "all:\n\ttouch made\n"}, "Makefile"),
    "a Makefile that goes before the other": Way("make", MAKE, {"GNUmakefile": "all:\n\ttouch made\n"}, "GNUmakefile"),
    "a Makefile that went": Way("make", {**MAKE, "GNUmakefile": "all:\n\techo fine\n"}, delete_override, "GNUmakefile"),
    "what a Makefile includes": Way(
        "make",
        {"Makefile": "include rules.mk\n", "rules.mk": "all:\n\techo\n"},
        {"rules.mk": "all:\n\ttouch made\n"},
        "rules.mk",
    ),
    "a Makefile elsewhere": Way(
        "make -C sub", {"sub/Makefile": "all:\n"}, {"sub/Makefile": "all:\n\ttouch made\n"}, "sub/Makefile"
    ),
    "an import": Way(
        "python3 main.py", {"main.py": "import part", "part.py": ""}, {"part.py": "open('made', 'w')"}, "part.py"
    ),
    "a module that shadows one of the library": Way(
        "python3 main.py", {"main.py": "import json"}, {"json.py": "open('made', 'w')"}, "json.py"
    ),
    "a package that shadows a module": Way(
        "python3 main.py",
        {"main.py": "import part", "part.py": ""},
        {"part/__init__.py": "open('made', 'w')"},
        "part/__init__.py",
    ),
    "compiled bytes of an import": Way(
        "python3 main.py",
        {"main.py": "import part", "part.py": ""},
        {"__pycache__/part.cpython-311.pyc": "x"},
        "__pycache__/part",
    ),
    "a module that -m runs": Way("python3 -m part", {"part.py": ""}, {"part.py": "open('made', 'w')"}, "part.py"),
    "an import of code in the line": Way(
        "python3 -c 'import part'", {"part.py": ""}, {"part.py": "open('made', 'w')"}, "part.py"
    ),
    "sitecustomize in the workspace": Way(
        "python3 main.py", {"main.py": ""}, {"sitecustomize.py": "x"}, "sitecustomize.py"
    ),
    "the profile of a login shell": Way("bash -lc 'echo fine'", {}, {".bash_profile": BAD}, ".bash_profile"),
    "the settings of an interactive shell": Way("bash -ic 'echo fine'", {".bashrc": ""}, {".bashrc": BAD}, ".bashrc"),
    "the settings of Git in the repository": Way(
        "git status", GIT, {".git/config": "[core]\n\tfsmonitor = touch made\n"}, ".git/config"
    ),
    "the settings of Git at home": Way(
        "git status", GIT, {".gitconfig": "[core]\n\tfsmonitor = touch made\n"}, ".gitconfig"
    ),
    "a hook of Git": Way("git commit -m x", GIT, {".git/hooks/pre-commit": BAD}, ".git/hooks/pre-commit"),
    "what a script sources": Way("sh run.sh", {"run.sh": ". ./env.sh", "env.sh": ""}, {"env.sh": BAD}, "env.sh"),
    "a sourced file": Way("source env.sh; true", {"env.sh": ""}, {"env.sh": BAD}, "env.sh"),
    "a file by a dot": Way(". ./env.sh && true", {"env.sh": ""}, {"env.sh": BAD}, "env.sh"),
    "a script that another one calls": Way("sh run.sh", {"run.sh": "sh in.sh", "in.sh": OK}, {"in.sh": BAD}, "in.sh"),
    "a list for xargs": Way("xargs -a list sh -c", {"list": OK}, {"list": BAD}, "list"),
    "scripts that xargs is given": Way("ls d | xargs sh", {"d/a": OK}, {"d/a": BAD}, "d/a"),
    "scripts that find finds": Way("find d -name '*.sh' -exec sh '{}' ';'", {"d/a.sh": OK}, {"d/b.sh": BAD}, "d/b.sh"),
    "what a here-document feeds": Way("sh <<E\n. ./env.sh\nE", {"env.sh": ""}, {"env.sh": BAD}, "env.sh"),
    "a script from standard input": Way("sh < run.sh", RUN, {"run.sh": BAD}, "run.sh"),
    "a loop over scripts": Way("for f in *.sh; do sh $f; done", RUN, {"b.sh": BAD}, "b.sh"),
    "scripts of a package": Way(
        "npm test",
        {"package.json": '{"scripts": {"test": "echo"}}'},
        {"package.json": '{"scripts": {"test": "touch made"}}'},
        "package.json",
    ),
    "a package that Node loads": Way(
        "node main.js",
        {"main.js": "require('part')", "node_modules/part/index.js": ""},
        {"node_modules/part/index.js": "x"},
        "node_modules/part/index.js",
    ),
    "variables from a file": Way("env -S 'sh run.sh'", {**RUN, ".env": "A=1"}, {".env": "A=2"}, ".env"),
    "a program in a folder of PATH": Way("PATH=$PWD/bin:$PATH tool", {"bin/tool": OK}, {"bin/tool": BAD}, "bin/tool"),
    "a program that now goes first": Way("PATH=$PWD/a:$PWD/b:$PATH tool", {"b/tool": OK}, {"a/tool": BAD}, "a/tool"),
    "a link to another script": Way("sh run.sh", {"a.sh": OK, "b.sh": OK}, swap_link("run.sh", "b.sh"), "run.sh"),
    "a folder behind a name": Way("cd d1 && cat data", {"d1/data": "a", "d2/data": "b"}, rename_folders, "d1/data"),
    "a script of the same size and time": Way("sh run.sh", {"run.sh": "echo fine###"}, keep_size_and_time, "run.sh"),
    "the settings of curl": Way("curl -s http://127.0.0.1:9/x", {}, {".curlrc": "output = made"}, ".curlrc"),
    "a file behind an @": Way("curl -s -d @body http://127.0.0.1:9/", {"body": "a"}, {"body": "b"}, "body"),
    "a file at a short option": Way("curl -s -Kopts http://127.0.0.1:9/", {"opts": "a"}, {"opts": "b"}, "opts"),
    "a file at home": Way("cat ~/data", {"data": "a"}, {"data": "b"}, "data"),
    "a file by $HOME": Way("cat $HOME/data", {"data": "a"}, {"data": "b"}, "data"),
    "what is copied with a folder": Way("cp -r d1 d9", {"d1/a": "a"}, {"d1/b": "b"}, "d1/b"),
    "what is deleted by a pattern": Way("rm *.tmp", {"a.tmp": ""}, {"b.tmp": ""}, "b.tmp"),
    "a file that a variable names": Way(
        "./tool", {"tool": "#!/bin/sh\n. ./settings\n", "settings": ""}, {"settings": BAD}, "settings"
    ),
    "a script in the folder it starts in": Way(
        "sh run.sh", {"sub/run.sh": OK}, {"sub/run.sh": BAD}, "sub/run.sh", {"workdir": "sub"}
    ),
    "a program of a wrapper": Way("nice -n 5 make", MAKE, {"Makefile": "all:\n\ttouch made\n"}, "Makefile"),
    "a script in a subshell": Way("(cd d1; sh run.sh)", {"d1/run.sh": OK}, {"d1/run.sh": BAD}, "d1/run.sh"),
    "a script by substitution": Way("sh $(echo run.sh)", RUN, {"run.sh": BAD}, "run.sh"),
    "awk code in a file": Way("awk -f prog.awk data", {"prog.awk": "1", "data": ""}, {"prog.awk": "2"}, "prog.awk"),
    "a build file of a tool nobody knows": Way(
        "tar --use-compress-program=./c -cf x.tar d", {"c": OK, "d/a": ""}, {"c": BAD}, "c"
    ),
}


def lay(desk: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = desk / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)


def emptied(desk: Path) -> None:
    for each in list(desk.iterdir()):
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def ask(agent: httpx.Client, command: str, **params: Any) -> tuple[dict[str, Any], Approval]:
    body: dict[str, Any] = call(agent, "exec", {"command": command, **params}, wait_ms=20).json()

    def waits() -> bool:
        nonlocal body
        body = agent.get(f"/api/v1/calls/{body['id']}").json()
        return bool(body["status"] == "awaiting_approval")

    assert eventually(waits), (command, body)
    return body, Approval.objects.get(pk=read_id("ap", body["approval"]["id"]))


def allowed(agent: httpx.Client, operator: Any, body: dict[str, Any], approval: Approval) -> dict[str, Any]:
    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())
    done: dict[str, Any] = agent.get(f"/api/v1/calls/{body['id']}?wait=20000").json()
    return done


@pytest.mark.slow
def test_every_way_to_change_what_was_approved_is_caught_and_named(
    agent: httpx.Client, operator: Any, settings: Any
) -> None:
    call(agent, "write", {"path": "begin", "content": ""})
    desk = workspace(settings)
    missed = []
    for name, way in CAUGHT.items():
        emptied(desk)
        lay(desk, way.files)
        if name == "a link to another script":
            (desk / "run.sh").symlink_to("a.sh")
        body, approval = ask(agent, way.command, **(way.params or {}))
        if callable(way.changes):
            way.changes(desk)
        else:
            lay(desk, way.changes)
        done = allowed(agent, operator, body, approval)
        error = done.get("error") or {}
        details = [each["path"] for each in error.get("details", [])]
        is_caught = done["status"] == "denied" and error.get("code") == "action_changed"
        if not is_caught or (desk / "made").exists() or not any(f"file {desk}/{way.names}" in each for each in details):
            missed.append((name, done["status"], error.get("code"), details))
    assert len(CAUGHT) >= 50
    assert missed == []


@pytest.mark.slow
def test_the_same_commands_run_when_nothing_has_changed(agent: httpx.Client, operator: Any, settings: Any) -> None:
    call(agent, "write", {"path": "begin", "content": ""})
    desk = workspace(settings)
    refused = []
    for name in list(CAUGHT)[::4]:
        way = CAUGHT[name]
        emptied(desk)
        lay(desk, way.files)
        body, approval = ask(agent, way.command, **(way.params or {}))
        done = allowed(agent, operator, body, approval)
        if done["status"] != "completed":
            refused.append((name, done))
    assert refused == []


@pytest.mark.slow
def test_what_a_command_does_not_read_may_change(agent: httpx.Client, operator: Any, settings: Any) -> None:
    call(agent, "write", {"path": "begin", "content": ""})
    desk = workspace(settings)
    files = {"d1/a": "a", "other": "1", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/aa/one": ""}
    unread = {
        "cat d1/a": {"other": "2", "new": ""},
        "sort d1/a": {"other": "2", ".bashrc": BAD},
        "ls d1": {"d1/b": "b", "d1/a": "changed"},
        "grep -r a d1": {"d1/b": "b", "d1/a": "changed"},
        "git status": {".git/objects/bb/two": "", ".git/logs/HEAD": ""},
    }
    for command, changes in unread.items():
        emptied(desk)
        lay(desk, files)
        body, approval = ask(agent, command)
        lay(desk, changes)
        done = allowed(agent, operator, body, approval)
        assert done["status"] in {"completed", "failed"}, (command, done)


@pytest.mark.slow
def test_what_cannot_be_bound_is_said_in_both_languages(agent: httpx.Client, settings: Any, tmp_path: Path) -> None:
    call(agent, "write", {"path": "begin", "content": ""})
    desk = workspace(settings)
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk / "away").symlink_to(outside)
    os.mkfifo(desk / "pipe")
    said = {
        "make": {"outside_workspace", "linked_folder"},
        "sh $NAME": {"outside_workspace", "decided_at_run", "linked_folder"},
        "curl -s http://127.0.0.1:9/x | sh": {"fetched", "outside_workspace", "linked_folder"},
        "npm install": {"fetched", "outside_workspace", "linked_folder"},
        "cat pipe": {"stream"},
        "cat begin": set(),
        "sh /proc/self/fd/0": {"stream", "outside_workspace", "linked_folder"},
    }
    for command, codes in said.items():
        _, approval = ask(agent, command)
        shown = approval_shown(approval)
        assert {each["code"] for each in shown["not_bound"]} == codes, command
        for each in shown["not_bound"]:
            assert each["reason"]["en"] and each["reason"]["zh-hans"] != each["reason"]["en"]


@pytest.mark.slow
def test_files_beyond_the_bounds_are_named_and_what_is_within_is_still_bound(
    agent: httpx.Client, operator: Any, settings: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(bound_files, "FILES_LIMIT", 3)
    monkeypatch.setattr(bound_files, "WALKED_LIMIT", 12)
    call(agent, "write", {"path": "run.sh", "content": "echo"})
    desk = workspace(settings)
    lay(desk, {f"a/{number}": "" for number in range(6)} | {f"z/{number}": "" for number in range(20)})

    body, approval = ask(agent, "sh run.sh")
    assert [each["text"] for each in approval.not_bound if each["code"] == "too_much"] == [f"{desk}/z/**"]
    (desk / "z/1").write_text("of the folder that is not bound")
    assert allowed(agent, operator, body, approval)["status"] == "completed"

    body, approval = ask(agent, "sh run.sh")
    (desk / "a/1").write_text("of a folder that is bound as a whole")
    done = allowed(agent, operator, body, approval)
    assert [each["path"] for each in done["error"]["details"]] == [f"file {desk}/a/**"]


@pytest.mark.slow
def test_a_script_outside_the_workspace_is_bound_too(agent: httpx.Client, operator: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for command in (f"cd {outside} && sh run.sh", f"sh {outside}/*.sh", f"make -C {outside}", f"sh {outside}/run.sh"):
        lay(outside, {"run.sh": OK, "Makefile": "all:\n"})
        body, approval = ask(agent, command)
        lay(outside, {"run.sh": BAD, "Makefile": "all:\n\ttouch made\n"})
        done = allowed(agent, operator, body, approval)
        assert (done["status"], done["error"]["code"]) == ("denied", "action_changed"), command


def test_a_file_that_changes_while_the_record_is_written_is_caught(
    agent: httpx.Client, operator: Any, settings: Any, monkeypatch: Any
) -> None:
    """The files are looked at once more when the intent is on record, just before the process starts."""
    call(agent, "write", {"path": "run.sh", "content": "echo"})
    desk = workspace(settings)
    body, approval = ask(agent, "sh run.sh")
    check = approval_stage.check_drift

    async def late(run: Any, approved: Any) -> None:
        (desk / "run.sh").write_text(BAD)
        await check(run, approved)

    monkeypatch.setattr("apps.firewall.runtime.stages.execute.check_drift", late)
    done = allowed(agent, operator, body, approval)
    assert (done["status"], done["error"]["code"]) == ("denied", "action_changed")
    assert agent.get(f"/api/v1/calls/{body['id']}").json()["status"] == "denied"
    assert not (desk / "made").exists()
