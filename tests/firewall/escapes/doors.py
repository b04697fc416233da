"""The doors that agents have, each with the real thing behind it, and what lies outside."""

import asyncio
import contextlib
import json
import os
import secrets
import socket
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import CallResult
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.python import PythonRunner
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.testing import FakeWorld, call_of
from apps.firewall.sandbox.levels import Level, Offer, Part, offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.connections import Connection, SourceUnknownError
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.sandboxing import Allowance, Sandbox
from tests.firewall.escapes.attempts import PREAMBLE, Attempt

SECRET: Final = "the word of the neighbour"
LIMITS: Final = Limits(
    cpu_s=1,
    memory_bytes=300_000_000,
    file_bytes=1_000_000,
    open_files=100,
    processes=20,
    threads=100,
    written_bytes=20_000_000,
)
WALL_S: Final = 3
TOOL: Final = """
from openclaw_admin.tools import tool

@tool
def attempt(code: str) -> str:
    "Run what it is given."
    names = {}
    try:
        exec(compile(code, "attempt", "exec"), names)
    except BaseException as exc:
        return f"{names.get('GOT')} {exc!r}"
    return str(names["GOT"])
"""
ORPHAN: Final = "attempt_of_a_source"
"""The same tool, with a secret of a source that is switched off."""
DOORS: Final = {
    "isolated": "commands in bubblewrap",
    "filesystem": "commands with Landlock",
    "python": "Python tools",
}
"""Key -> what people call it."""
NEEDS: Final[dict[str, Level]] = {"isolated": "isolated", "filesystem": "filesystem", "python": "filesystem"}


@dataclass
class Outside:
    """What there is to be had: a neighbour's secret, services that listen, a process that stands by."""

    folder: Path
    heard: list[str] = field(default_factory=list)
    sockets: list[socket.socket] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    bystander: int = 0

    @property
    def harm(self) -> list[str]:
        """Say what was touched."""
        for each in self.sockets:
            with contextlib.suppress(OSError):
                (each.accept if each.type == socket.SOCK_STREAM else lambda s=each: s.recv(10))()
                self.heard.append(f"a service was reached: {each.getsockname()}")
        secret = self.folder / "other" / "secret"
        found = list(self.heard)
        if not secret.exists() or secret.read_text() != SECRET or secret.stat().st_mode & 0o777 != 0o600:
            found.append("the neighbour's file is not what it was")
        if Path(self.facts["made"]).exists():
            found.append("a file was made outside")
        if any(each.name not in {"code", "other", "services", "workspaces"} for each in self.folder.iterdir()):
            found.append("a file was made beside the workspace")
        if Path(f"/proc/{self.bystander}/stat").read_text().rpartition(")")[2].split()[0] not in "SRD":
            found.append("the bystander does not stand by")
        return found


@contextlib.asynccontextmanager
async def outside(folder: Path) -> AsyncIterator[Outside]:
    """Set up what lies outside, for as long as the block lasts."""
    for name in ("other", "services", "code", "workspaces"):
        (folder / name).mkdir(mode=0o700)
    secret = folder / "other" / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    os.environ["OPENCLAW_CANARY"] = SECRET
    bystander = await asyncio.create_subprocess_exec("sleep", "3600")
    word = secrets.token_hex(6)
    made = Outside(folder, bystander=bystander.pid)
    with contextlib.ExitStack() as stack:
        made.sockets = list(_services(stack, folder, word))
        tcp, udp, *_ = made.sockets
        made.facts = {
            "secret": str(secret),
            "other": str(secret.parent),
            "made": f"/tmp/openclaw-escape-{word}",
            "way": [*Path(sys.prefix).parts, *Path(sys.base_prefix).parts],  # to the interpreter, which tools may use
            "word": f"openclaw-escape-{word}",
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "unix": str(folder / "services" / "stream"),
            "datagrams": str(folder / "services" / "datagrams"),
            "abstract": word,
            "bystander": bystander.pid,
            "server": os.getpid(),
        }
        try:
            yield made
        finally:
            del os.environ["OPENCLAW_CANARY"]
            bystander.kill()
            await bystander.wait()


def _services(stack: contextlib.ExitStack, folder: Path, word: str) -> Iterator[socket.socket]:
    places: tuple[tuple[int, int, Any], ...] = (
        (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "services" / "stream")),
        (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{word}"),
        (socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "services" / "datagrams")),
    )
    for family, kind, place in places:
        service = stack.enter_context(socket.socket(family, kind))
        service.bind(place)
        service.setblocking(False)
        if kind == socket.SOCK_STREAM:
            service.listen()
        yield service


def offered(door: str) -> Offer:
    """Give what a door may use of this machine."""
    there = offer()
    if door.endswith("isolated"):
        return there
    there = replace(there, bubblewrap=Part("bubblewrap", "not used here"))
    if door.endswith(("process", "none")):
        return replace(there, landlock=Part("landlock", "not used here"))
    return there


class _NoSources:
    """The port `Connections` of a place where every source is switched off."""

    async def connection(self, environment: str, source: str) -> Connection:
        raise SourceUnknownError(f"no source named `{source}` is switched on")


def world(
    folder: Path, door: str, *, level: Level = "filesystem", cpu_s: int = LIMITS.cpu_s, wall_s: float = WALL_S
) -> FakeWorld:
    """Make the runtime as it is served, with one agent that may run anything."""
    (folder / "code" / "attempt.py").write_text(TOOL)
    executor = {"kind": "python", "file": str(folder / "code" / "attempt.py"), "folder": str(folder / "code")}
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    executor["attribute"] = "attempt"
    entries.append(ToolEntry("attempt", params={"type": "object"}, executor=executor))
    traits = {"config": {"key": {"$secret": "KEY"}}}
    entries.append(ToolEntry(ORPHAN, params={"type": "object"}, executor={**executor, "source": "gone"}, traits=traits))
    source = SnapshotSource(
        environment="production",
        tools=entries,
        agents=[AgentSource("bot")],
        exec_approvals={"agents": {"bot": {"allowlist": [{"pattern": "/usr/bin/*", "argPattern": r"^\w+\.py$"}]}}},
    )
    sandbox = Sandbox(Allowance(level=level, limits=replace(LIMITS, cpu_s=cpu_s), wall_s=wall_s), offered(door))
    runners = (BuiltinRunner(sandbox=sandbox), PythonRunner(PythonTools(sandbox=sandbox), _NoSources()))
    here = FakeWorld(build_snapshot(source))
    here.executor = Executors(Workspaces(folder / "workspaces"), runners)  # type: ignore[assignment]
    return here


async def through(door: str, attempt: Attempt, around: Outside) -> str:
    """Make one attempt through one door; return what was wrong about it, empty when it was held."""
    here = world(around.folder, door)
    facts = json.dumps(around.facts)
    program = PREAMBLE.format(world=facts) + textwrap.dedent(attempt.code).strip() + "\n"
    name = f"bot_{secrets.token_hex(4)}.py"
    if door == "python":
        call = call_of("attempt", code=program)
    else:
        workspace = around.folder / "workspaces" / "production" / "bot"
        workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
        (workspace / name).write_text(program)
        call = call_of("exec", command=f"python3 {name}", timeout=WALL_S)
    result = await invoke(call, here.ports)
    return judged(attempt, result, around)


def judged(attempt: Attempt, result: CallResult, around: Outside) -> str:
    said = json.dumps([result.result, result.error])
    if "ESCAPED" in said or SECRET in said:
        return f"it got what it wanted: {said[:500]}"
    if result.status not in {"completed", "failed"}:
        return f"it did not run: {result.error}"
    if attempt.ends and not how_it_ended(result).endswith(attempt.ends):
        return f"it ended otherwise than by its limit: {said[:500]}"
    return "; ".join(around.harm)


def how_it_ended(result: CallResult) -> str:
    """Name the end of a call: the code of its error, `crashed` for a command that a signal ended."""
    if result.error is not None:
        return str(result.error["code"])
    return "crashed" if (result.result or {}).get("signal") else ""
