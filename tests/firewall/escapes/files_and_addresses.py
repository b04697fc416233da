"""The attempts of paths and addresses: what file tools are asked for, and where the connector is sent."""

# attempts are lines of a table: breaking them makes them harder to read
# ruff: noqa: E501

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.testing import call_of
from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector import Connector, ConnectorError
from tests.firewall.escapes.doors import SECRET, Outside, world
from tests.firewall.tools.connector.loopback import watching

Prepare = Callable[[Path, Outside], object]


def _nothing(workspace: Path, around: Outside) -> None:
    """Leave the workspace as it is."""


@dataclass(frozen=True, slots=True)
class FileAttempt:
    """A path that a file tool is asked for; `{secret}` and `{other}` in it name what lies outside."""

    family: str
    name: str
    tool: str
    path: str
    prepare: Prepare = _nothing


def _link(name: str, target: str) -> Prepare:
    return lambda workspace, around: (workspace / name).symlink_to(target.format(**around.facts))


def _hard(workspace: Path, around: Outside) -> None:
    os.link(around.facts["secret"], workspace / "hard")


FILES = (
    FileAttempt("path", "read: an absolute path", "read", "{secret}"),
    FileAttempt("..", "read: a path that climbs", "read", "../other/secret"),
    FileAttempt("..", "read: a path that climbs later", "read", "a/../../other/secret"),
    FileAttempt("path", "read: a home", "read", "~/.bashrc"),
    FileAttempt("path", "read: a path with a NUL", "read", "a\0../other/secret"),
    FileAttempt("symlink", "read: a link to a file", "read", "l", _link("l", "{secret}")),
    FileAttempt("symlink", "read: a link to a folder", "read", "l/secret", _link("l", "{other}")),
    FileAttempt("hard link", "read: another name of a file", "read", "hard", _hard),
    FileAttempt("/proc", "read: the environment of the server", "read", "/proc/self/environ"),
    FileAttempt("symlink", "read: a link into /proc", "read", "l", _link("l", "/proc/self/root{secret}")),
    FileAttempt("path", "read: a pipe that nobody fills", "read", "pipe", lambda folder, _: os.mkfifo(folder / "pipe")),
    FileAttempt("path", "write: an absolute path", "write", "{secret}"),
    FileAttempt("..", "write: a path that climbs", "write", "../other/secret"),
    FileAttempt("symlink", "write: a link to a file", "write", "l", _link("l", "{secret}")),
    FileAttempt("symlink", "write: a link to a folder", "write", "l/secret", _link("l", "{other}")),
    FileAttempt("symlink", "write: a link to nothing yet", "write", "l", _link("l", "{made}")),
    FileAttempt("..", "edit: a path that climbs", "edit", "../other/secret"),
    FileAttempt("symlink", "edit: a link to a file", "edit", "l", _link("l", "{secret}")),
    FileAttempt("hard link", "edit: another name of a file", "edit", "hard", _hard),
)


def params_of(attempt: FileAttempt, around: Outside) -> Mapping[str, Any]:
    path = attempt.path.format(**around.facts)
    more: dict[str, dict[str, Any]] = {
        "write": {"content": "mine"},
        "edit": {"edits": [{"oldText": SECRET, "newText": "mine"}]},
    }
    return {"path": path, **more.get(attempt.tool, {})}


async def through_files(attempt: FileAttempt, around: Outside) -> str:
    """Make one attempt; return what was wrong about it, empty when it was held."""
    here = world(around.folder, "isolated")
    workspace = around.folder / "workspaces" / "production" / "bot"
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    attempt.prepare(workspace, around)
    result = await invoke(call_of(attempt.tool, **params_of(attempt, around)), here.ports)
    (workspace / "hard").unlink(missing_ok=True)
    if result.status == "completed" or SECRET in json.dumps([result.result, result.error]):
        return f"it got what it wanted: {result.result}"
    return "; ".join(around.harm)


@dataclass(frozen=True, slots=True)
class AddressAttempt:
    """An address that the connector is sent to; what resolves names says `answers`, one list after the other."""

    family: str
    name: str
    url: str
    answers: Sequence[Sequence[str]] = field(default=(("127.0.0.1",),))


ADDRESSES = (
    AddressAttempt("address", "the loopback", "http://127.0.0.1:{tcp}/"),
    AddressAttempt("address", "the loopback by name", "http://localhost:{tcp}/", (("127.0.0.1",),)),
    AddressAttempt("decimal address", "the loopback as one number", "http://2130706433:{tcp}/"),
    AddressAttempt("decimal address", "the loopback in hexadecimal", "http://0x7f000001:{tcp}/"),
    AddressAttempt("decimal address", "the loopback in octal", "http://0177.0.0.1:{tcp}/"),
    AddressAttempt("decimal address", "the loopback in short", "http://127.1:{tcp}/"),
    AddressAttempt("decimal address", "every address as zero", "http://0:{tcp}/"),
    AddressAttempt("IPv6 address", "the loopback of IPv6", "http://[::1]:{tcp}/"),
    AddressAttempt("IPv6 address", "the loopback inside IPv6", "http://[::ffff:127.0.0.1]:{tcp}/"),
    AddressAttempt("IPv6 address", "the loopback behind a translation", "http://[64:ff9b::7f00:1]:{tcp}/"),
    AddressAttempt("IPv6 address", "the loopback in a tunnel", "http://[2002:7f00:1::]:{tcp}/"),
    AddressAttempt("IPv6 address", "a neighbour on the link", "http://[fe80::1]:{tcp}/"),
    AddressAttempt("address", "the secrets of a cloud", "http://169.254.169.254/latest/meta-data/"),
    AddressAttempt("address", "a private network", "http://10.0.0.1/"),
    AddressAttempt("DNS rebinding", "a name that leads inside", "http://tools.test:{tcp}/", (("127.0.0.1",),)),
    AddressAttempt("DNS rebinding", "a name that leads outside and inside", "http://tools.test:{tcp}/", (("93.184.216.34", "127.0.0.1"),)),
    AddressAttempt("DNS rebinding", "a name that leads inside by IPv6", "http://tools.test:{tcp}/", (("::ffff:7f00:1",),)),
    AddressAttempt("redirect", "another scheme", "file://{secret}"),
    AddressAttempt("redirect", "a user before the host", "http://tools.test@127.0.0.1:{tcp}/"),
    AddressAttempt("redirect", "a backslash before the host", "http://tools.test\\@127.0.0.1:{tcp}/"),
    AddressAttempt("redirect", "a line break in the host", "http://tools.test\r\nHost: 127.0.0.1:{tcp}/"),
    AddressAttempt("redirect", "letters that look like digits", "http://①②⑦.⓪.⓪.①:{tcp}/"),
)  # fmt: skip


async def through_connector(attempt: AddressAttempt, around: Outside) -> str:
    """Make one attempt; no packet leaves the machine, for every name is resolved here."""
    asked: list[Sequence[str]] = list(attempt.answers)

    async def resolve(host: str) -> Sequence[str]:
        return asked.pop(0) if len(asked) > 1 else asked[0]

    rules = AddressRules(ports=(around.facts["tcp"], 80, 443))
    with watching() as packets, contextlib.suppress(ConnectorError):
        async with asyncio.timeout(5):
            answer = await Connector(rules=rules, resolve=resolve).get(attempt.url.format(**around.facts))
        return f"it was answered: {answer.status}"
    return "; ".join([*around.harm, *(f"a packet went to {place}" for _, place in packets)])
