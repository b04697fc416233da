"""Our side of the launchers: one for each interpreter and program, started when needed, and again when lost."""

import atexit
import contextlib
import itertools
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.launcher import BEGIN, KILL, MESSAGE

LAUNCHER = str(Path(__file__).with_name("launcher.py"))
# Of our own interpreter, which runs the file tools. Not its whole prefix: an installation may live in that.
PYTHON_FOLDERS = [f"{prefix}/{part}" for prefix in (sys.prefix, sys.base_prefix) for part in ("bin", "lib", "lib64")]
ATTEMPTS = 2
LEAVE_S = 2.0


class LauncherError(FirewallError):
    """The process that starts confined processes cannot be started itself."""

    code = "sandbox_unavailable"


class Forkserver:
    """Starts supervisors through a launcher.

    Args:
        python: the interpreter it runs in.
        program: a Python file that it keeps loaded; "" for none.
    """

    def __init__(self, python: str, program: str = "") -> None:
        self._argv = [python, "-I", *([] if program else ["-S"]), LAUNCHER, program, *PYTHON_FOLDERS]
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._front: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        atexit.register(self.close)

    def begin(self, control: int, streams: Sequence[int]) -> int:
        """Have a supervisor forked.

        Args:
            control: socket that it takes its order from.
            streams: what becomes stdin, stdout and stderr of the command.
        Returns:
            Its number, for `kill`.
        Raises:
            LauncherError: there is no launcher, and none can be started.
        """
        with self._lock:
            number = next(self._numbers)
            for _ in range(ATTEMPTS):
                if self._front is None or self._owner != os.getpid():  # a forked process needs one of its own
                    self._start()
                assert self._front is not None  # noqa: S101 - started
                with contextlib.suppress(ConnectionError):
                    socket.send_fds(self._front, [MESSAGE.pack(BEGIN, number)], [control, *streams])
                    return number
                self._leave()
        raise LauncherError("the process that starts commands ended at once")

    def kill(self, number: int) -> None:
        """End a supervisor that does not end; harmless when it has."""
        with self._lock, contextlib.suppress(ConnectionError):
            if self._front is not None:
                self._front.send(MESSAGE.pack(KILL, number))

    def close(self) -> None:
        """End the launcher and all that it started."""
        with self._lock:
            if self._owner == os.getpid():
                self._leave()

    def _start(self) -> None:
        front, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with contextlib.closing(theirs):
            try:
                self._process = subprocess.Popen(
                    self._argv,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env={"LANG": "C.UTF-8"},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as exc:
                front.close()
                message = f"the process that starts commands cannot be started: {exc.strerror}"
                raise LauncherError(message) from exc
        self._front, self._owner = front, os.getpid()

    def _leave(self) -> None:
        if self._front is not None:
            self._front.close()
            self._front = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(LEAVE_S)
            self._process = None


@cache
def forkserver(python: str = sys.executable, program: str = "") -> Forkserver:
    """Give this process's launcher for an interpreter and a program."""
    return Forkserver(python, program)
