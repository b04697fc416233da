"""Python tools seen from the server: what they say of themselves, and their calls, both through `host.py`."""

import asyncio
import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.forkserver import LauncherError
from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.tools.authoring.errors import CodeChangedError
from apps.firewall.tools.code import Code, CodeReader, CodeUnreadableError
from apps.firewall.tools.definition import JsonObject, SandboxNeeds
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.loading import Kept
from apps.firewall.tools.own_formats import FormatUncheckedError, Texts
from apps.firewall.tools.python_answers import checked_of, ending_of, outcome_of
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.sandboxing import Allowance, Sandbox, SandboxRefusedError, Terms
from apps.firewall.tools.sifting import NewsSift

HOST: Final = str(Path(__file__).with_name("host.py"))
ROOT: Final = Path(__file__).resolve().parents[3]
OWN_CODE: Final = tuple(
    str(ROOT / each)
    for each in ("apps/__init__.py", "apps/firewall", "openclaw_admin/__init__.py", "openclaw_admin/tools.py")
)
PATH: Final = "/usr/local/bin:/usr/bin:/bin"

IMPORT_LIMIT_S: Final = 5.0
LOOK_LIMIT_S: Final = 120.0
CHECK_LIMIT_S: Final = 5.0
"""For the checks of an author's own formats in one call, loading their module included."""
HOSTS_LIMIT: Final = 10
"""Places of one look that may end their host before the rest is given up."""
CALL_LIMIT_MS: Final = 30_000
DESCRIPTIONS_LIMIT_BYTES: Final = 80 * 1024 * 1024
ANSWER_LIMIT_BYTES: Final = 20 * 1024 * 1024
LARGE_ANSWER_BYTES: Final = 256 * 1024
FEW: Final = 20


class FolderRefusedError(FirewallError):
    """A folder that authors' code may not read: it is none, or keys and records lie in it."""

    code = "folder_refused"


class HostError(FirewallError):
    """The process that describes tools did not do its work."""

    code = "host_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where tools are written.

    Args:
        key: what its source calls it.
        module: an installed one, or one below `folder`; or
        file: absolute path.
        folder: absolute path of where further modules are searched.
        attribute: of the module; all its public tools when "".
        name: that the tool goes by instead of its own, when there is one.
        config: its settings, secrets in clear.
        stored_config: the same as a record may hold it, secrets by name.
        dependencies: requirements to be met before it is loaded.
        facts: what its source knows of it, for people.
    """

    key: str
    module: str = ""
    file: str = ""
    folder: str = ""
    attribute: str = ""
    name: str = ""
    config: JsonObject = field(default_factory=dict)
    stored_config: JsonObject = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Described:
    """What one place answered: `{"offers": […]}` or `{"failure": …}`, unchecked; and its code, where that is known."""

    place: Place
    answer: JsonObject
    code: Code | None = None


class PythonTools:
    """Describes and runs Python tools in confined processes.

    Args:
        python: the interpreter; its packages are what tools may import.
        closed: folders that no tool may read, nor a folder around them.
        sandbox: what each process is held to; a tool may ask for less, not for more.
        import_limit_s: for each place.
    """

    def __init__(
        self,
        *,
        python: str = sys.executable,
        closed: Sequence[Path] = (),
        sandbox: Sandbox | None = None,
        import_limit_s: float = IMPORT_LIMIT_S,
    ) -> None:
        self._python = python
        self._closed = tuple(os.path.realpath(each) for each in closed)
        self._sandbox = sandbox or Sandbox(Allowance(), offer())
        self._import_limit_s = import_limit_s
        self._kept: dict[int, Kept[str, bytes]] = {}
        self._codes = CodeReader(python)

    def check_folder(self, folder: str) -> str:
        """Return the real path of a folder that authors' code may read.

        Raises:
            FolderRefusedError: it is not absolute, no folder, or overlaps a closed one.
        """
        if not folder.startswith("/"):
            raise FolderRefusedError(f"`{folder}` is no absolute path")
        real = os.path.realpath(folder)
        if any(_is_beneath(real, each) or _is_beneath(each, real) for each in self._closed):
            raise FolderRefusedError(f"`{folder}` overlaps the folder of keys and records")
        if not Path(real).is_dir():
            raise FolderRefusedError(f"`{folder}` is no folder")
        return real

    def is_closed(self, path: str) -> bool:
        """Say whether a path lies in a closed folder, links followed."""
        real = os.path.realpath(path)
        return any(_is_beneath(real, each) for each in self._closed)

    async def describe(
        self, places: Sequence[Place], *, is_eager: bool = False, keep: int = 0
    ) -> AsyncIterator[Described]:
        """Describe places one after the other; a broken one is an answer like any other.

        Args:
            is_eager: also initialise and close each tool.
            keep: answers of so many places are kept, and used again as long as no file of their folders changes.
        Raises:
            FolderRefusedError, HostError.
        """
        folders = [self.check_folder(each) for each in dict.fromkeys(p.folder for p in places if p.folder)]
        stamps = await asyncio.to_thread(lambda: {each: _stamp(each) for each in folders}) if keep else {}
        kept = self._kept.setdefault(keep, Kept(keep))
        keys = [_key(place, stamps) for place in places]
        known = [kept.get(key) if key else None for key in keys]
        asked = [_item(place) for place, line in zip(places, known, strict=True) if line is None]
        lines = iter((await self._look({"items": asked}, folders, is_eager=is_eager))[1] if asked else ())
        for place, key, old in zip(places, keys, known, strict=True):
            line = next(lines) if old is None else old
            answer = _read_line(line)
            if key and "offers" in answer:
                kept.keep(key, line)
            yield await self._described(place, answer)

    async def describe_installed(
        self, group: str, folders: Sequence[str], *, is_eager: bool = False
    ) -> AsyncIterator[Described]:
        """Describe what installed packages name as entry points of a group.

        Args:
            folders: searched besides the interpreter's own, as `pip install --target` fills them.
        Raises:
            FolderRefusedError, HostError.
        """
        real = [self.check_folder(each) for each in folders]
        items, lines = await self._look({"items": [], "group": group}, real, is_eager=is_eager)
        for item, line in zip(items, lines, strict=True):
            yield await self._described(_place(item), _read_line(line))

    async def _described(self, place: Place, answer: JsonObject) -> Described:
        if "offers" not in answer:
            return Described(place, answer)
        executor = PythonExecutor(attribute="", module=place.module, file=place.file, folder=place.folder)
        try:
            return Described(place, answer, await asyncio.to_thread(self._codes.code, executor))
        except CodeUnreadableError as exc:
            return Described(place, {"failure": {"stage": "verify", "code": exc.code, "message": exc.message}})

    def check_code(self, executor: PythonExecutor) -> None:
        """Let through a tool whose code is the one that was accepted.

        Raises:
            CodeChangedError: it is another one.
        """
        self._codes.check(executor)

    async def run(
        self,
        executor: PythonExecutor,
        order: JsonObject,
        *,
        workspace: str,
        timeout_ms: int | None = None,
        needs: SandboxNeeds | None = None,
    ) -> ToolOutcome:
        """Run one tool.

        Args:
            order: `name`, `params`, `config`, `context` (members of `ToolContext` but config).
            workspace: real path; the process starts there and writes there only.
            needs: of the tool.
        """
        try:
            folders = [self.check_folder(executor.folder)] if executor.folder else []
            terms = self.terms(needs)
            code = await asyncio.to_thread(self._codes.check, executor) if executor.code else None
        except (FolderRefusedError, SandboxRefusedError, CodeChangedError) as exc:
            return ToolOutcome(ended="failed", error={"code": exc.code, "message": exc.message})
        item = {"module": executor.module, "file": executor.file, "attribute": executor.attribute}
        context = {**order["context"], "config": order["config"], "workspace": workspace}
        timeout_s = min((timeout_ms or CALL_LIMIT_MS) / 1000, terms.wall_s)
        held = {} if code is None else {"code": code.order()}
        ran = await self._start(
            {"do": "run", "item": item, "name": order["name"], "params": order["params"], "context": context, **held},
            folders,
            cwd=workspace,
            time_limit_s=timeout_s,
            output_limit_bytes=ANSWER_LIMIT_BYTES,
            watch=NewsSift().watch,
            terms=terms,
        )
        if len(ran.stdout.head) + len(ran.stdout.tail) < LARGE_ANSWER_BYTES:
            return outcome_of(ran, timeout_s)
        return await asyncio.to_thread(outcome_of, ran, timeout_s)

    async def check_formats(self, executor: PythonExecutor | None, texts: Texts) -> list[bool]:
        """Hold texts against formats of an author's own.

        Args:
            executor: of the tool whose module registers them; None where only installed packages bring them.
        Raises:
            FormatUncheckedError: a check is gone, raises, or does not answer.
        """
        try:
            folders = [self.check_folder(executor.folder)] if executor is not None and executor.folder else []
            terms = self.terms(None)
            code = None
            if executor is not None and executor.code:
                code = await asyncio.to_thread(self._codes.check, executor)
        except (FolderRefusedError, SandboxRefusedError, CodeChangedError) as exc:
            raise FormatUncheckedError(exc.message) from exc
        item = {} if executor is None else {"module": executor.module, "file": executor.file}
        held = {} if code is None else {"code": code.order()}
        try:
            with tempfile.TemporaryDirectory(prefix="openclaw-check-") as scratch:
                ran = await self._start(
                    {"do": "check", "item": item, "texts": [list(each) for each in texts], **held},
                    folders,
                    cwd=scratch,
                    time_limit_s=CHECK_LIMIT_S,
                    output_limit_bytes=ANSWER_LIMIT_BYTES,
                    terms=terms,
                )
        except (LauncherError, SandboxRefusedError) as exc:
            raise FormatUncheckedError(f"the process that checks formats did not start: {exc.message}") from exc
        return checked_of(ran, len(texts), CHECK_LIMIT_S)

    def terms(self, needs: SandboxNeeds | None) -> Terms:
        """Fix what a tool is held to.

        Raises:
            SandboxRefusedError: it needs what it cannot have.
        """
        return self._sandbox.terms(needs)

    async def _look(
        self, order: JsonObject, folders: list[str], *, is_eager: bool
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """Have places described by a host, and by another from the next place on where one ends that host itself.

        Returns:
            The places as items, and a line for each.
        """
        deadline = time.monotonic() + LOOK_LIMIT_S
        items, lines, how = await self._hosted(order, folders, deadline, is_eager=is_eager)
        for _ in range(HOSTS_LIMIT):
            if len(lines) == len(items) or time.monotonic() > deadline:
                break
            lines.append(_failure("process_ended", f"its code ended the process that loads it ({how})"))
            if len(lines) < len(items):
                rest = {"items": items[len(lines) :]}
                _, more, how = await self._hosted(rest, folders, deadline, is_eager=is_eager)
                lines += more
        not_reached = _failure("not_reached", "the places before it took all the time there is")
        return items, lines + [not_reached] * (len(items) - len(lines))

    async def _hosted(
        self, order: JsonObject, folders: list[str], deadline: float, *, is_eager: bool
    ) -> tuple[list[dict[str, Any]], list[bytes], str]:
        time_limit_s = max(1.0, deadline - time.monotonic())
        limits = {"import_limit_s": self._import_limit_s, "time_limit_s": time_limit_s}
        with tempfile.TemporaryDirectory(prefix="openclaw-look-") as scratch, _told_as_host_error():
            ran = await self._start(
                {"do": "describe", "initialise": is_eager, **limits, **order},
                folders,
                cwd=scratch,
                time_limit_s=time_limit_s + 5,
                output_limit_bytes=DESCRIPTIONS_LIMIT_BYTES,
                terms=self.terms(None),
            )
        header, *lines = (ran.stdout.head + ran.stdout.tail).split(b"\n")[:-1] or [b""]
        if ran.stdout.dropped or not header:
            raise HostError(f"the process that describes tools did not start: {ending_of(ran)}")
        items = _read_line(header)["items"] if "group" in order else order["items"]
        return items, lines[: len(items)], ending_of(ran)

    async def _start(self, order: JsonObject, folders: list[str], *, terms: Terms, **how: Any) -> ProcessResult:
        """Run the host: as a fork of one that is loaded already, or in bubblewrap, where there is nothing to fork."""
        stdin = await _written({**order, "folders": folders})
        return await run_process(
            [self._python, "-I", HOST],
            env={"PATH": PATH, "HOME": how["cwd"], "LANG": "C.UTF-8"},
            stdin=stdin,
            readable=(*OWN_CODE, *folders, *_of_interpreter(self._python)),
            closed=self._closed,
            limits=terms.limits,
            program="" if terms.isolated else HOST,
            uses_python=True,
            **terms.held,
            **how,
        )


async def _written(order: JsonObject) -> bytes:
    """Write an order; in a thread where that may take long."""
    params = order.get("params")
    if isinstance(params, Mapping) and len(params) < FEW and all(_is_short(each) for each in params.values()):
        return json.dumps(order).encode()
    return await asyncio.to_thread(lambda: json.dumps(order).encode())


def _is_short(value: Any) -> bool:
    return isinstance(value, int | float | None) or (isinstance(value, str) and len(value) < LARGE_ANSWER_BYTES)


@contextlib.contextmanager
def _told_as_host_error() -> Iterator[None]:
    try:
        yield
    except (LauncherError, SandboxRefusedError) as exc:
        raise HostError(f"the process that describes tools did not start: {exc.message}") from exc


def _is_beneath(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _of_interpreter(python: str) -> tuple[str, ...]:
    """Name what an interpreter of another virtual environment reads of that."""
    prefix = Path(python).absolute().parent.parent
    if not (prefix / "pyvenv.cfg").is_file():
        return ()
    return tuple(str(prefix / each) for each in ("pyvenv.cfg", "lib", "lib64"))


def _stamp(folder: str) -> str:
    """Tell the state of a folder's modules: any change of any of them shows."""
    digest = hashlib.sha256()
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                digest.update(f"{path}/{name} {_state(f'{path}/{name}')}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _state(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 - of thousands of files
    except OSError as exc:
        return str(exc.errno)
    return f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"


def _key(place: Place, stamps: Mapping[str, str]) -> str:
    """Identify a place and what it was made of; "" where that cannot be told."""
    if place.folder not in stamps:
        return ""
    return hashlib.sha256(f"{json.dumps(_item(place), sort_keys=True)}{stamps[place.folder]}".encode()).hexdigest()


def _item(place: Place) -> dict[str, Any]:
    known = asdict(place)
    return {name: known[name] for name in ("module", "file", "attribute", "config", "dependencies") if known[name]}


def _place(item: Mapping[str, Any]) -> Place:
    return Place(
        key=item["key"],
        module=item["module"],
        attribute=item["attribute"],
        folder=item["folder"],
        dependencies=tuple(item["dependencies"]),
        facts=item["facts"],
    )


def _failure(code: str, message: str) -> bytes:
    return json.dumps({"failure": {"stage": "load", "code": code, "message": message}}).encode()


def _read_line(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    return answer if isinstance(answer, dict) else {}
