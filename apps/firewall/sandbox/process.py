"""Run one command in a bounded process tree, and come back only when the whole tree is gone."""

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from apps.firewall.sandbox.landlock import confinement
from apps.firewall.sandbox.limits import Limits

SUPERVISOR = str(Path(__file__).with_name("supervisor.py"))
GRACE_S = 3.0
CHUNK_BYTES = 65536
# Of our own interpreter, which runs the file tools. Not its whole prefix: an installation may live in that.
PYTHON_FOLDERS = [f"{prefix}/{part}" for prefix in (sys.prefix, sys.base_prefix) for part in ("bin", "lib", "lib64")]
PYTHON_SETTINGS = f"{sys.prefix}/pyvenv.cfg"

Ended = Literal["ended", "timed_out", "process_limit", "stopped", "not_started", "not_confined", "lost"]


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
        ended: `ended` by itself, `timed_out`, `process_limit` (too many processes at once), `stopped` (told to
            end), `not_started` (`error` says why), `not_confined` (it did not start, because it cannot be held to its
            files; `error` says why), `lost` (nobody knows: the supervisor was killed).
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
    executable: str | None = None,
    workspace: str | None = None,
    readable: Sequence[str] = (),
    network: bool = True,
) -> ProcessResult:
    """Run a command without a shell, with nothing inherited, and wait until its whole tree has ended.

    Where the kernel has Landlock (`landlock.confinement()`), it uses files of the system, of its workspace and of a
    temporary folder of its own only; `landlock.py` says which.

    Args:
        argv: the command; `argv[0]` is what it is told its name is.
        cwd: folder it starts in.
        env: its whole environment, but for TMPDIR: that names a folder which is gone after the run.
        output_limit_bytes: kept of stdout, and as much of stderr.
        stdin: what it may read; an empty device when None.
        executable: absolute path of the file to run; `argv[0]` when None.
        workspace: folder below which it may do anything with files; `cwd` when None.
        readable: further files and folders it may read.
        network: whether it has the server's network, or none at all.
    Raises:
        asyncio.CancelledError: the caller was cancelled; the tree is gone by then.
    """
    order = order_of(
        argv,
        cwd=cwd,
        env=env,
        limits=limits,
        time_limit_s=time_limit_s,
        executable=executable,
        workspace=workspace,
        readable=readable,
        network=network,
    )
    temporary = order["temporary"]
    started = time.monotonic()
    ours, theirs = socket.socketpair()
    with contextlib.closing(ours), contextlib.closing(theirs):
        ours.setblocking(False)
        supervisor = await start_supervisor(theirs.fileno(), has_input=stdin is not None)
        theirs.close()
        run = _Run(supervisor, ours, output_limit_bytes)
        try:
            report = await run.follow(order, stdin, time_limit_s + GRACE_S)
        finally:
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
    readable: Sequence[str] = (),
    network: bool = True,
) -> dict[str, Any]:
    """Write the order for a supervisor; `run_process` says what the arguments mean."""
    temporary = str(Path(tempfile.gettempdir(), f"openclaw-run-{secrets.token_hex(12)}").absolute())
    return {
        "argv": list(argv),
        "executable": executable or argv[0],
        "cwd": cwd,
        "env": {**env, "TMPDIR": temporary},
        "limits": asdict(limits),
        "time_limit_s": time_limit_s,
        "parent": os.getpid(),
        "abi": confinement().abi,
        "workspace": os.path.realpath(workspace or cwd),
        "temporary": temporary,
        "python_folders": PYTHON_FOLDERS,
        "readable": [PYTHON_SETTINGS, *readable],
        "network": network,
    }


async def start_supervisor(control: int, *, has_input: bool) -> asyncio.subprocess.Process:
    """Start the program that holds the tree; it takes its order from the socket `control`.

    Started from the loop's own thread on purpose: the kernel ties the death signal to the thread that forks.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-S",
        SUPERVISOR,
        str(control),
        stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={},
        cwd="/",
        pass_fds=(control,),
        start_new_session=True,
    )


async def end_supervisor(supervisor: asyncio.subprocess.Process) -> None:
    """Ask a supervisor to end its tree, then insist, then reap it."""
    if supervisor.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            supervisor.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(GRACE_S):
                await supervisor.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                supervisor.kill()
    await supervisor.wait()
    supervisor._transport.close()  # type: ignore[attr-defined]


async def take_report(control: socket.socket) -> dict[str, Any]:
    """Take what a supervisor says when its tree is gone; `{}` when it was killed."""
    loop = asyncio.get_running_loop()
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := await loop.sock_recv(control, CHUNK_BYTES):
            received += part
    report: dict[str, Any] = json.loads(received) if received.endswith(b"\n") else {}
    return report


def _result(report: Mapping[str, Any], run: "_Run", started: float) -> ProcessResult:
    """Put together what the supervisor reported and what was captured."""
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

    def __init__(self, supervisor: asyncio.subprocess.Process, control: socket.socket, output_limit_bytes: int) -> None:
        self.supervisor = supervisor
        self.control = control
        self.stdout = Capture(output_limit_bytes)
        self.stderr = Capture(output_limit_bytes)

    async def follow(self, order: dict[str, Any], stdin: bytes | None, patience_s: float) -> dict[str, Any]:
        """Give the order, carry the streams, and take the report; `{}` when there is none."""
        try:
            async with asyncio.timeout(patience_s):
                return await self._carry(order, stdin)
        except TimeoutError:
            return {}
        finally:
            await asyncio.shield(end_supervisor(self.supervisor))

    async def _carry(self, order: dict[str, Any], stdin: bytes | None) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            await loop.sock_sendall(self.control, json.dumps(order).encode() + b"\n")
        async with asyncio.TaskGroup() as streams:
            streams.create_task(self._feed(stdin))
            streams.create_task(self._drain("stdout"))
            streams.create_task(self._drain("stderr"))
            report = streams.create_task(take_report(self.control))
        return report.result()

    async def _feed(self, stdin: bytes | None) -> None:
        pipe = self.supervisor.stdin
        if pipe is None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionError):  # the command need not read
            pipe.write(stdin or b"")
            await pipe.drain()
            pipe.close()
            await pipe.wait_closed()

    async def _drain(self, name: Literal["stdout", "stderr"]) -> None:
        stream: asyncio.StreamReader | None = getattr(self.supervisor, name)
        capture: Capture = getattr(self, name)
        while stream is not None and (part := await stream.read(CHUNK_BYTES)):
            capture.add(part)
