"""A process that closes itself to its own user; what it starts is an ordinary process again."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TOLD = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)"  # PR_GET_DUMPABLE
SERVER = f"""
import os, subprocess, sys
from apps.firewall.sandbox.privacy import hide_process
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
{TOLD}
hide_process()
{TOLD}
subprocess.run(["/bin/sh", "-c", "cat /proc/$PPID/environ || echo closed"], stderr=subprocess.DEVNULL)
subprocess.run(["/bin/sh", "-c", "cat /proc/$$/environ | tr '\\\\0' '\\\\n' | grep -c SECRET"])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux closes processes")
async def test_its_environment_is_closed_to_its_user_and_that_of_its_children_is_not() -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVER,
        env={"SECRET": "must not travel", "PYTHONPATH": str(ROOT), "PATH": os.defpath},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await server.communicate()

    before, after, environment, own = said.decode().split()
    assert after == "0"
    assert (before, environment, own) == (before, "closed", "1")
