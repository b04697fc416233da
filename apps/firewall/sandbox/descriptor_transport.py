"""Our end of a command's pipes or terminal as a transport, the same under every event loop.

The loops' own transports do not do for it. They share the descriptor with a file object, which closes it a second time
when it goes: a call that was cancelled while they opened took away a descriptor of a later call. That of uvloop for
writing also reads, to learn of the other end's close, and so takes what a terminal says; to all of them the end of a
terminal, which the system reports as an error (EIO), is a fault.
"""

import asyncio
import os
from typing import Final

CHUNK_BYTES: Final = 65536
HIGH_WATER_BYTES: Final = 64 * 1024


class DescriptorTransport(asyncio.Transport):
    """Reads into a stream until nobody holds the command's end, and writes what the command may read.

    Args:
        descriptor: our end; this alone closes it.
        stream: is fed what the command says; None for one that is only written to.
    """

    def __init__(self, descriptor: int, stream: asyncio.StreamReader | None = None) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._stream = stream
        self._flow = asyncio.streams.FlowControlMixin()
        self._waiting = bytearray()
        self._is_reading = False
        self._is_full = False
        self._is_at_end = stream is None
        self._is_unread = False
        self._is_ending = False
        os.set_blocking(descriptor, False)
        if stream is not None:
            stream.set_transport(self)
            self.resume_reading()

    def writer(self) -> asyncio.StreamWriter:
        """Return the stream to write to."""
        return asyncio.StreamWriter(self, self._flow, None, self._loop)

    def pause_reading(self) -> None:
        """Leave what the command says with the system, which bounds it."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._descriptor)

    def resume_reading(self) -> None:
        if not (self._is_reading or self._is_at_end):
            self._is_reading = True
            self._loop.add_reader(self._descriptor, self._read)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.is_closing() or self._is_unread or not data:
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
        return self._is_ending

    def close(self) -> None:
        """End reading, and let go of the descriptor once what waits is written."""
        self._is_ending = True
        self._end_reading()
        if not self._waiting:
            self.abort()

    def abort(self) -> None:
        """Let go of the descriptor at once; what waits to be written is dropped."""
        if self._descriptor < 0:
            return
        self._is_ending = True
        self._end_reading()
        self._end_writing()
        os.close(self._descriptor)
        self._descriptor = -1
        self._flow.connection_lost(None)

    def _end_reading(self) -> None:
        """End the stream, and keep the descriptor: to let go of a terminal hangs up on a command about to end."""
        self.pause_reading()
        if self._stream is not None and not self._is_at_end:
            self._stream.feed_eof()
        self._is_at_end = True

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
        except OSError:  # EIO: nobody holds the command's end of the terminal any more
            pass
        if part and self._stream is not None:
            self._stream.feed_data(part)
        else:
            self._end_reading()

    def _write(self) -> None:
        try:
            del self._waiting[: os.write(self._descriptor, self._waiting)]
        except BlockingIOError:
            return
        except OSError as exc:  # nobody reads any more
            self._is_unread = True
            self._flow.connection_lost(exc)
            self._end_writing()
        if self._is_full and len(self._waiting) <= HIGH_WATER_BYTES // 4:
            self._is_full = False
            self._flow.resume_writing()
        if not self._waiting:
            self._loop.remove_writer(self._descriptor)
            if self._is_ending:
                self.abort()
