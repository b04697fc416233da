"""What can go wrong with an embedded service, each as one sentence for the person at the terminal."""

import errno
from pathlib import Path


class EmbeddedError(Exception):
    """A service that cannot be started or reached."""


class AlreadyRunsError(EmbeddedError):
    """Another process of this installation holds the folder."""


def of_os_error(exc: OSError, folder: Path) -> EmbeddedError:
    """Turn an error of the operating system into the sentence that names folder and cause."""
    if exc.errno == errno.ENOSPC:
        return EmbeddedError(f"the disk that holds {folder} is full: free some space and start again")
    if exc.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return EmbeddedError(f"cannot write to {exc.filename or folder}: {exc.strerror}")
    return EmbeddedError(f"{exc.filename or folder}: {exc.strerror}")


def of_server_log(text: str, folder: Path) -> EmbeddedError:
    """Turn what PostgreSQL or initdb wrote before it gave up into one sentence."""
    if "No space left on device" in text:
        return EmbeddedError(f"the disk that holds {folder} is full: free some space and start again")
    reasons = [line for line in text.splitlines() if "FATAL" in line or "error:" in line or "PANIC" in line]
    reason = (reasons or text.splitlines() or ["no reason given"])[-1]
    for mark in ("FATAL:", "PANIC:", "error:"):
        reason = reason.rpartition(mark)[2].strip()
    return EmbeddedError(f"PostgreSQL in {folder} does not start: {reason}")
