"""A command without the network: real processes, asked to make sockets of every kind."""

import os
import sys
from pathlib import Path

import pytest

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
        time_limit_s=10.0,
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
