"""Opens one page for a call, and reads what the program inside says of it.

Everything is the call's own and gone with it: the profile, the rules, the socket that leads to the proxy.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.bubblewrap import PLACES, SEARCHED
from apps.firewall.sandbox.limits import MEGABYTE, Limits
from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.sandbox.supervisor import remove
from apps.firewall.tools.browser.machine import browser, machine_problem, memory_mb, rules
from apps.firewall.tools.browser.slots import PREFIX, Slot
from apps.firewall.tools.connector import ConnectorError
from apps.firewall.tools.connector.proxy import GuardedProxy
from apps.firewall.tools.connector.urls import check_url
from apps.firewall.tools.running import Place
from apps.firewall.tools.work import Work

PROGRAM: Final = str(Path(__file__).with_name("program.py"))
FONTS: Final = "/var/cache/fontconfig"
TIME_LIMIT_S: Final = 30.0
START_S: Final = 4.0
"""Left for the browser's start and for the end of its tree, so that a page that is late is told as such."""
FOLDER_LIMIT_BYTES: Final = 100
CARRIED_LIMIT_BYTES: Final = 64 * MEGABYTE
OUTPUT_LIMIT_BYTES: Final = 16 * MEGABYTE
OPEN_FILES: Final = 1024
THREADS: Final = 512
FILE_BYTES: Final = 256 * MEGABYTE
REFUSED_SHOWN: Final = 20
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SCHEMES: Final = ("https://", "http://")
_BY_WORD: Final = (
    ("ERR_CERT_", "tls_failed"),
    ("ERR_SSL_", "tls_failed"),
    ("ERR_TOO_MANY_REDIRECTS", "too_many_redirects"),
    ("ERR_BLOCKED_BY_ADMINISTRATOR", "url_refused"),
    ("ERR_UNSAFE_", "url_refused"),
    ("ERR_UNKNOWN_URL_SCHEME", "url_refused"),
    ("ERR_INVALID_", "answer_broken"),
    ("Download is starting", "download_refused"),
)
"""What stands in the browser's own words -> code."""
_CODES: Final = frozenset(
    {"time_limit", "page_crashed", "page_failed", "download_refused", "selector_not_found", "selector_invalid"}
)
_ENDED: Final[Mapping[str, str]] = {
    "timed_out": "time_limit",
    "memory_limit": "memory_limit",
    "cpu_limit": "cpu_limit",
    "disk_limit": "disk_limit",
    "process_limit": "process_limit",
}


class PageError(FirewallError):
    """The page was not opened, or not read; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A page that was opened.

    Args:
        told: what the program says beside these, of whatever shape.
        refused: places that the page wanted and did not get, each with the code of the refusal.
    """

    url: str
    status: int
    title: str
    told: Mapping[str, Any]
    refused: tuple[Mapping[str, str], ...] = ()


class _Folders(NamedTuple):
    home: Path
    rules: Path
    socket: Path


async def visit(work: Work, url: str, order: Mapping[str, Any]) -> Visit:
    """Open a page and do there what the order says.

    Args:
        order: members of the order for `program.py` that the tool knows.
    Raises:
        ConnectorError: where it leads is refused, or not reached.
        TooManyBrowsersError: as many are open as may.
        PageError: anything else.
    """
    problem = machine_problem()
    if problem:
        raise PageError("browser_unavailable", problem)
    check_url(url, work.connection.rules)
    proxy = GuardedProxy(rules=work.connection.rules, resolve=work.resolve, bytes_limit=CARRIED_LIMIT_BYTES)
    with nullcontext() if work.browsers is None else work.browsers.taken(work.environment) as slot:
        async with _folders(work.connection.ca, slot) as folders, proxy.serving(str(folders.socket)):
            ran = await _run(work, folders, {**order, "url": url})
    return _read(ran, proxy, url)


@asynccontextmanager
async def _folders(ca: str, slot: Slot | None) -> AsyncIterator[_Folders]:
    top = Path(tempfile.mkdtemp(prefix=PREFIX))
    if slot is not None:
        slot.name(top)
    if len(bytes(top)) > FOLDER_LIMIT_BYTES:
        top.rmdir()
        raise PageError("browser_unavailable", "the folder for temporary files has too long a name for a socket in it")
    folders = _Folders(home=top / "home", rules=top / "rules", socket=top / "proxy")
    try:
        folders.home.mkdir(0o700)
        folders.rules.mkdir(0o700)
        (folders.rules / "rules.json").write_text(json.dumps(rules(ca)), encoding="utf-8")
        yield folders
    finally:
        await asyncio.shield(asyncio.to_thread(remove, top))


async def _run(work: Work, folders: _Folders, order: Mapping[str, Any]) -> ProcessResult:
    program = browser()
    time_limit_s = min(TIME_LIMIT_S, work.place.wall_s)
    full = {
        **order,
        "browser": program,
        "socket": str(folders.socket),
        "time_limit_ms": int(1000 * max(1.0, time_limit_s - START_S)),
    }
    return await run_process(
        [work.place.python, "-I", PROGRAM],
        cwd=str(folders.home),
        env={"HOME": str(folders.home), "LANG": "C.UTF-8", "PATH": SEARCHED},
        limits=limits_of(work.place, memory_mb(work.connection)),
        time_limit_s=time_limit_s,
        output_limit_bytes=2 * OUTPUT_LIMIT_BYTES,  # half of it is kept of a stream's beginning
        stdin=json.dumps(full).encode(),
        readable=(PROGRAM, FONTS, str(folders.socket), str(Path(program).parent)),
        network=False,
        own_network=True,
        isolated=True,
        reserves=True,
        uses_python=True,
        mounts=[(str(folders.rules), place) for place in PLACES],
    )


def limits_of(place: Place, memory_mb: int) -> Limits:
    """Give a browser what it needs beyond other tools; whoever added the source has allowed it that."""
    return replace(
        place.limits,
        memory_bytes=memory_mb * MEGABYTE,
        open_files=max(OPEN_FILES, place.limits.open_files),
        threads=max(THREADS, place.limits.threads),
        file_bytes=max(FILE_BYTES, place.limits.file_bytes),
    )


def _read(ran: ProcessResult, proxy: GuardedProxy, url: str) -> Visit:
    if proxy.is_exhausted:
        raise PageError("answer_too_large", f"the page wanted more than {CARRIED_LIMIT_BYTES // MEGABYTE} MB")
    if ran.ended in _ENDED:
        said = "took too long" if ran.ended == "timed_out" else f"used more than it may ({ran.ended})"
        raise PageError(_ENDED[ran.ended], f"the page {said}")
    told = _told(ran)
    error, failed_url = told.get("error"), _text(told.get("failed_url"))
    if isinstance(error, Mapping):
        raise _why(_text(error.get("code")), _text(error.get("message")), failed_url or url, proxy)
    where = _text(told.get("url"))
    if not where.startswith(_SCHEMES):
        raise _why("", f"the page went on to `{where[:80]}`", failed_url or where, proxy)
    status = told.get("status")
    return Visit(
        url=where,
        status=status if type(status) is int else 0,
        title=readable(_text(told.get("title"))[:500]),
        told=told,
        refused=tuple(
            {"place": place, "code": exc.code} for place, exc in list(proxy.refusals.items())[:REFUSED_SHOWN]
        ),
    )


def _told(ran: ProcessResult) -> Mapping[str, Any]:
    """Read the program's one line.

    Raises:
        PageError: it said none.
    """
    try:
        told = json.loads(ran.stdout.head + ran.stdout.tail) if not ran.stdout.dropped else None
    except (ValueError, RecursionError):
        told = None
    if ran.ended != "ended" or not isinstance(told, Mapping):
        why = ran.error or (ran.ended if ran.ended != "ended" else f"it ended with code {ran.exit_code}")
        raise PageError("browser_failed", f"the browser broke off: {why}")
    return told


def _why(code: str, words: str, url: str, proxy: GuardedProxy) -> ConnectorError | PageError:
    """Say why a page failed: by what the proxy refused, before what the browser makes of it."""
    if code in _CODES - {"page_failed"}:
        return PageError(code, words)
    refusal = proxy.refusal(url)
    if refusal is not None:
        return refusal
    code = next((code for word, code in _BY_WORD if word in words), "page_failed")
    return PageError(code, words)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def readable(text: str) -> str:
    """Replace what a page has no right to tell a terminal, such as escape sequences; lines and tabs stay."""
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n"))
