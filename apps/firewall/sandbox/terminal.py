"""Terminals for commands that want one (PTY). What comes out of them is data: nobody here interprets it."""

import fcntl
import os
import struct
import termios
from typing import Final

ROWS, COLUMNS = 30, 120
END_OF_INPUT: Final = b"\x04"
"""What a terminal takes for the end of the input, at the beginning of a line."""


def open_terminal() -> tuple[int, int]:
    """Open a terminal that is nobody's yet.

    Returns:
        Our end of it, and the command's.
    Raises:
        OSError: the system has none left.
    """
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return ours, theirs


def take_terminal() -> None:
    """Make the terminal at stdin this process's own; it leads a session that has none."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
