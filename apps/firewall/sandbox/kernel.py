"""Asking the kernel for what Python has no function for. Standard library only: the supervisor loads it."""

import ctypes
import errno
import os
from functools import cache

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION = 0x20080522


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def prctl(option: int, value: int, argument: object = 0) -> None:
    """Change a property of this process.

    Raises:
        OSError: the kernel refused.
    """
    if _libc().prctl(option, value, argument, 0, 0) != 0:
        raise _error()


def system_call(number: int, *arguments: object) -> int:
    """Make a system call that has no function of its own.

    Raises:
        OSError: the kernel refused.
    """
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = int(_libc().syscall(ctypes.c_long(number), *words))
    if answer < 0:
        raise _error()
    return answer


def drop_capabilities() -> None:
    """Give up every capability of this process.

    Raises:
        OSError: the kernel refused, or the machine's number for the call is not known.
    Source: capset(2), version 3 of its header.
    """
    number = CAPSET.get(os.uname().machine)
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    system_call(number, header, (ctypes.c_uint32 * 6)())


def _error() -> OSError:
    code = ctypes.get_errno()
    return OSError(code, os.strerror(code))
