"""The arguments that make bubblewrap hold a command: its own processes, no network, a system that is read-only.

The command sees the system's program folders, copies of a few settings, devices that keep nothing, and its own folders;
nothing else of the machine is there, neither by name nor by process nor by socket. Standard library only.

Source: bwrap(1).
"""

# pathlib takes several times as long, and each run waits for this
# ruff: noqa: PTH103, PTH112, PTH114, PTH115, PTH119, PTH120
import os
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from apps.firewall.sandbox.landlock import PROGRAMS, SETTINGS, is_beneath

SEARCHED = "/usr/local/bin:/usr/bin:/bin"
OF_NETWORK = ("/etc/resolv.conf", "/etc/hosts")
NAMES = "/run/names"
PLACES = ("/etc/chromium/policies/managed", "/etc/opt/chrome/policies/managed")
"""Empty folders among the settings, for files of ours."""


def bubblewrap() -> str:
    """Name the program; empty where it is not installed."""
    return shutil.which("bwrap", path=SEARCHED) or ""


def copy_settings(folder: str) -> None:
    """Copy the settings that every program wants from `/etc`: binding each by itself would cost every run its start."""
    for place in PLACES:
        os.makedirs(folder + place.removeprefix("/etc"), exist_ok=True)
    for setting in SETTINGS:
        if not setting.startswith("/etc/"):
            continue
        target = folder + setting.removeprefix("/etc")
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            if os.path.isdir(setting):
                shutil.copytree(setting, target, symlinks=True)
            else:
                shutil.copyfile(setting, target)
        except (FileNotFoundError, PermissionError, shutil.Error):
            continue  # this machine does not have it, or we may not read it


def arguments(
    argv: Sequence[str],
    *,
    executable: str,
    cwd: str,
    settings: str,
    writable: Sequence[str],
    readable: Sequence[str],
    closed: Sequence[str],
    network: bool,
    filter_fd: int,
    status_fd: int,
    mounts: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Write the whole command line, `bwrap` first.

    Args:
        settings: the folder that `copy_settings` has filled.
        closed: folders that it must not see, though they may lie in a folder of programs.
        filter_fd: where the filter of system calls is read.
        status_fd: where bubblewrap writes how the command ended.
        mounts: a file or folder, and the place where it is shown, read-only.
    """
    words = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    words += [] if network else ["--unshare-net"]
    words += ["--die-with-parent", "--cap-drop", "ALL"]
    words += ["--seccomp", str(filter_fd), "--json-status-fd", str(status_fd)]
    words += [*_system(closed), "--ro-bind", settings, "/etc", "--proc", "/proc", "--dev", "/dev"]
    if network:
        words += [word for path in OF_NETWORK for word in ("--ro-bind-try", os.path.realpath(path), path)]
    words += [word for path in readable for word in ("--ro-bind-try", path, path)]
    words += [word for path in writable for word in ("--bind", path, path)]
    words += [word for source, place in mounts for word in ("--ro-bind", source, place)]
    name = os.path.basename(argv[0])
    program = executable
    if name and name != os.path.basename(executable):  # some programs go by the name that they are called
        program = f"{NAMES}/{name}"
        words += ["--symlink", executable, program]
    # /proc too: to the kernel, settings in it belong to uid 0, whatever powers that has lost
    words += [word for path in ("/proc", "/dev", "/") for word in ("--remount-ro", path)]
    return [*words, "--chdir", cwd, "--", program, *argv[1:]]


def _system(closed: Sequence[str]) -> Iterator[str]:
    """Bind `/usr` as a whole where nothing closed lies in it; else the folders of programs, without that branch."""
    is_free = not any(is_beneath(path, "/usr") for path in closed)
    for folder in dict.fromkeys(real for path, real in folders() if _is_wanted(path, real, is_free=is_free)):
        for path in _without(folder, closed):
            yield from ("--ro-bind", path, path)
    yield from links()


def _is_wanted(path: str, real: str, *, is_free: bool) -> bool:
    if path == "/usr":
        return is_free
    return not (is_free and (is_beneath(path, "/usr") or is_beneath(real, "/usr")))


@cache
def folders() -> tuple[tuple[str, str], ...]:
    """Name the folders of programs that this machine has, each with its real path; a launcher looks once for all."""
    found = ((path, os.path.realpath(path)) for path in ("/usr", *PROGRAMS))
    return tuple((path, real) for path, real in found if os.path.isdir(real))


@cache
def links() -> tuple[str, ...]:
    """Say how folders at the root that lead elsewhere are made; a launcher looks once for all."""
    words: list[str] = []
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(path):
            words += ("--symlink", os.readlink(path), path)
    return tuple(words)


def _without(folder: str, closed: Sequence[str]) -> Iterator[str]:
    if not any(is_beneath(path, folder) for path in closed):
        yield folder
        return
    for each in Path(folder).iterdir():
        if not any(is_beneath(path, str(each)) for path in closed):
            yield str(each)
