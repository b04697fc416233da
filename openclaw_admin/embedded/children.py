"""Child processes that end with their parent, and the lowered account they run under."""

import ctypes
import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# PostgreSQL refuses to run as root, and initdb wants an account that has a name. These come with the base system and
# run nothing else; `nobody` is last because it is where other programs lower themselves to.
ACCOUNTS = ("postgres", "uucp", "news", "nobody")
SAFE_PATH = "/usr/local/bin:/usr/bin:/bin"
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Account:
    """Whom children run as; `uid` None means as ourselves."""

    name: str
    uid: int | None = None
    gid: int | None = None

    def own(self, path: Path) -> None:
        """Hand a file or folder to the account."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def first_closed(self, folder: Path) -> Path | None:
        """Name the first folder on the way to this one that the account may not enter; None when the way is open."""
        if self.uid is None:
            return None
        for step in reversed((folder, *folder.absolute().parents)):
            status = step.stat()
            right = 0o100 if status.st_uid == self.uid else 0o010 if status.st_gid == self.gid else 0o001
            if not status.st_mode & right:
                return step
        return None


def lowered_account() -> Account:
    """Choose the account of the services: ourselves, or an unprivileged one when we are root."""
    if os.geteuid() != 0:
        return Account(str(os.geteuid()))
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(name, entry.pw_uid, entry.pw_gid)
    raise PermissionError(1, "no unprivileged account to run PostgreSQL under", "/etc/passwd")


def _end_with_parent(parent: int, signal_number: int) -> Callable[[], None]:
    def prepare() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
        if os.getppid() != parent:  # the parent died between fork and prctl
            os._exit(1)

    return prepare


def start_child(
    command: Sequence[str | Path],
    *,
    account: Account,
    folder: Path,
    output: IO[bytes] | int,
    environment: Mapping[str, str],
    death_signal: int = signal.SIGINT,
) -> subprocess.Popen[bytes]:
    """Start a process that gets `death_signal` when the thread that calls this ends, however it ends.

    It stands in a process group of its own, so that Ctrl-C in the terminal reaches only us and we end it in order.
    """
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env={"PATH": SAFE_PATH, "LC_ALL": "C", **environment},
        user=account.uid,
        group=account.gid,
        extra_groups=[] if account.uid is not None else None,
        process_group=0,
        preexec_fn=_end_with_parent(os.getpid(), death_signal),
    )


def run_child(
    command: Sequence[str | Path], *, account: Account, folder: Path, environment: Mapping[str, str], timeout_s: float
) -> tuple[int, str]:
    """Run a process to its end; return its exit code and what it wrote."""
    process = start_child(command, account=account, folder=folder, output=subprocess.PIPE, environment=environment)
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    return process.returncode, output.decode(errors="replace")


def stop_child(process: subprocess.Popen[bytes], steps: Sequence[tuple[int, float]]) -> None:
    """End a process with the first signal that it obeys: each is given so many seconds."""
    for signal_number, patience_s in steps:
        if process.poll() is not None:
            return
        process.send_signal(signal_number)
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            continue
