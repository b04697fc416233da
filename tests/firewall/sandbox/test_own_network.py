"""What only some programs get: a loopback that leads nowhere, files of ours at known places, room to reserve."""

import asyncio
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.sandbox.bubblewrap import PLACES
from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import ProcessResult, run_process

pytestmark = pytest.mark.unhurried
isolated = pytest.mark.skipif(bool(offer().lacks("isolated")), reason=str(offer()))


async def run(code: str, where: Path, **held: Any) -> ProcessResult:
    limits = Limits(memory_bytes=200_000_000, cpu_s=10)
    return await run_process(
        [sys.executable, "-I", "-S", "-c", textwrap.dedent(code)],
        cwd=str(where),
        env={},
        limits=held.pop("limits", limits),
        time_limit_s=60,
        output_limit_bytes=4096,
        uses_python=True,
        **held,
    )


LOOPBACK = """
    import socket
    listening = socket.create_server(("127.0.0.1", 0))
    near = socket.create_connection(listening.getsockname())
    print("own loopback", sorted(name for _, name in socket.if_nameindex()))
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            socket.socket(socket.AF_INET, kind).connect(("93.184.216.34", 53))
            print("reached")
        except OSError as exc:
            print(exc.strerror)
    try:
        socket.create_connection(("127.0.0.1", PORT), 2)
        print("reached")
    except OSError as exc:
        print(exc.strerror)
"""


@isolated
async def test_a_loopback_of_its_own_leads_nowhere_else(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    async with server:
        code = LOOPBACK.replace("PORT", str(server.sockets[0].getsockname()[1]))
        ran = await run(code, tmp_path, network=False, isolated=True, own_network=True)

    said = ["own loopback ['lo']", "Network is unreachable", "Network is unreachable", "Connection refused"]
    assert ran.stdout.text().splitlines() == said


async def test_without_bubblewrap_there_is_no_such_loopback(tmp_path: Path) -> None:
    ran = await run(LOOPBACK.replace("PORT", "1"), tmp_path, network=False, own_network=True)

    assert "own loopback" not in ran.stdout.text()
    assert "PermissionError" in ran.stderr.text()


@isolated
async def test_a_file_of_ours_is_shown_at_its_place_and_cannot_be_changed(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    work = tmp_path / "work"
    rules.mkdir()
    work.mkdir()
    (rules / "rules.json").write_text("{}")
    code = f"""
        from pathlib import Path
        shown = Path("{PLACES[0]}/rules.json")
        print(shown.read_text())
        try:
            shown.write_text("mine")
        except OSError as exc:
            print(exc.strerror)
    """

    ran = await run(code, work, network=False, isolated=True, mounts=[(str(rules), PLACES[0])])

    assert ran.stdout.text().splitlines() == ["{}", "Read-only file system"]
    assert (rules / "rules.json").read_text() == "{}"


async def test_reserved_memory_is_free_and_used_memory_is_not(tmp_path: Path) -> None:
    reserving = "import mmap; kept = mmap.mmap(-1, 4_000_000_000); print('reserved')"
    using = "import time; kept = b'x' * 400_000_000; time.sleep(30)"

    free = await run(reserving, tmp_path)
    used = [await run(using, tmp_path, reserves=reserves) for reserves in (False, True)]

    assert (free.exit_code, free.stdout.text()) == (0, "reserved\n")
    assert [each.ended for each in used] == ["memory_limit", "memory_limit"]


async def test_the_tables_of_reserved_memory_count_as_used(tmp_path: Path) -> None:
    touching = (
        "import mmap, time\nkept = mmap.mmap(-1, 200 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)\n"
        "for place in range(0, 200 << 30, 2 << 20): kept[place]\ntime.sleep(30)"
    )

    assert (await run(touching, tmp_path)).ended == "memory_limit"
