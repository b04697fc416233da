"""Plugins seen from the server: one confined process for each, kept while it is used, spoken with in lines of JSON."""

import asyncio
import contextlib
import itertools
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.hooks.handlers import HookFailedError
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.pipes import PipedProcess, piped_process
from apps.firewall.sandbox.process import run_process
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.python_tools import PATH, PythonTools
from apps.firewall.tools.remote_json import JsonRefusedError, plain_text, read_json

HOST: Final = str(Path(__file__).with_name("host.py"))
GROUP: Final = "openclaw_admin.hooks"
LIMITS: Final = Limits(cpu_s=600, processes=96)
LIFETIME_S: Final = 3600.0
AGE_LIMIT_S: Final = 1800.0
IDLE_S: Final = 120.0
START_LIMIT_S: Final = 10.0
LIST_LIMIT_S: Final = 20.0
ERRORS_KEPT_BYTES: Final = 8 * 1024
EVENT_LIMIT_BYTES: Final = 8 * 1024 * 1024
ANSWER_LIMIT_BYTES: Final = 2 * 1024 * 1024
LINE_LIMIT_BYTES: Final = 16 * 1024 * 1024
AT_ONCE: Final = 32
WORKERS_LIMIT: Final = 32
WORD_LETTERS: Final = 100


class PluginsUnknownError(FirewallError):
    """The process that lists installed plugins did not do its work."""

    code = "host_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginPlace:
    """Where a plugin's hooks are.

    Args:
        entry_point: as `package:name`.
        folders: absolute paths that `pip install --target` filled, searched after the interpreter's own packages.
        network: it has the server's network; otherwise none at all.
        config: what its record says for it, secrets in clear; with every event.
        secrets: texts of these, which nothing that it says may say.
    """

    entry_point: str
    folders: tuple[str, ...] = ()
    network: bool = False
    config: JsonObject = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """One entry point of `GROUP`."""

    name: str
    release: str


class HookWorkers:
    """At most `WORKERS_LIMIT` processes of one event loop.

    Args:
        python: which folders its processes may read.
    """

    def __init__(self, python: PythonTools, *, idle_s: float = IDLE_S) -> None:
        self._python = python
        self._idle_s = idle_s
        self._workers: dict[str, _Worker] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def ask(self, key: str, place: PluginPlace, event: str, payload: dict[str, Any]) -> Any:
        """Hand an event to a plugin and return what it answers. Cancelling it ends what handles the event.

        Args:
            key: of the process; another key is another process.
        Raises:
            HookFailedError.
            FolderRefusedError: the plugin lies where authors' code may not be.
        """
        worker = self._worker(key, place)
        return await worker.ask(event, payload)

    async def installed(self, folders: Sequence[str] = ()) -> tuple[InstalledPlugin, ...]:
        """List what installed packages offer, without loading any of it.

        Raises:
            FolderRefusedError, PluginsUnknownError.
        """
        real = [self._python.check_folder(each) for each in folders]
        order = json.dumps({"do": "list", "group": GROUP, "folders": real}).encode() + b"\n"
        with tempfile.TemporaryDirectory(prefix="openclaw-hooks-") as scratch:
            ran = await run_process(
                [sys.executable, "-I", HOST],
                cwd=scratch,
                env=_environment(scratch),
                limits=LIMITS,
                time_limit_s=LIST_LIMIT_S,
                output_limit_bytes=LINE_LIMIT_BYTES,
                stdin=order,
                readable=(HOST, *real),
                network=False,
            )
        try:
            said = read_json(ran.stdout.head + ran.stdout.tail)
            return tuple(InstalledPlugin(each["name"], each["release"]) for each in said["plugins"])
        except (JsonRefusedError, KeyError, TypeError) as exc:
            raise PluginsUnknownError(f"the process that lists plugins did not answer: {ran.ended}") from exc

    async def close(self) -> None:
        """End all processes; who waits for an answer gets a failure."""
        for key in list(self._workers):
            self._drop(key)
        while self._ending:
            await asyncio.wait(set(self._ending))

    def _worker(self, key: str, place: PluginPlace) -> "_Worker":
        worker = self._workers.get(key)
        if worker is None or not worker.is_usable:
            if worker is not None:
                self._drop(key)
            self._make_room()
            folders = [self._python.check_folder(each) for each in place.folders]
            worker = self._workers[key] = _Worker(place, folders, self._idle_s)
        return worker

    def _make_room(self) -> None:
        for key, worker in list(self._workers.items()):
            if not worker.is_usable or (len(self._workers) >= WORKERS_LIMIT and not worker.is_busy):
                self._drop(key)
        if len(self._workers) >= WORKERS_LIMIT:
            raise HookFailedError(f"{WORKERS_LIMIT} plugins are busy already", kind="overloaded")

    def _drop(self, key: str) -> None:
        ending = asyncio.create_task(self._workers.pop(key).end())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


class _Worker:
    """One plugin's process and the events that it handles now."""

    def __init__(self, place: PluginPlace, folders: Sequence[str], idle_s: float) -> None:
        loop = asyncio.get_running_loop()
        self._place = place
        self._folders = list(folders)
        self._idle_s = idle_s
        self._old_at = loop.time() + AGE_LIMIT_S
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._room = asyncio.Semaphore(AT_ONCE)
        self._ready: asyncio.Future[PipedProcess] = loop.create_future()
        self._ready.add_done_callback(_look)
        self._saying: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._is_ending = False
        self._life = asyncio.create_task(self._live())

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting)

    @property
    def is_usable(self) -> bool:
        return (
            not self._is_ending
            and not self._life.done()
            and (self.is_busy or asyncio.get_running_loop().time() < self._old_at)
        )

    async def ask(self, event: str, payload: dict[str, Any]) -> Any:
        number = next(self._numbers)
        line = json.dumps({"id": number, "event": event, "payload": payload}).encode() + b"\n"
        if len(line) > EVENT_LIMIT_BYTES:
            raise HookFailedError("the call is too large to be handed to it", kind="overloaded")
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(_look)
        self._waiting[number] = answer
        self._rest()
        try:
            async with self._room:
                process = await asyncio.shield(self._ready)
                await self._write(process, line)
                return await answer
        finally:
            del self._waiting[number]
            self._rest()
            if not answer.done() or answer.cancelled():
                self._cancel(number)

    async def end(self) -> None:
        """End the process; who waits gets a failure."""
        if self._timer is not None:
            self._timer.cancel()
        self._finish()
        await asyncio.wait({self._life})

    async def _live(self) -> None:
        trouble = HookFailedError("its process was ended", kind="ended")
        try:
            with tempfile.TemporaryDirectory(prefix="openclaw-hook-") as scratch:
                trouble = await self._carry(scratch)
        except HookFailedError as exc:
            trouble = exc
        except TimeoutError:
            trouble = HookFailedError(f"it was not loaded in {START_LIMIT_S:g} s", kind="hung")
        except OSError as exc:
            trouble = HookFailedError(f"its process could not be started: {type(exc).__name__}", kind="ended")
        finally:
            for waiting in [self._ready, *self._waiting.values()]:
                if not waiting.done():
                    waiting.set_exception(trouble)

    async def _carry(self, scratch: str) -> HookFailedError:
        """Start the process and pass on its answers until it ends; say how it ended."""
        async with piped_process(
            [sys.executable, "-I", HOST],
            cwd=scratch,
            env=_environment(scratch),
            limits=LIMITS,
            time_limit_s=LIFETIME_S,
            error_limit_bytes=ERRORS_KEPT_BYTES,
            readable=(HOST, *self._folders),
            network=self._place.network,
        ) as process:
            order = {
                "do": "serve",
                "group": GROUP,
                "entry_point": self._place.entry_point,
                "folders": self._folders,
                "config": self._place.config,
                "limit_bytes": ANSWER_LIMIT_BYTES,
            }
            await self._write(process, json.dumps(order).encode() + b"\n")
            lines = _lines(process)
            async with asyncio.timeout(START_LIMIT_S):
                first = await anext(lines, None)
            if first is None:
                return self._how(process)
            self._ready.set_result(_loaded(first, process))
            async for line in lines:
                self._hear(line)
            return self._how(process)

    def _hear(self, line: bytes) -> None:
        """Take one answer; the process may write what it wants, so one that nobody waits for is passed over."""
        try:
            said = read_json(line)
        except JsonRefusedError as exc:
            raise HookFailedError("its process wrote rubbish", kind="wrong_answer") from exc
        number = said.get("id") if isinstance(said, dict) else None
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is None or waiting.done():
            return
        try:
            waiting.set_result(_answer(said))
        except HookFailedError as exc:
            waiting.set_exception(exc)

    def _cancel(self, number: int) -> None:
        if self._ready.done() and not self._life.done() and self._ready.exception() is None:
            saying = asyncio.create_task(self._say_cancel(self._ready.result(), number))
            self._saying.add(saying)
            saying.add_done_callback(self._saying.discard)

    async def _say_cancel(self, process: PipedProcess, number: int) -> None:
        with contextlib.suppress(HookFailedError):
            await self._write(process, json.dumps({"cancel": number}).encode() + b"\n")

    async def _write(self, process: PipedProcess, line: bytes) -> None:
        try:
            await process.write(line)
        except ConnectionError as exc:
            raise HookFailedError("its process has ended", kind="ended") from exc

    def _rest(self) -> None:
        """End the process when nobody has used it for a while."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            self._timer = asyncio.get_running_loop().call_later(self._idle_s, self._finish)

    def _finish(self) -> None:
        self._is_ending = True
        self._life.cancel()

    def _how(self, process: PipedProcess) -> HookFailedError:
        last = process.errors().text().strip().splitlines()[-1:]
        return HookFailedError("its process ended", last[0] if last else "", kind="ended")


def _environment(folder: str) -> dict[str, str]:
    return {"PATH": PATH, "HOME": folder, "LANG": "C.UTF-8"}


def _look(future: "asyncio.Future[Any]") -> None:
    """Take note of a failure that perhaps nobody waits for."""
    if not future.cancelled():
        future.exception()


async def _lines(process: PipedProcess) -> AsyncIterator[bytes]:
    kept = bytearray()
    while part := await process.read():
        for line in _complete(kept, part):
            yield line
        if len(kept) > LINE_LIMIT_BYTES:
            raise HookFailedError("its process wrote too much", kind="huge_answer")


def _complete(kept: bytearray, part: bytes) -> Iterator[bytes]:
    *complete, rest = part.split(b"\n")
    for line in complete:
        kept += line
        yield bytes(kept)
        kept.clear()
    kept += rest


def _loaded(line: bytes, process: PipedProcess) -> PipedProcess:
    said = _object(line)
    trouble = said.get("not_loaded")
    if isinstance(trouble, dict):
        raise HookFailedError(
            f"it could not be loaded: {_word(trouble.get('raised'))}", _words(trouble.get("message")), kind="raised"
        )
    if said.get("ready") is not True:
        raise HookFailedError("its process wrote rubbish", kind="wrong_answer")
    return process


def _answer(said: dict[str, Any]) -> Any:
    """Read what a fork said, as its host passed it on.

    Raises:
        HookFailedError.
    """
    if said.get("huge"):
        raise HookFailedError(f"its answer has more than {ANSWER_LIMIT_BYTES} bytes", kind="huge_answer")
    text = said.get("text")
    if not isinstance(text, str) or not text:
        raise HookFailedError(f"its process ended without an answer ({_word(said.get('how'))})", kind="ended")
    inner = _object(text.encode())
    if "raised" in inner:
        raise HookFailedError(f"it raised {_word(inner['raised'])}", _words(inner.get("message")), kind="raised")
    if "no_json" in inner:
        raise HookFailedError("its answer is no JSON", _words(inner["no_json"]), kind="wrong_answer")
    return inner.get("answer")


def _object(text: bytes) -> dict[str, Any]:
    try:
        said = read_json(text)
    except JsonRefusedError as exc:
        raise HookFailedError("its process wrote rubbish", kind="wrong_answer") from exc
    if not isinstance(said, dict):
        raise HookFailedError("its process wrote rubbish", kind="wrong_answer")
    return said


def _word(value: Any) -> str:
    return plain_text(value, WORD_LETTERS) or "?"


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""
