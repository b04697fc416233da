"""The system calls of a command: real processes, asked for sockets of every kind and for what a list leaves out.

What another machine's filter says is read from the filter itself.
"""

import errno
import os
import re
import sys
from pathlib import Path

import pytest

from apps.firewall.sandbox import seccomp, system_calls
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.sandbox.seccomp import MACHINES

pytestmark = pytest.mark.skipif(os.uname().machine not in MACHINES, reason="another machine than the filter is for")


async def run(code: str, where: Path, *, network: bool) -> ProcessResult:
    return await run_process(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=str(where),
        env={"PATH": "/usr/bin:/bin"},
        limits=Limits(cpu_s=10),
        time_limit_s=60.0,
        output_limit_bytes=4096,
        network=network,
    )


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET"])
@pytest.mark.parametrize("kind", ["SOCK_STREAM", "SOCK_DGRAM"])
async def test_no_socket_that_leaves_the_machine_is_made(tmp_path: Path, family: str, kind: str) -> None:
    made = f"socket.socket(socket.{family}, socket.{kind})"
    code = f"import socket\ntry:\n    {made}\nexcept OSError as exc:\n    print(exc.errno)"
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "13\n"


async def test_programs_it_starts_have_no_network_either(tmp_path: Path) -> None:
    inner = "import socket; socket.socket()"
    code = f"import subprocess, sys\nprint(subprocess.run([sys.executable, '-I', '-S', '-c', {inner!r}]).returncode)"
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "1\n"
    assert "PermissionError" in result.stderr.text()


async def test_the_ways_around_are_closed(tmp_path: Path) -> None:
    code = (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "for number in (425, 0x40000000 | 41):\n"
        "    print(libc.syscall(number, 2, 1, 0), ctypes.get_errno())"
    )
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "-1 38\n-1 38\n"


async def test_sockets_within_the_machine_and_loops_of_events_go_on_working(tmp_path: Path) -> None:
    code = (
        "import asyncio, socket\na, b = socket.socketpair()\na.send(b'x')\n"
        "socket.socket(socket.AF_UNIX).bind('here')\nasyncio.run(asyncio.sleep(0))\nprint(b.recv(1))"
    )
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "b'x'\n", result.stderr.text()


async def test_with_the_network_sockets_are_made(tmp_path: Path) -> None:
    result = await run("import socket\nsocket.socket()\nprint('made')", tmp_path, network=True)

    assert result.stdout.text() == "made\n"


async def test_a_command_may_lower_its_own_limits_and_run_behind_others(tmp_path: Path) -> None:
    code = (
        "import os, resource\nresource.prlimit(0, resource.RLIMIT_NOFILE, (50, 50))\n"
        "resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE, (40, 40))\nos.nice(1)\n"
        "os.sched_setaffinity(0, os.sched_getaffinity(0))\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "(40, 40)\n", result.stderr.text()


async def test_a_command_ends_its_own_children_and_groups(tmp_path: Path) -> None:
    code = (
        "import os, signal, subprocess\nchild = subprocess.Popen(['sleep', '60'])\nchild.terminate()\n"
        "group = subprocess.Popen(['sleep', '60'], start_new_session=True)\nos.killpg(group.pid, 9)\n"
        "print(child.wait(), group.wait())"
    )
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "-15 -9\n", result.stderr.text()


async def test_no_bit_that_lends_powers_is_set_and_other_modes_are(tmp_path: Path) -> None:
    code = (
        "import os\nopen('f', 'w').close()\nos.chmod('f', 0o1755)\nprint(oct(os.stat('f').st_mode))\n"
        "for mode in (0o4755, 0o2755):\n"
        "    try: os.chmod('f', mode)\n    except PermissionError as exc: print(exc.errno)"
    )
    result = await run(code, tmp_path, network=False)

    assert result.stdout.text() == "0o101755\n1\n1\n", result.stderr.text()


HEADERS = ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h")
OF_ARM = {"newfstatat": "fstatat"}


@pytest.mark.parametrize("column", [0, 1], ids=["x86_64", "aarch64"])
def test_the_numbers_are_those_of_the_kernel(column: int) -> None:
    header = Path(HEADERS[column])
    if not header.exists():
        pytest.skip("this machine has no headers of the kernel")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", header.read_text(), re.MULTILINE)
    numbers = {name: int(number) for name, number in found}
    for name, pair in {**system_calls.ALLOWED, **system_calls.ABSENT}.items():
        known = numbers.get(name, numbers.get(OF_ARM.get(name, ""), -1))
        assert known in (pair[column], -1), name  # a call may be younger than the header
        assert known != -1 or pair[column] == -1 or pair[column] > 450, name


def answer(machine: str, name: str, *arguments: int, number: int | None = None, network: bool = False) -> int:
    """Ask a machine's filter about a call: 0 when it is allowed, else its error."""
    architecture, column = MACHINES[machine]
    program = list(seccomp._Writer(architecture, column, network=network, is_alone=False).program())
    words = {0: system_calls.ALLOWED[name][column] if number is None else number, 4: architecture}
    words |= {16 + 8 * place: value & 0xFFFFFFFF for place, value in enumerate(arguments)}
    loaded, at = 0, 0
    while True:
        code, yes, no, value = program[at]
        if code == seccomp.RETURN:
            return 0 if value == seccomp.ALLOW else value & 0xFFFF
        if code == seccomp.LOAD_WORD:
            loaded = words.get(value, 0)
        elif code == seccomp.AND:
            loaded &= value
        else:
            tests = {
                seccomp.JUMP_IF_EQUAL: loaded == value,
                seccomp.JUMP_IF_AT_LEAST: loaded >= value,
                seccomp.JUMP_IF_ANY_BIT: bool(loaded & value),
            }
            at += yes if tests[code] else no
        at += 1


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("read", (0, 0, 0), 0),
        ("prlimit64", (0, 7), 0),
        ("prlimit64", (77, 7), errno.EPERM),
        ("setpriority", (0, 0, 5), 0),
        ("setpriority", (2, 0, 5), errno.EPERM),
        ("fchmodat", (-100, 0, 0o755), 0),
        ("fchmodat", (-100, 0, 0o4755), errno.EPERM),
        ("openat", (-100, 0, 0, 0o4755), 0),
        ("openat", (-100, 0, 0o100, 0o4755), errno.EPERM),
        ("mkdirat", (-100, 0, 0o2755), errno.EPERM),
        ("kill", (77, 9), 0),
        ("kill", (-1, 9), errno.EPERM),
        ("clone", (0x10000011,), errno.EPERM),
        ("clone", (0x11,), 0),
        ("ioctl", (0, 0x5412), errno.EPERM),
        ("socket", (1, 1 | 0x80000), 0),
        ("socket", (1, 3), errno.EACCES),
        ("socket", (2, 1), errno.EACCES),
        ("connect", (3,), errno.EACCES),
        ("inotify_init1", (0,), errno.ENOSYS),
    ],
)
def test_each_machines_filter_looks_into_calls(machine: str, name: str, arguments: tuple[int, ...], code: int) -> None:
    assert answer(machine, name, *arguments) == code


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_nobody_knows_are_not_there(machine: str) -> None:
    assert answer(machine, "", number=463) == errno.ENOSYS
    assert answer(machine, "", number=0x40000027) == errno.ENOSYS
    assert all(max(yes, no) < 256 for _, yes, no, _ in _program(machine))


@pytest.mark.parametrize("machine", MACHINES)
def test_with_the_network_only_ordinary_sockets_are_made(machine: str) -> None:
    kinds = {(2, 1, 0): 0, (10, 2, 0): 0, (16, 3, 0): 0, (16, 3, 15): 13, (38, 5, 0): 13, (40, 1, 0): 13}
    assert {kind: answer(machine, "socket", *kind, network=True) for kind in kinds} == kinds


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    return list(seccomp._Writer(*MACHINES[machine], network=True, is_alone=False).program())
