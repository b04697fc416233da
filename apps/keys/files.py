"""Secrets as files of mode 0600, made at first use and never overwritten."""

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path


def secret_bytes(path: Path, make: Callable[[], bytes]) -> bytes:
    """Read a secret file, making it first when it is missing.

    Two processes that start together agree: the file appears whole or not at all, and the first one wins.

    Raises:
        OSError: the folder cannot be written, or the file not read.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):  # another process was first: its secret is the one
                os.link(draft, path)
        finally:
            draft.unlink()
    return path.read_bytes()


def secret_text(path: Path) -> str:
    """Read a random text secret (64 letters of hex), making it first when it is missing."""
    return secret_bytes(path, lambda: secrets.token_hex(32).encode()).decode()
