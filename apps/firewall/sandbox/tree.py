"""The tree of a command's processes: what it uses, and its end. Standard library only; the supervisor loads it."""

# pathlib takes several times as long, and each run waits for this
# ruff: noqa: PTH116, PTH123, PTH208
import contextlib
import os
import resource
import signal
from collections.abc import Iterator, Mapping
from typing import NamedTuple

PAGE_BYTES = resource.getpagesize()
TICKS = os.sysconf("SC_CLK_TCK")
SWEEPS = 500
SWEEP_S = 0.002
# Places in /proc/PID/stat, counted behind the name of the program.
CPU_FIELDS, THREADS_FIELD, SIZE_FIELD, RESIDENT_FIELD = slice(11, 15), 17, 20, 21
TABLES_SHARE = 512
"""The kernel's tables for a process's addresses are at most this share of what it has reserved, and count as its."""
TABLES_LOOKED_AT_BYTES = 16 << 20


class Usage(NamedTuple):  # no dataclass: importing that module costs the supervisor milliseconds
    """What a tree uses now.

    Args:
        tables_bytes: of memory, those that hold the kernel's tables of its addresses.
    """

    processes: int = 0
    threads: int = 0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    written_bytes: int = 0
    tables_bytes: int = 0


def children_of(pid: int) -> list[int]:
    """List the direct children of a process; none when it is gone."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended while we looked
        for thread in os.listdir(f"/proc/{pid}/task"):
            found.extend(int(word) for word in _text(f"/proc/{pid}/task/{thread}/children").split())
    return found


def descendants() -> list[int]:
    """List all processes below this one."""
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
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError):  # it ended while we looked
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def usage_of(pids: list[int]) -> Usage:
    """Measure processes below this one, with what those used that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    threads, ticks, resident, tables, written = 0, 0, 0, 0, _written("self")
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            numbers = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
            threads += int(numbers[THREADS_FIELD])
            ticks += sum(map(int, numbers[CPU_FIELDS]))
            resident += int(numbers[RESIDENT_FIELD]) * PAGE_BYTES
            tables += _tables(pid, int(numbers[SIZE_FIELD]))
            written += _written(str(pid))
    cpu_s = ended.ru_utime + ended.ru_stime + ticks / TICKS
    return Usage(len(pids), threads, cpu_s, resident + tables, written, tables)


def _tables(pid: int, size_bytes: int) -> int:
    """Measure the tables of a process's addresses, which touching a page here and there fills without its memory."""
    if size_bytes // TABLES_SHARE < TABLES_LOOKED_AT_BYTES:
        return 0
    return int(dict(_members(f"/proc/{pid}/status")).get("VmPTE", "0 kB").split()[0]) * 1024


def real_memory(pids: list[int]) -> int:
    """Count the bytes that processes have in memory, each shared page once: slower than `usage_of`, and exact."""
    total = 0
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            try:
                lines = dict(_members(f"/proc/{pid}/smaps_rollup"))
            except PermissionError:  # it has closed itself to others: all that it has counts as its own
                lines = {"Pss": dict(_members(f"/proc/{pid}/status")).get("VmRSS", "0 kB")}
            total += int(lines.get("Pss", "0 kB").split()[0]) * 1024
    return total


def exceeded(limits: Mapping[str, int], since_bytes: int = 0) -> str:
    """Name the limit that the tree below this process has passed, as `ended` reports it; empty while it has none.

    Args:
        since_bytes: written by this process before the tree began.
    """
    pids = descendants()
    used = usage_of(pids)
    if used.processes > limits["processes"] or used.threads > limits["threads"]:
        return "process_limit"
    if used.cpu_s > limits["cpu_s"] + 1:
        return "cpu_limit"
    if used.written_bytes - since_bytes > limits["written_bytes"]:
        return "disk_limit"
    if used.memory_bytes > limits["memory_bytes"] and real_memory(pids) + used.tables_bytes > limits["memory_bytes"]:
        return "memory_limit"
    return ""


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


def end_tree(main: int) -> None:
    """Kill and reap whatever is left of the tree; SIGCHLD is blocked."""
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
        signal.sigtimedwait({signal.SIGCHLD}, SWEEP_S)


def _written(pid: str) -> int:
    with contextlib.suppress(PermissionError, FileNotFoundError, ProcessLookupError):  # or the kernel does not count
        return int(dict(_members(f"/proc/{pid}/io")).get("write_bytes", "0"))
    return 0


def _members(path: str) -> Iterator[tuple[str, str]]:
    for line in _text(path).splitlines():
        name, _, value = line.partition(":")
        yield name, value.strip()


def _text(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()
