"""How strictly this machine can hold what runs, found out by trying; and what was found, for people."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

from apps.firewall.sandbox import bubblewrap
from apps.firewall.sandbox.landlock import confinement
from apps.firewall.sandbox.seccomp import filter_bytes, seccomp_problem

Level = Literal["none", "process", "filesystem", "isolated"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
TRIAL_LIMIT_S: Final = 10.0
MOUNTS: Final = str(Path(__file__).with_name("mounts.py"))


def level_named(name: str) -> Level:
    """Return a level by its name.

    Raises:
        KeyError: there is none of that name.
    """
    return {str(level): level for level in LEVELS}[name]


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a machine may offer.

    Args:
        problem: why it does not; empty when it works.
        version: of it, where there are several.
    """

    name: str
    problem: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip() if not self.problem else f"no {self.name}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a machine offers."""

    bubblewrap: Part
    landlock: Part
    seccomp: Part
    mounts: Part = Part("read-only mounts")
    is_linux: bool = True

    @property
    def highest(self) -> Level:
        """The strictest level that can be had."""
        return next(level for level in reversed(LEVELS) if not self.lacks(level))

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.bubblewrap, self.landlock, self.seccomp, self.mounts)

    def lacks(self, level: Level) -> str:
        """Say why a level cannot be had; empty when it can."""
        if level == "none":
            return ""
        if not self.is_linux:
            return "processes are held on Linux only"
        if level == "process":
            return ""
        if self.seccomp.problem:
            return self.seccomp.problem
        if level == "isolated" or self.landlock.problem:
            problem = self.bubblewrap.problem
            return f"{self.landlock.problem}; {problem}" if problem and level != "isolated" else problem
        return ""

    def __str__(self) -> str:
        return f"{self.highest}: {', '.join(map(str, self.parts))}"


@cache
def offer() -> Offer:
    """Try once what this machine offers."""
    files = confinement()
    landlock = Part("landlock", files.reason, f"abi {files.abi}" if files.abi else "")
    seccomp = Part("seccomp", seccomp_problem())
    mounts = Part("read-only mounts", mounts_problem())
    return Offer(Part("bubblewrap", bubblewrap_problem()), landlock, seccomp, mounts, sys.platform == "linux")


def bubblewrap_problem() -> str:
    """Run nothing in bubblewrap, exactly as commands are run; say why that fails, empty when it works."""
    program = bubblewrap.bubblewrap()
    if not program:
        return "bwrap is not installed"
    trial = os.path.realpath(shutil.which("true", path=bubblewrap.SEARCHED) or "/bin/true")
    if seccomp_problem():
        return seccomp_problem()
    with tempfile.TemporaryDirectory(prefix="openclaw-trial-") as folder, contextlib.ExitStack() as descriptors:
        reading, writing = os.pipe()
        descriptors.callback(os.close, reading)
        os.write(writing, filter_bytes(network=False))
        os.close(writing)
        status = descriptors.enter_context(tempfile.TemporaryFile())
        arguments = bubblewrap.arguments(
            [trial],
            executable=trial,
            cwd=folder,
            settings=folder,
            writable=[folder],
            readable=[],
            closed=[],
            network=False,
            filter_fd=reading,
            status_fd=status.fileno(),
        )
        return _tried([program, *arguments[1:]], (reading, status.fileno()))


def mounts_problem() -> str:
    """Say why the system cannot be made read-only to a process that Landlock holds; empty when it can."""
    with tempfile.TemporaryDirectory(prefix="openclaw-trial-") as folder:
        return _tried([sys.executable, "-I", "-S", MOUNTS, folder], ())


def _tried(argv: list[str], descriptors: tuple[int, ...]) -> str:
    try:
        ran = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=descriptors,
            env={},
            timeout=TRIAL_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        return f"it cannot be started: {exc}"
    if ran.returncode == 0:
        return ""
    said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1].removeprefix("bwrap: ") if said else f"it ends with code {ran.returncode}"
