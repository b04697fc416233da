"""The program between us and a confined command: starts it, bounds its tree, ends it whole, tells how it went.

Runs as `python -I -S supervisor.py FD`, standard library only. FD is a socket: the order comes in as one line of
JSON, the report goes out as one. A process of its own is what makes the promises hold: it is single-threaded, so
forking and setting limits is safe; orphans of the command become its children, so leaving the process group or
the session helps nobody to survive; and when our server dies, however suddenly, it ends the tree and itself.
"""

import contextlib
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.append(__file__.rsplit("/", 4)[0])  # it runs with no path but the standard library's

from apps.firewall.sandbox import landlock, seccomp

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITIES = 64
POLL_S = 0.02
SWEEPS = 500
AWAITED = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}
ENDING = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def children_of(pid: int) -> list[int]:
    """List the direct children of a process; none when it is gone."""
    found: list[int] = []
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            text = (thread / "children").read_text(encoding="ascii")
            found.extend(int(word) for word in text.split())
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended while we looked
    return found


def descendants() -> list[int]:
    found: list[int] = []
    waiting = children_of(os.getpid())
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting.extend(children_of(pid))
    return found


def tasks_of_user() -> int:
    """Count the tasks of our user: the kernel's process limit counts these, not the tree."""
    count = 0
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it ended while we looked
            if entry.name.isdigit() and entry.stat().st_uid == os.getuid():
                count += len(list((entry / "task").iterdir()))
    return count


def set_limits(limits: dict[str, int]) -> None:
    bounds = {
        resource.RLIMIT_CPU: (limits["cpu_s"], limits["cpu_s"] + 1),
        resource.RLIMIT_AS: (limits["memory_bytes"],) * 2,
        resource.RLIMIT_FSIZE: (limits["file_bytes"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        resource.RLIMIT_CORE: (0, 0),
    }
    if os.getuid() != 0:  # the kernel does not hold root to it; the count in `watch` holds everybody
        bounds[resource.RLIMIT_NPROC] = (tasks_of_user() + limits["processes"],) * 2
    for name, (soft, hard) in bounds.items():
        highest = resource.getrlimit(name)[1]
        if highest != resource.RLIM_INFINITY:
            soft, hard = min(soft, highest), min(hard, highest)
        resource.setrlimit(name, (soft, hard))


def give_up_powers() -> None:
    """Leave the command none of root's powers: without this, one that root's server runs could set the clock, mount,
    or read another process's memory and environment."""
    with contextlib.suppress(OSError):  # a kernel without ambient capabilities
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(CAPABILITIES):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return  # the kernel knows no further ones, or whoever started us has taken this power from us before


class NotRunError(Exception):
    """The command does not run; `ended` is how the report names it."""

    def __init__(self, ended: str, message: str) -> None:
        super().__init__(message)
        self.ended = ended


def not_confined(code: int) -> NotRunError:
    return NotRunError("not_confined", f"it cannot be confined: {os.strerror(code)}")


@contextlib.contextmanager
def rules_of(order: dict[str, Any]) -> Iterator[int | None]:
    """Make the rules about files that hold for the command; None where the kernel cannot hold it to any.

    Raises:
        NotRunError: the program lies where no command may use files, or the kernel did not take the rules.
    """
    if not order["abi"]:
        yield None
        return
    writable = [order["workspace"], order["temporary"]]
    runnable = landlock.programs(order["python_folders"], order["workspace"])
    program = Path(order["cwd"], order["executable"]).resolve()
    if program.exists() and not any(landlock.is_beneath(str(program), each) for each in (*runnable, *writable)):
        raise NotRunError("not_started", f"`{program}` lies outside the folders that commands may use")
    try:
        rules = landlock.ruleset(order["abi"], runnable=runnable, readable=order["readable"], writable=writable)
    except OSError as exc:
        raise not_confined(exc.errno or errno.EINVAL) from exc
    try:
        yield rules
    finally:
        os.close(rules)


def become(order: dict[str, Any], rules: int | None, trouble: int) -> NoReturn:
    """Turn this forked process into the command; an error goes through the pipe `trouble`."""
    stage = "start"
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.chdir(order["cwd"])
        os.umask(0o077)
        set_limits(order["limits"])
        if rules is not None:
            stage = "confine"
            landlock.restrict(rules)  # before root's powers go: opening the rules' paths may need them
            stage = "start"
        give_up_powers()
        if not order["network"]:
            stage = "confine"
            seccomp.deny_network()
            stage = "start"
        for name in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(name, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(order["executable"], order["argv"], order["env"])
    except (OSError, ValueError) as exc:
        code = exc.errno if isinstance(exc, OSError) and exc.errno else errno.EINVAL
        os.write(trouble, f"{stage} {code}".encode())
    finally:
        os._exit(127)


def start(order: dict[str, Any]) -> int:
    """Fork and execute.

    Raises:
        OSError: the command could not be started.
        NotRunError: it may not be.
    """
    reading, writing = os.pipe()
    with rules_of(order) as rules:
        pid = os.fork()
        if pid == 0:
            become(order, rules, writing)
    os.close(writing)
    trouble = os.read(reading, 32).decode()
    os.close(reading)
    if trouble:
        os.waitpid(pid, 0)
        stage, code = trouble.split()
        if stage == "confine":
            raise not_confined(int(code))
        raise OSError(int(code), os.strerror(int(code)))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # ours are copies of the command's: they must not hold its pipes open
        os.dup2(nothing, stream)
    return pid


def reap(main: int) -> int | None:
    """Take the status of everything that ended; the main process's own is returned."""
    status = None
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == main:
            status = code


def watch(main: int, order: dict[str, Any]) -> tuple[str, int | None]:
    deadline = time.monotonic() + order["time_limit_s"]
    pause = order.get("watch_s", POLL_S)
    while True:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return "timed_out", None
        heard = signal.sigtimedwait(AWAITED, min(pause, remaining))
        status = reap(main)
        if status is not None:
            return "ended", status
        if heard is not None and heard.si_signo in ENDING:
            return "stopped", None
        if len(descendants()) > order["limits"]["processes"]:
            return "process_limit", None


def end_tree(main: int) -> None:
    """Kill and reap whatever is left of the tree."""
    for _ in range(SWEEPS):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(main, signal.SIGKILL)  # at once for all that stayed in the group: a fork bomb cannot outrun it
        left = descendants()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        reap(main)
        if not left:
            return
        time.sleep(0.002)


def read_order(control: socket.socket) -> dict[str, Any]:
    received = b""
    while not received.endswith(b"\n"):
        part = control.recv(65536)
        if not part:
            sys.exit(1)
        received += part
    order: dict[str, Any] = json.loads(received)
    return order


def run(order: dict[str, Any]) -> dict[str, Any]:
    try:
        Path(order["temporary"]).mkdir(0o700)
        main = start(order)
    except NotRunError as exc:
        return {"ended": exc.ended, "error": str(exc)}
    except OSError as exc:
        return {"ended": "not_started", "error": exc.strerror or "unknown"}
    ended, status = watch(main, order)
    end_tree(main)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report: dict[str, Any] = {"ended": ended, "cpu_ms": int((used.ru_utime + used.ru_stime) * 1000)}
    if status is not None and os.WIFSIGNALED(status):
        report["signal"] = os.WTERMSIG(status)
    elif status is not None:
        report["exit_code"] = os.WEXITSTATUS(status)
    return report


def remove(path: Path) -> None:
    """Remove a file, or a folder with all it holds, whatever modes the command gave them; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    path.chmod(0o700)
    for each in path.iterdir():
        remove(each)
    path.rmdir()


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_DUMPABLE, 0)  # a command of the same user cannot trace us where the kernel does not confine it
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    order = read_order(control)
    if os.getppid() != order["parent"]:
        sys.exit(1)  # it died before we could ask to be told
    try:
        control.sendall(json.dumps(run(order)).encode() + b"\n")
    finally:
        control.close()  # whoever started us has the report, however long removing takes
        with contextlib.suppress(OSError, RecursionError):  # whoever started us looks whether it is gone
            remove(Path(order["temporary"]))


if __name__ == "__main__":
    main()
