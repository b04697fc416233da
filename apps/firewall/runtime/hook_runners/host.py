"""The program that loads one plugin's hooks and hands them events. The server itself never imports them.

Runs as `python -I host.py` under the sandbox's limits. Orders come as JSON on stdin, one a line; answers go out the
same way on what was stdout, while whatever authors print goes to stderr. The plugin is imported once; each event is
then handled in a fork of its own, so that one that hangs or ends its process costs the others nothing.
"""

import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import Any, Final, NoReturn

CHUNK_BYTES: Final = 65536
MESSAGE_LIMIT: Final = 500
Line = dict[str, Any]


def entry_points(group: str) -> Iterator[tuple[str, Any, str]]:
    """Name what installed packages offer, as `package:name`, each with its entry point and the package's release."""
    from importlib import metadata

    for distribution in metadata.distributions():
        for entry in distribution.entry_points:
            if entry.group == group:
                yield f"{distribution.name}:{entry.name}", entry, distribution.version


def listed(order: Line) -> Line:
    """List entry points without loading one."""
    found = {named: release for named, _, release in entry_points(order["group"])}
    return {"plugins": [{"name": named, "release": found[named]} for named in sorted(found)]}


def loaded(order: Line) -> Any:
    """Import what an entry point names; a class is made an instance of."""
    for named, entry, _ in entry_points(order["group"]):
        if order["entry_point"] == named:
            plugin = entry.load()
            return plugin() if isinstance(plugin, type) else plugin
    raise LookupError(f"no installed package offers `{order['entry_point']}`")


class Host:
    """A loaded plugin, and the forks that handle events now, by their pipe."""

    def __init__(self, plugin: Any, config: Line, out: int, limit_bytes: int) -> None:
        self.plugin, self.config, self.out, self.limit_bytes = plugin, config, out, limit_bytes
        self.forks: dict[int, Fork] = {}
        self.orders = b""

    def serve(self) -> None:
        """Take orders until there are no more."""
        while True:
            for ready in select.select([0, *self.forks], [], [])[0]:
                if ready:
                    self.hear(ready)
                elif not self.take():
                    return

    def take(self) -> bool:
        part = os.read(0, CHUNK_BYTES)
        *lines, self.orders = (self.orders + part).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "cancel" in order:
                self.cancel(order["cancel"])
            else:
                self.begin(order)
        return bool(part)

    def begin(self, order: Line) -> None:
        pipe, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(pipe)
            order["payload"]["config"] = self.config
            handle(self.plugin, order, writing, (self.out, *self.forks))
        os.close(writing)
        self.forks[pipe] = Fork(order["id"], pid)

    def cancel(self, number: int) -> None:
        for pipe, fork in list(self.forks.items()):
            if fork.number == number:
                del self.forks[pipe]
                fork.end(pipe)

    def hear(self, pipe: int) -> None:
        """Pass on what a fork says once it has said all; it may be anything."""
        fork = self.forks[pipe]
        part = os.read(pipe, CHUNK_BYTES)
        fork.said += part
        is_huge = len(fork.said) > self.limit_bytes
        if part and not is_huge:
            return
        del self.forks[pipe]
        how = fork.end(pipe)
        told = {"huge": True} if is_huge else {"text": fork.said.decode("utf-8", "replace"), "how": how}
        say(self.out, {"id": fork.number, **told})


class Fork:
    """A process that handles one event."""

    def __init__(self, number: int, pid: int) -> None:
        self.number, self.pid, self.said = number, pid, b""

    def end(self, pipe: int) -> str:
        os.close(pipe)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        status = os.waitpid(self.pid, 0)[1]
        if os.WIFSIGNALED(status):
            return f"signal {os.WTERMSIG(status)}"
        return f"exit code {os.WEXITSTATUS(status)}"


def handle(plugin: Any, order: Line, pipe: int, closed: tuple[int, ...]) -> NoReturn:
    """Be the fork: handle one event and say what came of it, then end without what authors registered for the end."""
    try:
        for each in closed:
            os.close(each)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.setsid()
        write(pipe, json.dumps(answered(plugin, order)).encode())
        os._exit(0)
    finally:
        os._exit(70)


def answered(plugin: Any, order: Line) -> Line:
    try:
        handler = getattr(plugin, order["event"], None)
        value = None if handler is None else settled(handler(order["payload"]))
    except BaseException as exc:  # noqa: BLE001 - an author's own code may raise anything
        return raised(exc)
    try:
        return {"answer": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError, RecursionError) as exc:
        return {"no_json": told(exc)}


def settled(value: Any) -> Any:
    if not hasattr(value, "__await__"):
        return value
    import asyncio

    async def waiting() -> Any:
        return await value

    return asyncio.run(waiting())


def raised(exc: BaseException) -> Line:
    return {"raised": type(exc).__name__[:100], "message": told(exc)}


def told(exc: BaseException) -> str:
    try:
        return str(exc)[:MESSAGE_LIMIT]
    except Exception:  # noqa: BLE001 - even the text of an error is an author's code
        return ""


def say(out: int, line: Line) -> None:
    write(out, json.dumps(line).encode() + b"\n")


def write(out: int, content: bytes) -> None:
    while content:
        content = content[os.write(out, content) :]


def first_order() -> tuple[Line, bytes]:
    """Read the first line of stdin, and what came with it."""
    received = b""
    while b"\n" not in received:
        part = os.read(0, CHUNK_BYTES)
        if not part:
            break
        received += part
    line, _, rest = received.partition(b"\n")
    return json.loads(line), rest


def main() -> None:
    sys.dont_write_bytecode = True
    out = os.dup(1)
    os.dup2(2, 1)
    order, rest = first_order()
    sys.path.extend(order["folders"])
    if order["do"] == "list":
        say(out, listed(order))
        return
    try:
        plugin = loaded(order)
    except BaseException as exc:  # noqa: BLE001 - an author's own code may raise anything
        say(out, {"not_loaded": raised(exc)})
        return
    say(out, {"ready": True})
    host = Host(plugin, order["config"], out, order["limit_bytes"])
    host.orders = rest
    host.serve()


if __name__ == "__main__":
    main()
    os._exit(0)  # whatever threads an author left must not hold this up
