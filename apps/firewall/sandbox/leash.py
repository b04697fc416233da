"""The way to a command that runs: to speak with it, and to end it, from outside of who waits for it."""

import asyncio
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.supervised import Supervised
from apps.firewall.sandbox.terminal import END_OF_INPUT

WAITING_LIMIT_BYTES: Final = 256 * 1024
"""Of what was written and not read yet; more is refused, so that a command that never reads costs no memory."""

PATIENCE_S: Final = 2.0


class InputClosedError(FirewallError):
    """The command takes no more input."""

    code = "input_closed"


class InputFullError(FirewallError):
    """The command does not read what was written before."""

    code = "input_full"


class Leash:
    """Given to `run_process`, whose command then reads what is written here.

    Args:
        has_terminal: the command has a terminal instead of pipes.
    """

    def __init__(self, *, has_terminal: bool = False) -> None:
        self.has_terminal = has_terminal
        self._supervised: Supervised | None = None
        self._is_closed = False
        self._is_ended = False

    @property
    def is_open(self) -> bool:
        """Say whether something may be written."""
        return self._stream is not None

    @property
    def _stream(self) -> asyncio.StreamWriter | None:
        if self._supervised is None or self._is_closed or self._is_ended:
            return None
        stream = self._supervised.stdin
        return None if stream is None or stream.is_closing() else stream

    def hold(self, supervised: Supervised) -> None:
        """Take the command that has begun. For `run_process` only."""
        self._supervised = supervised
        if self._is_ended:
            supervised.ask_to_end()

    async def write(self, content: bytes, *, is_last: bool = False) -> bool:
        """Hand something to the input, and close it where that was the last.

        Returns:
            Whether the system took all of it; the rest is handed on as the command reads.
        Raises:
            InputClosedError: it was closed, or the command has ended.
            InputFullError: too much waits already; nothing was taken.
        """
        stream = self._stream
        if stream is None:
            raise InputClosedError("the input of this command is closed")
        if stream.transport.get_write_buffer_size() + len(content) > WAITING_LIMIT_BYTES:
            raise InputFullError("the command does not read what was written before")
        stream.write(content + END_OF_INPUT if is_last and self.has_terminal else content)
        self._is_closed = is_last and not self.has_terminal
        try:
            async with asyncio.timeout(PATIENCE_S):
                await stream.drain()
        except TimeoutError:
            return False
        except ConnectionError as exc:
            raise InputClosedError("the command does not read any more") from exc
        finally:
            if self._is_closed:
                stream.close()  # when it has handed on what waits
        return True

    def end(self) -> None:
        """Have the whole tree ended; whoever waits for the command hears that it was stopped."""
        self._is_ended = True
        if self._supervised is not None:
            self._supervised.ask_to_end()
