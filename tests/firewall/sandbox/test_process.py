"""Real processes: what a command may do, and that nothing of it survives its run."""

import asyncio
import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from apps.firewall.sandbox.forkserver import forkserver
from apps.firewall.sandbox.launcher import SPARES
from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.node import node
from apps.firewall.sandbox.process import ProcessResult, run_process

pytestmark = pytest.mark.unhurried

PATH = "/usr/local/bin:/usr/bin:/bin"


async def run(argv: list[str], where: Path, **changes: object) -> ProcessResult:
    options: dict[str, object] = {
        "cwd": str(where),
        "env": {"PATH": PATH},
        "limits": Limits(cpu_s=10, processes=32),
        "time_limit_s": 60.0,
        "output_limit_bytes": 4096,
    }
    return await run_process(argv, **{**options, **changes})  # type: ignore[arg-type]


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def alive(marker: str) -> list[int]:
    """Processes, zombies included, whose command line names the marker."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def children(pid: int | str = "self") -> set[int]:
    found: set[int] = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ended meanwhile
            found |= {int(word) for word in (thread / "children").read_text().split()}
    return found


def launchers() -> set[int]:
    """The processes that start commands: they stay."""
    return {pid for pid in children() if b"launcher.py" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def supervisors() -> set[int]:
    """Those that supervise, and the spare ones."""
    return {pid for launcher in launchers() for pid in children(launcher)}


@pytest.fixture(autouse=True)
async def nothing_is_left_behind() -> AsyncIterator[None]:
    before = children() - launchers()
    yield
    async with asyncio.timeout(60):
        while not children() - launchers() <= before:
            await asyncio.sleep(0.005)
        while len(supervisors()) > SPARES * len(launchers()):  # they have said that all is over, and end
            await asyncio.sleep(0.005)


async def test_an_order_that_is_longer_than_a_socket_holds_arrives_whole(tmp_path: Path) -> None:
    words = ["x" * 100_000] * 10

    ran = await run([*python("import sys; print(sum(map(len, sys.argv[1:])))"), *words], tmp_path)

    assert ran.stdout.text() == "1000000\n"


@pytest.mark.parametrize("isolated", [False, True])
async def test_nothing_is_open_to_a_command_but_its_streams(tmp_path: Path, isolated: bool) -> None:
    if isolated and offer().lacks("isolated"):
        pytest.skip(str(offer()))
    forkserver().close()  # the first runs of a launcher find nothing made ready
    listing = python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))")

    runs = [run(listing, tmp_path, isolated=isolated, uses_python=True, network=False) for _ in range(SPARES + 2)]

    for ran in await asyncio.gather(*runs):
        assert ran.stdout.text() == "[0, 1, 2, 3]\n", ran  # the last is the listing itself


async def test_a_command_ends_with_its_exit_code_and_output(tmp_path: Path) -> None:
    result = await run(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"], tmp_path)

    assert (result.ended, result.exit_code, result.signal) == ("ended", 3, None)
    assert (result.stdout.text(), result.stderr.text()) == ("out\n", "err\n")
    assert result.duration_ms < 3000


async def test_the_environment_is_exactly_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "must not travel")

    result = await run(["/usr/bin/env"], tmp_path, env={"ONE": "1"})

    assert re.fullmatch(r"ONE=1\nTMPDIR=\S+\n", result.stdout.text())


async def test_no_descriptor_but_the_three_streams_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "kept-open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        result = await run(["/bin/ls", "/proc/self/fd"], tmp_path)

    assert result.stdout.text().split() == ["0", "1", "2", "3"]  # 3 is the folder that ls itself reads


async def test_stdin_is_empty_unless_something_is_given(tmp_path: Path) -> None:
    assert (await run(["/bin/cat"], tmp_path)).stdout.text() == ""
    assert (await run(["/bin/cat"], tmp_path, stdin=b"hello")).stdout.text() == "hello"


async def test_a_command_that_does_not_read_its_input_is_no_error(tmp_path: Path) -> None:
    result = await run(["/bin/true"], tmp_path, stdin=b"x" * 5_000_000)

    assert (result.ended, result.exit_code) == ("ended", 0)


async def test_a_sleeping_tree_is_killed_at_the_time_limit(tmp_path: Path) -> None:
    started = time.monotonic()
    tree = "sleep 987601 & (sleep 987601 & sleep 987601) & sleep 987601"

    result = await run(["/bin/sh", "-c", tree], tmp_path, time_limit_s=0.5)

    assert result.ended == "timed_out"
    assert time.monotonic() - started < 60  # it would sleep for days
    assert alive("987601") == []


async def test_leaving_the_session_does_not_help_a_daemon_to_survive(tmp_path: Path) -> None:
    daemon = "import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  time.sleep(987602)\n"

    result = await run(python(daemon), tmp_path)

    assert (result.ended, result.exit_code) == ("ended", 0)
    assert alive("987602") == []


async def test_a_child_that_ignores_every_polite_signal_is_killed(tmp_path: Path) -> None:
    stubborn = (
        "import signal, time\n"
        "for s in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(s, signal.SIG_IGN)\n"
        "time.sleep(987603)"
    )

    result = await run(python(stubborn), tmp_path, time_limit_s=0.5)

    assert result.ended == "timed_out"
    assert alive("987603") == []


async def test_a_cancelled_caller_gets_the_tree_killed_before_it_hears(tmp_path: Path) -> None:
    task = asyncio.create_task(run(["/bin/sh", "-c", "touch started; sleep 987604 & sleep 987604"], tmp_path))
    async with asyncio.timeout(60):
        while not (tmp_path / "started").exists():
            await asyncio.sleep(0.01)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive("987604") == []


async def test_a_fork_bomb_is_bounded_and_ends(tmp_path: Path) -> None:
    bomb = "import os, time\nfor _ in range(5000):\n try:\n  os.fork()\n except OSError: time.sleep(0.01)\n#987605"

    result = await run(python(bomb), tmp_path, time_limit_s=3.0)

    assert result.ended in {"process_limit", "timed_out"}
    assert alive("987605") == []


async def test_a_flood_keeps_its_two_ends_and_counts_the_rest(tmp_path: Path) -> None:
    flood = "import sys\nsys.stdout.write('begin' + 'x' * 3_000_000 + 'end')"

    result = await run(python(flood), tmp_path, output_limit_bytes=1000)

    assert result.stdout.head.startswith(b"begin")
    assert result.stdout.tail.endswith(b"end")
    assert len(result.stdout.head) + len(result.stdout.tail) == 1000
    assert result.stdout.dropped == 3_000_008 - 1000
    assert f"{result.stdout.dropped} bytes dropped" in result.stdout.text()


async def test_an_endless_flood_ends_at_the_time_limit(tmp_path: Path) -> None:
    result = await run(["/usr/bin/yes"], tmp_path, time_limit_s=0.5)

    assert result.ended == "timed_out"
    assert len(result.stdout.head) + len(result.stdout.tail) == 4096


async def test_a_command_that_takes_more_memory_than_it_may_is_ended_for_that(tmp_path: Path) -> None:
    taking = python("kept = b'x' * 400_000_000; import time; time.sleep(30)")
    result = await run(taking, tmp_path, limits=Limits(memory_bytes=200_000_000))

    assert (result.ended, result.exit_code) == ("memory_limit", None)


@pytest.mark.parametrize("isolated", [False, True])
async def test_node_and_its_tests_run_within_the_limit_of_memory(tmp_path: Path, isolated: bool) -> None:
    if not node() or (isolated and offer().lacks("isolated")):
        pytest.skip("this machine has no Node, or no bubblewrap")
    (tmp_path / "package.json").write_text('{"name": "it", "scripts": {"test": "node --test"}}')
    (tmp_path / "it.test.js").write_text("require('node:test').test('adds', () => require('assert').equal(1 + 1, 2))")
    (tmp_path / "a.js").write_text("console.log('ran')")
    there = Path(node()).parents[1]
    npm = there / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = {
        "isolated": isolated,
        "uses_python": True,  # the wheel lies among its packages
        "network": False,
        "env": {"PATH": f"{there / 'bin'}:{PATH}", "HOME": str(tmp_path)},
        "limits": Limits(),
        "time_limit_s": 60.0,
    }

    ran = await run([node(), "a.js"], tmp_path, **options)
    tested = await run([node(), str(npm), "test"], tmp_path, **options)

    assert (ran.exit_code, ran.stdout.text()) == (0, "ran\n"), ran
    assert (tested.exit_code, "pass 1" in tested.stdout.text()) == (0, True), tested


async def test_node_that_takes_more_memory_than_it_may_is_ended_for_that(tmp_path: Path) -> None:
    if not node():
        pytest.skip("this machine has no Node")
    taking = "const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1))"
    limits = Limits(memory_bytes=200_000_000)
    result = await run([node(), "-e", taking], tmp_path, limits=limits, time_limit_s=60.0)

    assert result.ended == "memory_limit", result


async def test_a_file_cannot_grow_beyond_the_limit(tmp_path: Path) -> None:
    fill = ["/bin/dd", "if=/dev/zero", "of=big", "bs=1000", "count=5000"]

    result = await run(fill, tmp_path, limits=Limits(file_bytes=1_000_000))

    assert result.signal == signal.SIGXFSZ
    assert (tmp_path / "big").stat().st_size <= 1_000_000


async def test_cpu_beyond_the_limit_ends_the_command(tmp_path: Path) -> None:
    result = await run(python("while True: pass"), tmp_path, limits=Limits(cpu_s=1))

    assert (result.ended, result.signal) == ("ended", signal.SIGXCPU)


@pytest.mark.parametrize("argv", [["/no/such/program"], ["/etc/passwd"], ["/bin/echo", "nul\0byte"]])
async def test_what_cannot_start_says_so(tmp_path: Path, argv: list[str]) -> None:
    result = await run(argv, tmp_path)

    assert result.ended == "not_started"
    assert result.error


async def test_a_killed_supervisor_leaves_no_command_and_no_answer(tmp_path: Path) -> None:
    task = asyncio.create_task(run(["/bin/sh", "-c", "touch started; exec sleep 987606"], tmp_path))
    async with asyncio.timeout(60):
        while not (tmp_path / "started").exists():
            await asyncio.sleep(0.01)
    for pid in supervisors():
        os.kill(pid, signal.SIGKILL)

    result = await task

    assert result.ended == "lost"
    async with asyncio.timeout(60):
        while alive("987606"):
            await asyncio.sleep(0.01)


async def test_a_killed_supervisor_leaves_nothing_of_its_tree_either(tmp_path: Path) -> None:
    tree = "(setsid sleep 987608 &) ; touch started; exec sleep 987608"
    task = asyncio.create_task(run(["/bin/sh", "-c", tree], tmp_path))
    async with asyncio.timeout(60):
        while len(alive("987608")) < 2:
            await asyncio.sleep(0.01)
    for pid in supervisors():
        os.kill(pid, signal.SIGKILL)

    assert (await task).ended == "lost"
    async with asyncio.timeout(60):
        while alive("987608"):
            await asyncio.sleep(0.01)


async def test_a_killed_launcher_ends_what_runs_and_the_next_command_runs(tmp_path: Path) -> None:
    task = asyncio.create_task(run(["/bin/sh", "-c", "touch started; exec sleep 987609"], tmp_path))
    async with asyncio.timeout(60):
        while not (tmp_path / "started").exists():
            await asyncio.sleep(0.01)
    killed = launchers()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)

    assert (await task).ended in {"stopped", "lost"}
    assert (await run(["/bin/echo", "again"], tmp_path)).stdout.text() == "again\n"
    assert alive("987609") == []
    for pid in killed:  # nobody else reaps one that was started on a loop which is gone
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


async def test_the_tree_dies_with_a_server_that_is_killed(tmp_path: Path) -> None:
    server = (
        "import asyncio\nfrom apps.firewall.sandbox.limits import Limits\n"
        "from apps.firewall.sandbox.process import run_process\n"
        f"asyncio.run(run_process(['/bin/sh', '-c', 'touch started; setsid sleep 987607 & sleep 987607'], "
        f"cwd={str(tmp_path)!r}, env={{'PATH': {PATH!r}}}, limits=Limits(), time_limit_s=60, output_limit_bytes=10))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", server)
    async with asyncio.timeout(60):
        while not (tmp_path / "started").exists() or len(alive("987607")) < 3:
            await asyncio.sleep(0.02)

    process.kill()
    await process.wait()

    async with asyncio.timeout(30):
        while [pid for pid in alive("987607") if Path(f"/proc/{pid}/cmdline").exists()]:
            await asyncio.sleep(0.02)


async def test_a_command_has_none_of_the_powers_of_root(tmp_path: Path) -> None:
    result = await run(["/bin/grep", "-E", "^Cap(Prm|Eff|Amb):", "/proc/self/status"], tmp_path)
    assert [int(line.split()[1], 16) for line in result.stdout.text().splitlines()] == [0, 0, 0]


async def test_a_command_of_root_cannot_read_the_environment_of_the_server(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the powers of root are what this is about")
    result = await run(["/bin/cat", f"/proc/{os.getpid()}/environ"], tmp_path)
    assert (result.exit_code, result.stdout.text()) == (1, "")


@pytest.mark.parametrize("name", ["cpu_s", "memory_bytes", "file_bytes", "open_files", "processes"])
@pytest.mark.parametrize("value", [0, -1])
def test_no_limit_is_none_at_all(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})
