"""Making the whole system read-only to a process, but for its own folders, held by the kernel (mounts).

Landlock says nothing of modes, owners, times and attributes: without this a command could change those of any file
that its user owns. Standard library only. Runs as `python -I -S mounts.py FOLDER` to try it.

Source: mount(2), mount_setattr(2), user_namespaces(7).
"""

import ctypes
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(__file__.rsplit("/", 4)[0])  # it runs with no path but the standard library's

from apps.firewall.sandbox.kernel import PR_SET_DUMPABLE, prctl, system_call

NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
RECURSIVE, PRIVATE, BIND = 1 << 14, 1 << 18, 1 << 12
MOUNT_SETATTR, HERE, WHOLE_TREE, READ_ONLY = 442, -100, 0x8000, 1
NUMBERS = {"x86_64": (272, 165), "aarch64": (97, 40)}
"""Machine -> unshare, mount."""


class Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("namespace", ctypes.c_uint64),
    )


def make_read_only() -> None:
    """Make everything read-only to this process, and all it starts.

    It has every power over mounts afterwards, and has to give that up.

    Raises:
        OSError: the kernel does not let this user do so, or not on this machine.
    """
    unshare, mount = _numbers()
    user, group = os.getuid(), os.getgid()
    prctl(PR_SET_DUMPABLE, 1)  # else its own part of /proc belongs to root
    system_call(unshare, NEW_USER | NEW_MOUNTS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    system_call(mount, b"none", b"/", None, RECURSIVE | PRIVATE, None)
    _set_attributes(b"/", WHOLE_TREE, Attributes(set=READ_ONLY))


def make_writable(folders: Sequence[str]) -> None:
    """Except some folders from `make_read_only`, which was called before.

    Raises:
        OSError: one of them is not there, or is read-only to everybody.
    """
    _, mount = _numbers()
    for folder in folders:
        path = os.fsencode(folder)
        system_call(mount, path, path, None, BIND | RECURSIVE, None)
        _set_attributes(path, 0, Attributes(clear=READ_ONLY))


def _numbers() -> tuple[int, int]:
    numbers = NUMBERS.get(os.uname().machine)
    if numbers is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return numbers


def _set_attributes(path: bytes, flags: int, attributes: Attributes) -> None:
    size = ctypes.sizeof(attributes)
    system_call(MOUNT_SETATTR, HERE, path, flags, ctypes.byref(attributes), size)


if __name__ == "__main__":
    try:
        make_read_only()
        make_writable(sys.argv[1:])
        Path(sys.argv[1], "trial").touch()
    except OSError as exc:
        sys.exit(exc.strerror)
