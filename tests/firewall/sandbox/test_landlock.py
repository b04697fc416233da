"""Real processes held to their files by the kernel: what they cannot reach, what they still can, what it costs."""

import asyncio
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from apps.firewall.sandbox import process
from apps.firewall.sandbox.landlock import Confinement, confinement, programs
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import ProcessResult, run_process

pytestmark = pytest.mark.unhurried

PATH = "/usr/local/bin:/usr/bin:/bin"
SECRET = "the key of the seal"
needs_landlock = pytest.mark.skipif(not confinement().abi, reason=f"confinement: {confinement()}")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A workspace, with another one and a key beside it."""
    for name in ("desk", "other", "keys"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "other" / "notes").write_text(SECRET)
    (tmp_path / "keys" / "seal_key").write_text(SECRET)
    (tmp_path / "desk" / "mine").write_text("hello\n")
    return tmp_path / "desk"


async def run(line: str, desk: Path, *, limits: Limits | None = None, **changes: str) -> ProcessResult:
    return await run_process(
        ["/bin/sh", "-c", line],
        cwd=changes.get("cwd", str(desk)),
        env={"PATH": PATH, "HOME": str(desk), "LANG": "C.UTF-8"},
        limits=limits or Limits(),
        time_limit_s=60.0,
        output_limit_bytes=65536,
        workspace=str(desk),
    )


def said(result: ProcessResult) -> str:
    return result.stdout.text() + result.stderr.text()


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path.home() / f".openclaw-test-{os.getpid()}"
    folder.mkdir()
    (folder / "key").write_text(SECRET)
    yield folder
    shutil.rmtree(folder)


@needs_landlock
@pytest.mark.parametrize(
    "line",
    [
        "cat ../keys/seal_key",
        "cat ../other/notes",
        "cat {root}/keys/seal_key",
        "ls {root}/keys",
        "ls {root}",
        "ls /tmp",
        "ls /root",
        "ls /home",
        "cat /etc/shadow",
        "ls /var/lib",
        "ln -s ../keys/seal_key link && cat link",
        "ln -s ../keys folder && cat folder/seal_key",
        "ln ../keys/seal_key hard && cat hard",
        "mv ../keys/seal_key mine",
        "cp ../keys/seal_key mine",
        "exec 3<../keys/seal_key && cat <&3",
        "cat /proc/self/root{root}/keys/seal_key",
        "cat /proc/self/cwd/../keys/seal_key",
        "cat /proc/{parent}/environ",
        "cat /proc/{parent}/cmdline",
        "cat /proc/{parent}/root{root}/keys/seal_key",
        "cat /proc/$PPID/environ /proc/$PPID/maps",
        "ls /proc",
    ],
)
async def test_it_cannot_read_outside_its_workspace(desk: Path, line: str) -> None:
    command = line.format(root=desk.parent, parent=os.getpid())

    result = await run(command, desk)

    assert result.ended == "ended"
    assert result.exit_code != 0, said(result)
    assert "ermission denied" in said(result) or "cross-device" in said(result)
    assert SECRET not in said(result)
    assert (desk.parent / "keys" / "seal_key").read_text() == SECRET


@needs_landlock
async def test_it_cannot_read_the_home_of_the_user_that_it_runs_as(desk: Path, home: Path) -> None:
    result = await run(f"cat {home}/key", desk)

    assert (result.exit_code, SECRET in said(result)) == (1, False)


@needs_landlock
@pytest.mark.parametrize(
    "line",
    [
        "echo x > ../other/notes",
        "echo x >> {root}/keys/seal_key",
        "echo x > ../new",
        "mkdir ../new",
        "rm {root}/keys/seal_key",
        "mv {root}/keys/seal_key {root}/new",
        "ln -s ../other out && echo x > out/notes",
        "truncate -s 0 ../keys/seal_key",
        "mv mine ../new",
        "mkfifo ../new",
        "echo x > /tmp/openclaw-test-{parent}",
        "echo x > /var/tmp/openclaw-test-{parent}",
        "echo x > /dev/shm/openclaw-test-{parent}",
        "echo x > /etc/openclaw-test-{parent}",
        "echo x > /usr/bin/openclaw-test-{parent}",
    ],
)
async def test_it_cannot_write_outside_its_workspace(desk: Path, line: str) -> None:
    result = await run(line.format(root=desk.parent, parent=os.getpid()), desk)

    assert result.exit_code != 0, said(result)
    assert (desk.parent / "keys" / "seal_key").read_text() == SECRET
    assert (desk.parent / "other" / "notes").read_text() == SECRET
    assert sorted(each.name for each in desk.parent.iterdir()) == ["desk", "keys", "other"]
    for folder in ("/tmp", "/var/tmp", "/dev/shm", "/etc", "/usr/bin"):
        assert not Path(folder, f"openclaw-test-{os.getpid()}").exists()


@needs_landlock
async def test_what_it_starts_is_held_too(desk: Path) -> None:
    program = "import subprocess; subprocess.run(['setsid', 'sh', '-c', 'cat ../keys/seal_key'])"

    result = await run(f'python3 -c "{program}"', desk)

    assert "ermission denied" in said(result)
    assert SECRET not in said(result)


@needs_landlock
@pytest.mark.skipif(confinement().abi < 6, reason="this kernel lets confined commands signal their user's processes")
async def test_it_cannot_end_processes_of_its_user_outside_its_tree(desk: Path) -> None:
    bystander = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        result = await run(f"kill -KILL {bystander.pid}; kill -KILL $PPID; echo alive", desk)
        assert bystander.returncode is None
        os.kill(bystander.pid, 0)
    finally:
        bystander.send_signal(signal.SIGKILL)
        await bystander.wait()
    assert result.stdout.text() == "alive\n"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("ls", "mine\n"),
        ("cat mine", "hello\n"),
        ("git --version", "git version"),
        ("git init -q . && git add mine && git status --short", "A  mine"),
        ("python3 -c 'print(6 * 7)'", "42\n"),
        ("python3 -c 'import json, ssl, socket, random; print(random.random() < 1)'", "True\n"),
        ("date +%Y >/dev/null && echo done", "done\n"),
        ("mkdir -p a/b && mv mine a/b/moved && cat a/b/moved", "hello\n"),
        ("printf '#!/bin/sh\\necho ran\\n' > run.sh && chmod +x run.sh && ./run.sh", "ran\n"),
        ("echo one | sort | tr a-z A-Z", "ONE\n"),
        ("id -un >/dev/null; head -c 4 /dev/urandom | wc -c", "4\n"),
        ("rm mine && ls | wc -l", "0\n"),
        ("kill -TERM $$; echo no", ""),
    ],
)
async def test_ordinary_commands_work(desk: Path, line: str, answer: str) -> None:
    if shutil.which(line.split()[0], path=PATH) is None and not line.startswith("id"):
        pytest.skip("this machine does not have it")

    result = await run(line, desk)

    assert result.ended == "ended", result.error
    assert result.stdout.text().startswith(answer), said(result)
    assert result.stderr.text() == ""


async def test_a_command_may_start_in_a_folder_below_and_use_the_whole_workspace(desk: Path) -> None:
    (desk / "below").mkdir()

    result = await run("cat ../mine", desk, cwd=str(desk / "below"))

    assert result.stdout.text() == "hello\n"


async def test_the_temporary_folder_is_private_and_gone_afterwards(desk: Path) -> None:
    make = 'mkdir -p "$TMPDIR/a/b"; ln -s / "$TMPDIR/a/link"; touch "$TMPDIR/a/b/c"'
    tell = 'stat -c %a "$TMPDIR"; echo "$TMPDIR"; chmod 0 "$TMPDIR/a" "$TMPDIR"'

    result = await run(f"{make}; {tell}", desk)

    mode, folder = result.stdout.text().split()
    assert mode == "700"
    assert Path(folder).is_absolute()
    assert not Path(folder).exists()
    assert Path("/usr").exists()


async def test_the_temporary_folder_is_gone_when_the_run_was_ended_too(desk: Path) -> None:
    result = await run_process(
        ["/bin/sh", "-c", 'echo "$TMPDIR"; touch "$TMPDIR/x"; sleep 60'],
        cwd=str(desk),
        env={"PATH": PATH},
        limits=Limits(),
        time_limit_s=0.5,
        output_limit_bytes=1000,
    )

    assert result.ended == "timed_out"
    assert not Path(result.stdout.text().strip()).exists()


@needs_landlock
async def test_a_program_that_lies_elsewhere_is_refused_by_name(desk: Path) -> None:
    program = desk.parent / "other" / "tool"
    shutil.copy("/bin/true", program)
    (desk / "tool").symlink_to(program)

    for path in (program, desk / "tool"):
        result = await run_process(
            [str(path)], cwd=str(desk), env={}, limits=Limits(), time_limit_s=60, output_limit_bytes=1000
        )
        assert result.ended == "not_started"
        assert result.error == f"`{program.resolve()}` lies outside the folders that commands may use"


@needs_landlock
async def test_a_command_that_cannot_be_confined_does_not_run(desk: Path) -> None:
    result = await run_process(
        ["/bin/touch", str(desk / "ran")],
        cwd=str(desk),
        env={},
        limits=Limits(),
        time_limit_s=60,
        output_limit_bytes=1000,
        workspace=str(desk / "missing"),
    )

    assert result.ended == "not_confined"
    assert result.error.startswith("it cannot be confined: ")
    assert not (desk / "ran").exists()


async def test_a_kernel_without_landlock_runs_commands_as_before(desk: Path) -> None:
    with patch.object(process, "confinement", lambda: Confinement(0, "the kernel has none")):
        result = await run("cat ../other/notes; touch $TMPDIR/x", desk)

    assert result.stdout.text() == SECRET
    assert str(Confinement(0, "the kernel has none")) == "none: the kernel has none"


def test_a_workspace_inside_a_folder_of_the_system_does_not_open_its_neighbours(tmp_path: Path) -> None:
    app = tmp_path / "lib" / "app"
    for name in ("var/workspaces/bot", "var/keys"):
        (app / name).mkdir(parents=True)
    (tmp_path / "lib" / "python").mkdir()

    found = programs([str(tmp_path / "lib")], str(app / "var" / "workspaces" / "bot"))

    assert str(tmp_path / "lib" / "python") in found
    assert not [each for each in found if each.startswith(str(app)) or each == str(tmp_path / "lib")]
