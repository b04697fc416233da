"""The process between us and a confined command: starts it, bounds its tree, ends it whole, tells how it went.

A launcher (`launcher.py`) forks one for each run, ahead of it; standard library only. The order comes through a socket
as one line of JSON, the report goes out as one. A process of its own is what makes the promises hold: orphans of the
command become its children, so leaving the process group or the session helps nobody to survive; and when our server
dies, however suddenly, it ends the tree and itself. Closing our side of the socket tells it to end.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from apps.firewall.sandbox.command import STREAMS, Launch, Order, become
from apps.firewall.sandbox.kernel import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, PR_SET_PDEATHSIG, prctl
from apps.firewall.sandbox.tree import end_tree, exceeded, reap, usage_of

POLL_S = 0.02
ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
AWAITED = {*ENDING, signal.SIGCHLD, signal.SIGIO}
SAID_BYTES = 65536
HIGHEST_SIGNAL = 64
BY_SIGNAL = 128
DESCRIPTORS = 1 + STREAMS
Report = dict[str, Any]


def supervise(hatch: socket.socket, launcher: int, launch: Launch) -> NoReturn:
    """Be a supervisor, in a process that was forked for it; signals in `AWAITED` are blocked already.

    Args:
        hatch: brings the descriptors of the one run it is for: the socket of its order, then three streams.
        launcher: whose end is ours.
    """
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_DUMPABLE, 0)  # a command of the same user cannot trace us where the kernel does not confine it
        if os.getppid() != launcher:
            os._exit(1)  # it died before we could ask to be told
        main = make_ready(hatch, launch)
        warm_up()
        _, descriptors, _, _ = socket.recv_fds(hatch, 1, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        if len(descriptors) != DESCRIPTORS:
            os._exit(0)  # the launcher ends, and nothing was asked of us
        serve(socket.socket(fileno=descriptors[0]), descriptors[1:], main)
    except BaseException:  # noqa: BLE001 - nothing may run on as a copy of the launcher
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


class Main(NamedTuple):
    """The process that will be the command.

    Args:
        orders: takes the order to it.
        status: a pipe; what bubblewrap says of the command's end.
    """

    pid: int
    orders: socket.socket
    status: int


def make_ready(hatch: socket.socket, launch: Launch) -> Main:
    """Fork the process that will be the command, ahead of its order."""
    ours, theirs = socket.socketpair()
    status, saying = os.pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        hatch.close()
        os.close(status)
        become(theirs, launch, saying)
    theirs.close()
    os.close(saying)
    os.set_blocking(status, False)
    return Main(pid, ours, status)


def warm_up() -> None:
    """Use once what every run uses: the first touch of a forked process's memory copies it."""
    limits = dict.fromkeys(("processes", "threads", "cpu_s", "written_bytes", "memory_bytes"), 1 << 60)
    exceeded(json.loads(json.dumps(limits)))


def serve(control: socket.socket, streams: list[int], main: Main) -> None:
    """Carry out the one order and report."""
    line = read_line(control)
    order: Order = json.loads(line)
    report = run(order, line, control, streams, main)
    with contextlib.suppress(OSError):  # nobody may want it any more
        control.sendall(json.dumps(report).encode() + b"\n")
    with contextlib.suppress(OSError, RecursionError):  # whoever started us looks whether it is gone
        remove(Path(order["temporary"]))


def read_line(control: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        part = control.recv(65536)
        if not part:
            os._exit(1)
        received += part
    return received


def run(order: Order, line: bytes, control: socket.socket, streams: list[int], main: Main) -> Report:
    """Carry out an order, which is `line` as it came, and return the report."""
    try:
        os.mkdir(order["temporary"], 0o700)  # noqa: PTH102 - each run waits
    except OSError as exc:
        return {"ended": "not_started", "error": exc.strerror or "unknown"}
    trouble = start(line, streams, main.orders)
    if trouble:
        end_tree(main.pid)
        return trouble
    ended, status = watch(main.pid, order, control)
    end_tree(main.pid)
    report: Report = {"ended": ended, "cpu_ms": int(usage_of([]).cpu_s * 1000)}
    if order["bubblewrap"]:
        told = words_of_bubblewrap(main.status)
        return report if status is None else {**report, **how_wrapped_ended(told, status)}
    return report if status is None else {**report, **how_ended(status)}


def start(line: bytes, streams: list[int], orders: socket.socket) -> Report:
    """Hand the order on; return why it did not begin, empty when it has."""
    with contextlib.suppress(ConnectionError):  # it has ended before its order: the answer says nothing, then
        sent = socket.send_fds(orders, [line], streams)
        if sent < len(line):
            orders.sendall(line[sent:])
    for stream in streams:  # they must not hold the command's pipes open
        os.close(stream)
    told = b""
    while part := orders.recv(65536):
        told += part
    return dict(json.loads(told)) if told else {}


def watch(main: int, order: Order, control: socket.socket) -> tuple[str, int | None]:
    """Wait for the end of the main process, or for a reason to end it."""
    fcntl.fcntl(control, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(control, fcntl.F_SETFL, fcntl.fcntl(control, fcntl.F_GETFL) | os.O_ASYNC)
    deadline = time.monotonic() + order["time_limit_s"]
    pause = order.get("watch_s", POLL_S)
    written = usage_of([]).written_bytes
    while True:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return "timed_out", None
        heard = signal.sigtimedwait(AWAITED, min(pause, remaining))
        status = reap(main)
        if status is not None:
            return "ended", status
        if (heard is not None and heard.si_signo in ENDING) or is_left(control):
            return "stopped", None
        passed = exceeded(order["limits"], written)
        if passed:
            return passed, None


def is_left(control: socket.socket) -> bool:
    """Say whether whoever started us has closed its side, or is gone."""
    return bool(select.select([control], [], [], 0)[0])


def how_ended(status: int) -> Report:
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return {"exit_code": os.WEXITSTATUS(status)}


def words_of_bubblewrap(status: int) -> list[Report]:
    try:
        said = os.read(status, SAID_BYTES)
    except BlockingIOError:
        return []
    return [json.loads(line) for line in said.splitlines()]


def how_wrapped_ended(told: list[Report], status: int) -> Report:
    """Tell a command's end from bubblewrap's own: the latter leaves no word of an exit code.

    A signal reaches us as a shell tells of it: 128 and its number.
    """
    if os.WIFSIGNALED(status):
        return how_ended(status)
    code = next((each["exit-code"] for each in told if "exit-code" in each), None)
    if code is None:
        return {"ended": "not_confined", "error": "it cannot be confined: bubblewrap ended before it began"}
    if BY_SIGNAL < code <= BY_SIGNAL + HIGHEST_SIGNAL:
        return {"signal": code - BY_SIGNAL}
    return {"exit_code": code}


def remove(path: Path) -> None:
    """Remove a file, or a folder with all it holds, whatever modes the command gave them; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    path.chmod(0o700)
    for each in path.iterdir():
        remove(each)
    path.rmdir()
