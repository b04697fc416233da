"""Byte streams from one address to another, so that a program in a network of its own reaches exactly what it may.

As a program, inside that network: brings up loopback, carries the given streams, and runs a command.

    python -m tests.openclaw.relay --own-network --stream /run/gateway.sock=127.0.0.1:18789 -- COMMAND
"""

import argparse
import asyncio
import contextlib
import fcntl
import signal
import socket
import struct
import sys
from collections.abc import Iterable

IFF_UP_RUNNING = 0x1 | 0x40
SIOCSIFFLAGS = 0x8914
PIECE = 64 * 1024


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await source.read(PIECE):
            target.write(piece)
            await target.drain()
    target.close()


async def _open(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.startswith("/"):
        return await asyncio.open_unix_connection(address)
    host, port = address.rsplit(":", 1)
    return await asyncio.open_connection(host, int(port))


async def carry(listen: str, target: str) -> asyncio.Server:
    """Listen at an address and carry what comes to another; a path is a Unix socket, else it is host:port."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await _open(target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, back), _copy(there, writer))

    if listen.startswith("/"):
        return await asyncio.start_unix_server(accept, listen)
    host, port = listen.rsplit(":", 1)
    return await asyncio.start_server(accept, host, int(port))


def loopback_up() -> None:
    """Switch on the loopback interface of this network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP_RUNNING))


async def _run(streams: Iterable[str], command: list[str]) -> int:
    for stream in streams:
        listen, target = stream.split("=", 1)
        await carry(listen, target)
    process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, process.terminate)
    return await process.wait()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stream", action="append", default=[])
    parser.add_argument("--own-network", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.own_network:
        loopback_up()
    return asyncio.run(_run(given.stream, given.command[1:]))


if __name__ == "__main__":
    sys.exit(main())
