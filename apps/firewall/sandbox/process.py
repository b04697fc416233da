"""Run one command in a bounded process tree, and come back only when the whole tree is gone."""

import asyncio
import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from apps.firewall.sandbox.bubblewrap import bubblewrap
from apps.firewall.sandbox.forkserver import forkserver
from apps.firewall.sandbox.landlock import confinement
from apps.firewall.sandbox.leash import Leash
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.seccomp import seccomp_problem
from apps.firewall.sandbox.space import Space
from apps.firewall.sandbox.supervised import CHUNK_BYTES, Supervised

PYTHON_SETTINGS = f"{sys.prefix}/pyvenv.cfg"
PATIENCE_S = 15.0  # beyond the limit that the supervisor itself keeps: a launcher may have to start first
RESERVING_WATCH_S = 0.1  # to count the memory of a dozen processes that share theirs takes a third of that
INSTALLATION = str(Path(__file__).resolve().parents[3])

Ended = Literal[
    "ended",
    "timed_out",
    "process_limit",
    "memory_limit",
    "cpu_limit",
    "disk_limit",
    "space_limit",
    "stopped",
    "not_started",
    "not_confined",
    "lost",
]


Watch: TypeAlias = Callable[[str, bytes], bytes]


@dataclass(frozen=True, slots=True)
class Captured:
    """What one stream said: its beginning, its end, and how many bytes between them were dropped."""

    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0

    def text(self) -> str:
        """Show the stream as text; a cut is stated where it is, bytes that are no UTF-8 become U+FFFD."""
        head = self.head.decode("utf-8", "replace")
        tail = self.tail.decode("utf-8", "replace")
        return f"{head}\n… {self.dropped} bytes dropped …\n{tail}" if self.dropped else head + tail


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """How a run went.

    Args:
        ended: `ended` by itself, `timed_out`, `process_limit` (too many processes or threads at once),
            `memory_limit`, `cpu_limit` and `disk_limit` (the tree used more than it may), `space_limit` (its workspace
            was full; `error` says how), `stopped` (told to end),
            `not_started` (`error` says why), `not_confined` (it did not start, because it cannot be held; `error` says
            why), `lost` (nobody knows: the supervisor was killed).
        exit_code: of the command itself, when it ended by itself.
        signal: the signal that ended the command, when one did.
        cpu_ms: CPU of the whole tree.
    """

    ended: Ended
    exit_code: int | None = None
    signal: int | None = None
    stdout: Captured = field(default_factory=Captured)
    stderr: Captured = field(default_factory=Captured)
    duration_ms: int = 0
    cpu_ms: int = 0
    error: str = ""


class Capture:
    """Keeps the two ends of a stream, half of the limit each."""

    def __init__(self, limit_bytes: int) -> None:
        self._half = max(1, limit_bytes // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, part: bytes) -> None:
        room = self._half - len(self._head)
        self._head += part[:room] if room > 0 else b""
        self._tail += part[max(room, 0) :]
        surplus = len(self._tail) - self._half
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus

    def kept(self) -> Captured:
        return Captured(bytes(self._head), bytes(self._tail), self._dropped)


async def run_process(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    limits: Limits,
    time_limit_s: float,
    output_limit_bytes: int,
    stdin: bytes | None = None,
    program: str = "",
    watch: Watch | None = None,
    leash: Leash | None = None,
    space: Space | None = None,
    **held: Any,
) -> ProcessResult:
    """Run a command without a shell, with nothing inherited, and wait until its whole tree has ended.

    Args:
        argv: the command; `argv[0]` is what it is told its name is.
        cwd: folder it starts in.
        env: its whole environment, but for TMPDIR: that names a folder which is gone after the run.
        output_limit_bytes: kept of stdout, and as much of stderr.
        stdin: what it may read; an empty device when None.
        program: a Python file, run by the interpreter `argv[0]` in a fork that has it loaded, instead of `argv`.
        watch: is given each part of `stdout` and `stderr` as it comes, and returns what of it is kept.
        leash: gets the way to the command, which reads what is written there and not `stdin`.
        space: watches over what the workspace holds, and ends the command when it is full.
        held: what `order_of` takes, too.
    Raises:
        asyncio.CancelledError: the caller was cancelled; the tree is gone by then.
        LauncherError: nothing can be started here.
    """
    order = order_of(argv, cwd=cwd, env=env, limits=limits, time_limit_s=time_limit_s, forked=bool(program), **held)
    if leash is not None:
        order["terminal"] = leash.has_terminal
    temporary = order["temporary"]
    started = time.monotonic()
    server = forkserver(argv[0], program) if program else forkserver()
    has_terminal = leash is not None and leash.has_terminal
    has_input = stdin is not None or leash is not None
    supervised = Supervised.begin(server, order, has_input=has_input, has_terminal=has_terminal)
    run = _Run(supervised, output_limit_bytes, watch or _kept_whole, leash)
    watching = None
    if space is not None and space.owns(order["workspace"]):
        watching = asyncio.create_task(run.watch_space(space, order["workspace"]))
    try:
        report = await run.follow(stdin, time_limit_s + PATIENCE_S)
    finally:
        if watching is not None:
            watching.cancel()
        if Path(temporary).exists():  # the supervisor was killed, or could not
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True))
    return _result(report, run, started)


def order_of(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    limits: Limits,
    time_limit_s: float,
    executable: str | None = None,
    workspace: str | None = None,
    forked: bool = False,
    **held: Any,
) -> dict[str, Any]:
    """Write the order for a supervisor.

    Where the kernel has Landlock (`landlock.confinement()`), the command uses files of the system, of its workspace and
    of a temporary folder of its own only; `landlock.py` says which.

    Args:
        executable: absolute path of the file to run; `argv[0]` when None.
        workspace: folder below which it may do anything with files; `cwd` when None.
        forked: the launcher's program runs, and nothing is executed.
        held: what `_confines` takes.
    """
    temporary = str(Path(tempfile.gettempdir(), f"openclaw-run-{secrets.token_hex(12)}").absolute())
    return {
        "argv": list(argv),
        "executable": executable or argv[0],
        "cwd": cwd,
        "env": {**env, "TMPDIR": temporary},
        "limits": asdict(limits),
        "time_limit_s": time_limit_s,
        "workspace": os.path.realpath(workspace or cwd),
        "temporary": temporary,
        "forked": forked,
        **_confines(**held),
    }


def _confines(
    *,
    readable: Sequence[str] = (),
    writable: Sequence[str] = (),
    closed: Sequence[str] = (),
    network: bool = True,
    isolated: bool = False,
    uses_python: bool = False,
    own_network: bool = False,
    mounts: Sequence[tuple[str, str]] = (),
    reserves: bool = False,
    data_bytes: int = 0,
    confines_files: bool = True,
) -> dict[str, Any]:
    """Write the part of an order that says what holds the command, and what it may use.

    Args:
        readable: further files and folders it may read.
        writable: further folders it may do anything in; each must be there.
        closed: folders that bubblewrap shows nobody, wherever they lie.
        network: whether it has the server's network, or none at all.
        isolated: bubblewrap holds it, in namespaces of its own, instead of Landlock.
        uses_python: it needs this server's interpreter.
        own_network: where bubblewrap holds it, it may use a loopback of its own, which leads nowhere else.
        mounts: folders of ours, and where bubblewrap shows each, read-only (`bubblewrap.PLACES`).
        reserves: it reserves more address space than others may, and its many processes share most of their memory.
        data_bytes: the kernel's limit of memory that each process may write to; 0 for none.
        confines_files: Landlock holds it, where the kernel has it.
    """
    return {
        "abi": confinement().abi if confines_files else 0,
        "seccomp": not seccomp_problem(),
        "bubblewrap": bubblewrap() if isolated else "",
        "uses_python": uses_python,
        "readable": [PYTHON_SETTINGS, *readable],
        "writable": list(writable),
        "closed": [INSTALLATION, *closed],
        "network": network,
        "own_network": own_network,
        "mounts": [list(each) for each in mounts],
        "reserves": reserves,
        "data_bytes": data_bytes,
        **({"watch_s": RESERVING_WATCH_S} if reserves else {}),
    }


def _result(report: Mapping[str, Any], run: "_Run", started: float) -> ProcessResult:
    """Put together what the supervisor reported and what was captured."""
    if run.refused:
        report = {"ended": "space_limit", "error": run.refused, "cpu_ms": report.get("cpu_ms", 0)}
    return ProcessResult(
        ended=report.get("ended", "lost"),
        exit_code=report.get("exit_code"),
        signal=report.get("signal"),
        stdout=run.stdout.kept(),
        stderr=run.stderr.kept(),
        duration_ms=int((time.monotonic() - started) * 1000),
        cpu_ms=report.get("cpu_ms", 0),
        error=report.get("error", ""),
    )


class _Run:
    """One supervisor and the streams of its command."""

    def __init__(self, supervised: Supervised, output_limit_bytes: int, watch: Watch, leash: Leash | None) -> None:
        self.supervised = supervised
        self._watch = watch
        self._leash = leash
        self.refused = ""
        self.stdout = Capture(output_limit_bytes)
        self.stderr = Capture(output_limit_bytes)

    async def follow(self, stdin: bytes | None, patience_s: float) -> dict[str, Any]:
        """Carry the streams, and take the report; `{}` when there is none."""
        try:
            async with asyncio.timeout(patience_s):
                return await self._carry(stdin)
        except TimeoutError:
            return {}
        finally:
            await asyncio.shield(self.supervised.end())

    async def watch_space(self, space: Space, workspace: str) -> None:
        """End the command when its workspace is full."""
        self.refused = (await space.watch(workspace)).message
        self.supervised.ask_to_end()

    async def _carry(self, stdin: bytes | None) -> dict[str, Any]:
        await self.supervised.hand_over()
        if self._leash is not None:
            self._leash.hold(self.supervised)
        async with asyncio.TaskGroup() as streams:
            streams.create_task(self._feed(stdin))
            streams.create_task(_drain(self.supervised.stdout, self.stdout, partial(self._watch, "stdout")))
            streams.create_task(_drain(self.supervised.stderr, self.stderr, partial(self._watch, "stderr")))
            report = streams.create_task(self.supervised.report())
        return report.result()

    async def _feed(self, stdin: bytes | None) -> None:
        pipe = self.supervised.stdin
        if pipe is None or self._leash is not None or pipe.is_closing():  # it may have ended before it could read
            return
        with contextlib.suppress(BrokenPipeError, ConnectionError):  # the command need not read
            pipe.write(stdin or b"")
            await pipe.drain()
            pipe.close()


async def _drain(stream: asyncio.StreamReader, capture: Capture, watch: Callable[[bytes], bytes]) -> None:
    while part := await stream.read(CHUNK_BYTES):
        capture.add(watch(part))


def _kept_whole(stream: str, part: bytes) -> bytes:  # noqa: ARG001
    return part
