"""The process that becomes a command: made ahead of its order, it confines itself and executes it.

Standard library only. Nothing that was ordered before is in its memory: it is forked from a launcher that reads no
orders, waits for one, and serves no second.
"""

import contextlib
import errno
import json
import os
import resource
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from apps.firewall.sandbox import bubblewrap, landlock, mounts, seccomp
from apps.firewall.sandbox.kernel import (
    PR_CAP_AMBIENT,
    PR_CAPBSET_DROP,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_capabilities,
    prctl,
)
from apps.firewall.sandbox.terminal import take_terminal
from apps.firewall.sandbox.tree import tasks_of_user

PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITIES = 64
LAST_DESCRIPTOR = 65536
STREAMS = 3
ADDRESSES_BYTES = 1 << 38
"""Address space of a process: interpreters reserve a hundred times what they use, which the supervisor watches."""
OF_PYTHON = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)  # what it takes or ignores as it starts
Order = dict[str, Any]


class Launch(NamedTuple):
    """What a launcher hands to the processes that it forks.

    Args:
        settings: folder with copies of the system's settings; see `bubblewrap.copy_settings`.
        programs: folders whose files a command may read and run, by their real paths.
        python_folders: those of the server's interpreter among them.
        is_read_only: whether this machine can make the system read-only to a command (`mounts`).
        main: what an order with `forked` runs, loaded before.
        warm_up: what it does ahead of an order, so that the order finds everything used once.
    """

    settings: str
    programs: tuple[str, ...]
    python_folders: tuple[str, ...]
    is_read_only: bool
    main: Callable[[], object] | None = None
    warm_up: Callable[[], object] | None = None

    @property
    def is_forking(self) -> bool:
        """Say whether nothing is ever executed."""
        return self.main is not None


class NotRunError(Exception):
    """The command does not run; `ended` is how the report names it."""

    def __init__(self, ended: str, message: str) -> None:
        super().__init__(message)
        self.ended = ended


class NotConfinedError(NotRunError):
    """The command does not run because it cannot be held."""

    def __init__(self, exc: OSError) -> None:
        super().__init__("not_confined", f"it cannot be confined: {exc.strerror or 'unknown'}")


class Ready(NamedTuple):
    """What is made ahead of an order, whatever it will say.

    Args:
        rules: a ruleset of Landlock with what every command may use; -1 for none.
        filters: with and without the network, a pipe that holds the filter for bubblewrap.
        status: where bubblewrap writes how the command ended.
    """

    rules: int
    filters: dict[bool, int]
    status: int


def become(orders: socket.socket, launch: Launch, status: int) -> NoReturn:
    """Make ready, wait for an order, and become what it says.

    Its socket closes when that has begun; before that, it carries the reason why not.

    Args:
        status: where bubblewrap writes how the command ended.
    """
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        os.umask(0o077)
        for name in OF_PYTHON:
            signal.signal(name, signal.SIG_DFL)
        abi = landlock.confinement().abi
        rules = landlock.ruleset(abi, launch.programs) if abi else -1
        ready = Ready(rules, {} if launch.is_forking else make_filters(), status)
        if launch.warm_up is not None:
            launch.warm_up()
        if launch.is_read_only and launch.is_forking:
            mounts.make_read_only()
        order = take_order(orders)
        if order.get("terminal"):
            take_terminal()
        set_limits(order["limits"], reserves=order["reserves"], data_bytes=order["data_bytes"])
        os.chdir(order["cwd"])
        if order["abi"] or order["bubblewrap"]:
            check_program(order, launch)
        hold(order, launch, ready)
    except NotRunError as exc:
        tell(orders, exc.ended, str(exc))
    except (OSError, ValueError) as exc:
        tell(orders, "not_started", getattr(exc, "strerror", None) or os.strerror(errno.EINVAL))
    finally:
        os._exit(127)


def take_order(orders: socket.socket) -> Order:
    """Take an order and the three streams that come with it."""
    head, streams, _, _ = socket.recv_fds(orders, 65536, STREAMS, socket.MSG_CMSG_CLOEXEC)
    if len(streams) != STREAMS:
        os._exit(1)  # nobody orders anything any more
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
        os.close(descriptor)
    received = bytearray(head)
    while not received.endswith(b"\n"):
        received += orders.recv(65536) or b"\n"
    order: Order = json.loads(received)
    return order


def tell(orders: socket.socket, ended: str, message: str) -> None:
    orders.sendall(json.dumps({"ended": ended, "error": message}).encode())


def set_limits(limits: dict[str, int], *, reserves: bool, data_bytes: int) -> None:
    bounds = {
        resource.RLIMIT_CPU: (limits["cpu_s"], limits["cpu_s"] + 1),
        resource.RLIMIT_AS: (ADDRESSES_BYTES,) * 2,
        resource.RLIMIT_FSIZE: (limits["file_bytes"],) * 2,
        resource.RLIMIT_NOFILE: (limits["open_files"],) * 2,
        resource.RLIMIT_CORE: (0, 0),
    }
    if reserves:
        del bounds[resource.RLIMIT_AS]
    if data_bytes:
        bounds[resource.RLIMIT_DATA] = (data_bytes,) * 2
    if os.getuid() != 0:  # the kernel does not hold root to it; the supervisor's count holds everybody
        bounds[resource.RLIMIT_NPROC] = (tasks_of_user() + limits["threads"],) * 2
    for name, (soft, hard) in bounds.items():
        highest = resource.getrlimit(name)[1]
        if highest != resource.RLIM_INFINITY:
            soft, hard = min(soft, highest), min(hard, highest)
        resource.setrlimit(name, (soft, hard))


def check_program(order: Order, launch: Launch) -> None:
    """Refuse a program that lies where no command may use files.

    Raises:
        NotRunError: it does.
    """
    program = os.path.realpath(os.path.join(order["cwd"], order["executable"]))  # noqa: PTH118 - each run waits
    folders = (*launch.programs, *writable_of(order))
    if not any(landlock.is_beneath(program, each) for each in folders) and Path(program).exists():
        raise NotRunError("not_started", f"`{program}` lies outside the folders that commands may use")


def writable_of(order: Order) -> list[str]:
    return [order["workspace"], order["temporary"], *order["writable"]]


def hold(order: Order, launch: Launch, ready: Ready) -> NoReturn:
    """Take from this process what the order does not leave it, and go on as the command.

    Raises:
        OSError, ValueError: it cannot be executed.
        NotConfinedError: it cannot be held.
    """
    program, argv = order["executable"], order["argv"]
    try:
        if order["bubblewrap"]:  # it needs the powers that it takes from the command
            program, argv = order["bubblewrap"], bubblewrap_arguments(order, launch, ready)
        else:
            hold_files(order, launch, ready.rules)
            give_up_powers()
            if order["seccomp"] or not order["network"]:
                seccomp.refuse_calls(network=order["network"])
    except OSError as exc:
        raise NotConfinedError(exc) from exc
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    if order["forked"]:
        go_on(order, launch)
    os.execve(program, argv, order["env"])


def hold_files(order: Order, launch: Launch, rules: int) -> None:
    """Hold this process to its files, where the kernel can; before root's powers go, which opening paths may need."""
    abi = order["abi"]
    if abi and any(landlock.is_beneath(order["workspace"], each) for each in launch.programs):
        rules = landlock.ruleset(abi, landlock.programs(launch.programs, order["workspace"]))
    if abi and launch.is_read_only and not launch.is_forking:  # bubblewrap, which may have been ordered, does so itself
        mounts.make_read_only()
    if launch.is_read_only and (abi or launch.is_forking):
        mounts.make_writable(writable_of(order))
        os.chdir(order["cwd"])  # the folder as it is mounted now
    if abi:
        landlock.allow(rules, abi, readable=order["readable"], writable=writable_of(order))
        landlock.restrict(rules)


def give_up_powers() -> None:
    """Leave the command none of root's powers: without this, one that root's server runs could set the clock, mount,
    or read another process's memory and environment."""
    with contextlib.suppress(OSError):  # a kernel without ambient capabilities
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(CAPABILITIES):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # the kernel knows no further ones, or whoever started us has taken this power from us before
    drop_capabilities()


def make_filters() -> dict[bool, int]:
    """Put each filter of system calls into a pipe; none on a machine without: an order that needs one fails."""
    with contextlib.suppress(OSError):
        return {network: _filled(seccomp.filter_bytes(network=network)) for network in (False, True)}
    return {}


def _filled(content: bytes) -> int:
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return reading


def bubblewrap_arguments(order: Order, launch: Launch, ready: Ready) -> list[str]:
    """Write the command line of bubblewrap; its descriptors go on through `execve`."""
    network = order["network"] or order["own_network"]
    reading = ready.filters.get(network, -1)
    if reading < 0:
        reading = _filled(seccomp.filter_bytes(network=network))
    os.set_inheritable(reading, True)
    os.set_inheritable(ready.status, True)
    return bubblewrap.arguments(
        order["argv"],
        executable=order["executable"],
        cwd=order["cwd"],
        settings=launch.settings,
        writable=writable_of(order),
        readable=[*(launch.python_folders if order["uses_python"] else ()), *order["readable"]],
        closed=[*order["closed"], order["workspace"]],
        network=order["network"],
        mounts=order["mounts"],
        filter_fd=reading,
        status_fd=ready.status,
    )


def go_on(order: Order, launch: Launch) -> NoReturn:
    """Be the program that the launcher has loaded, without executing anything."""
    os.closerange(STREAMS, LAST_DESCRIPTOR)
    prctl(PR_SET_DUMPABLE, 1)  # it may look at its own part of /proc, as one that was executed
    os.environ.clear()
    os.environ.update(order["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # as Python starts
        signal.signal(ignored, signal.SIG_IGN)
    assert launch.main is not None  # noqa: S101 - whoever orders it knows that it is loaded
    launch.main()
    os._exit(0)
