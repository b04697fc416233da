"""The process that forks: warm, small and single-threaded, so that a run starts in a millisecond and not in fifty.

Runs as `python -I [-S] launcher.py PROGRAM FOLDER…`; its socket is stdin. Each message of it brings the descriptors
of one run, which go to a supervisor that was forked ahead; then the next one is. The launcher itself never reads an
order: what one call says stays out of the memory that later ones are copied from. PROGRAM, unless it is empty, is a
Python file that is loaded once; orders may run its `main` instead of executing a command. The folders are those of the
server's interpreter. When the server's side of the socket closes, the launcher ends, and all that it started with it.
"""

import contextlib
import fcntl
import gc
import importlib.util
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

if __name__ == "__main__":
    ROOT: Final = __file__.rsplit("/", 4)[0]
    sys.path.append(ROOT)  # it runs with no path but the standard library's

from apps.firewall.sandbox import bubblewrap
from apps.firewall.sandbox.command import Launch
from apps.firewall.sandbox.kernel import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, prctl
from apps.firewall.sandbox.landlock import programs
from apps.firewall.sandbox.mounts import make_read_only, make_writable
from apps.firewall.sandbox.seccomp import make_template
from apps.firewall.sandbox.supervisor import AWAITED, DESCRIPTORS, supervise
from apps.firewall.sandbox.tree import children_of

BEGIN, KILL = b"b", b"k"
MESSAGE = struct.Struct("=cQ")
SPARES = 2
LOOK_S = 1.0
HASTE_S = 0.015
"""How long after a run began nothing is made ready, while something is: the run has the machine to itself."""


class Launcher:
    """Keeps supervisors ready, hands each message to one, and counts them."""

    def __init__(self, front: socket.socket, launch: Launch) -> None:
        self._front = front
        self._launch = launch
        self._spares: list[tuple[int, socket.socket]] = []
        self._supervisors: dict[int, int] = {}
        self._begun_at = 0.0

    def serve(self) -> None:
        """Go on until the server's side is closed."""
        while True:
            for word, number, descriptors in self._messages():
                if word == BEGIN:
                    self._begin(number, descriptors)
                elif word == KILL:
                    self._kill(number)
                else:
                    return
            pause_s = self._pause_s()
            if pause_s <= 0:
                self._make_ready()
                continue  # more may have arrived meanwhile
            heard = signal.sigtimedwait(AWAITED, pause_s)
            if heard is not None and heard.si_signo == signal.SIGTERM:
                return
            if heard is None or heard.si_signo == signal.SIGCHLD:
                self._reap()

    def _pause_s(self) -> float:
        """Say how long nothing has to be done unless something arrives."""
        if len(self._spares) == SPARES:
            return LOOK_S
        return self._begun_at + HASTE_S - time.monotonic() if self._spares else 0.0

    def _messages(self) -> Iterator[tuple[bytes, int, list[int]]]:
        """Take what has arrived; an empty word at last when there will be no more."""
        while True:
            try:
                content, descriptors, _, _ = socket.recv_fds(
                    self._front, MESSAGE.size, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
                )
            except BlockingIOError:
                return
            except ConnectionError:
                content, descriptors = b"", []
            if len(content) != MESSAGE.size:
                yield b"", 0, []
                return
            word, number = MESSAGE.unpack(content)
            yield word, number, descriptors

    def _begin(self, number: int, descriptors: list[int]) -> None:
        while True:
            if not self._spares:
                self._make_ready(descriptors)
            pid, hatch = self._spares.pop(0)
            with contextlib.closing(hatch), contextlib.suppress(ConnectionError):  # somebody may have killed it
                socket.send_fds(hatch, [BEGIN], descriptors)
                break
        self._supervisors[pid] = number
        self._begun_at = time.monotonic()
        for descriptor in descriptors:
            os.close(descriptor)

    def _make_ready(self, held: Sequence[int] = ()) -> None:
        """Fork a supervisor.

        Args:
            held: descriptors of a run, which come to it by its hatch: the command must not find them open.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        launcher = os.getpid()
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._front.close()
            for descriptor in held:
                os.close(descriptor)
            for _, hatch in self._spares:
                hatch.close()
            supervise(theirs, launcher, self._launch)
        theirs.close()
        self._spares.append((pid, ours))
        self._supervisors[pid] = 0

    def _kill(self, number: int) -> None:
        for pid, known in self._supervisors.items():
            if known == number:
                os.kill(pid, signal.SIGKILL)  # it was not reaped, so that the number is still its own

    def _reap(self) -> None:
        """Take the status of supervisors that ended, and end what those left that were killed."""
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                self._supervisors.pop(pid, None)
                self._spares = [each for each in self._spares if each[0] != pid]
        for pid in children_of(os.getpid()):
            if pid not in self._supervisors:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def load(path: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Load a program once for all forks; return what runs it, and what gets a fork ready to."""
    spec = importlib.util.spec_from_file_location("launched", path)
    assert spec is not None and spec.loader is not None  # noqa: S101 - the path ends with .py
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["launched"] = module
    spec.loader.exec_module(module)
    module.prepare()
    module.warm_up()
    return module.main, module.warm_up


def can_make_read_only(folder: str) -> bool:
    """Try in a fork whether a command can be given a system that is read-only."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(OSError):
            make_read_only()
            make_writable([folder])
            os._exit(0)
        os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)
    front = socket.socket(fileno=os.dup(0))
    front.set_inheritable(False)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    front.setblocking(False)
    sys.path.remove(ROOT)
    settings = tempfile.mkdtemp(prefix="openclaw-settings-")
    tempfile.tempdir = None  # what is forked has a folder of its own
    try:
        bubblewrap.copy_settings(settings)
        path, *folders = sys.argv[1:]
        loaded = load(path) if path else ()
        launch = Launch(settings, tuple(programs(folders)), tuple(folders), can_make_read_only(settings), *loaded)
        bubblewrap.folders(), bubblewrap.links()  # made once for all forks, as the filters
        for network, is_alone in product((False, True), repeat=2):
            with contextlib.suppress(OSError):  # a machine without it: orders that need it fail
                make_template(network=network, is_alone=is_alone)
        gc.collect()
        gc.freeze()  # collecting would copy the pages that forks share
        fcntl.fcntl(front, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(front, fcntl.F_SETFL, fcntl.fcntl(front, fcntl.F_GETFL) | os.O_ASYNC)
        Launcher(front, launch).serve()
    finally:
        shutil.rmtree(settings, ignore_errors=True)


if __name__ == "__main__":
    main()
