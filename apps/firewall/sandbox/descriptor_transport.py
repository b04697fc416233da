"""Our end of a command's terminal as a transport, the same under every event loop.

The loops' own transports of pipes do not do for it. That of uvloop for writing also reads, to learn of the other end's
close, and so takes what the command says; to all of them the end of a terminal, which the system reports as an error
(EIO), is a fault.
"""

import asyncio
import os
from typing import Final

CHUNK_BYTES: Final = 65536
HIGH_WATER_BYTES: Final = 64 * 1024


class DescriptorTransport(asyncio.Transport):
    """Reads into a stream until nobody holds the command's end, and writes what the command may read.

    Args:
        descriptor: our end; it is closed with this.
        stream: is fed what the command says.
    """

    def __init__(self, descriptor: int, stream: asyncio.StreamReader) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._stream = stream
        self._flow = asyncio.streams.FlowControlMixin()
        self._waiting = bytearray()
        self._is_reading = False
        self._is_full = False
        self._is_at_end = False
        os.set_blocking(descriptor, False)
        stream.set_transport(self)
        self.resume_reading()

    def writer(self) -> asyncio.StreamWriter:
        """Return the stream to write to."""
        return asyncio.StreamWriter(self, self._flow, None, self._loop)

    def pause_reading(self) -> None:
        """Leave what the command says in the terminal, whose size bounds it."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._descriptor)

    def resume_reading(self) -> None:
        if not (self._is_reading or self._is_at_end or self.is_closing()):
            self._is_reading = True
            self._loop.add_reader(self._descriptor, self._read)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.is_closing() or not data:
            return
        self._waiting += data
        self._write()
        if self._waiting:
            self._loop.add_writer(self._descriptor, self._write)
        if len(self._waiting) > HIGH_WATER_BYTES and not self._is_full:
            self._is_full = True
            self._flow.pause_writing()

    def get_write_buffer_size(self) -> int:
        return len(self._waiting)

    def is_closing(self) -> bool:
        return self._descriptor < 0

    def close(self) -> None:
        """End both directions and let go of the terminal; what waits to be written is dropped."""
        if self.is_closing():
            return
        self._end_reading()
        self._end_writing()
        os.close(self._descriptor)
        self._descriptor = -1
        self._flow.connection_lost(None)

    def _end_reading(self) -> None:
        """End the stream, and keep the terminal: letting go of it would hang up on a command that is about to end."""
        self.pause_reading()
        self._is_at_end = True
        self._stream.feed_eof()

    def _end_writing(self) -> None:
        self._loop.remove_writer(self._descriptor)
        self._waiting.clear()
        if self._is_full:
            self._is_full = False
            self._flow.resume_writing()

    def _read(self) -> None:
        part = b""
        try:
            part = os.read(self._descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody holds the command's end any more
            pass
        if part:
            self._stream.feed_data(part)
        else:
            self._end_reading()

    def _write(self) -> None:
        try:
            del self._waiting[: os.write(self._descriptor, self._waiting)]
        except BlockingIOError:
            return
        except OSError:
            self._end_writing()
            return
        if not self._waiting:
            self._loop.remove_writer(self._descriptor)
        if self._is_full and len(self._waiting) <= HIGH_WATER_BYTES // 4:
            self._is_full = False
            self._flow.resume_writing()
