"""Ports for servers that tests start."""

import contextlib
import random
import socket

OURS = range(15_000, 32_000)
"""Below those that Linux gives to whoever connects: none of them is taken between being chosen and being used."""
TRIES = 100


def free_port() -> int:
    """Choose a port of this machine that nobody has."""
    draw = random.SystemRandom()
    for _ in range(TRIES):
        port = draw.choice(OURS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError(f"each of {TRIES} ports is taken")
