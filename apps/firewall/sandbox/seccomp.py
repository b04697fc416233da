"""Which system calls a command may make, held by the kernel (seccomp). Standard library only; the supervisor loads it.

Nobody in a sandbox looks into other processes, mounts, makes namespaces, loads code into the kernel, keeps keys in it,
or makes memory that outlives it or that no limit counts. Without the network a command makes no socket but streams
that stay on the machine, and connects to none: no TCP, no UDP, nothing raw, no service behind a socket in a folder.

Source: seccomp(2), prctl(2); the kernel's `include/uapi/linux/{audit,filter,seccomp}.h` and tables of system calls.
"""

import ctypes
import errno
import os
import socket
import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from apps.firewall.sandbox.kernel import PR_SET_SECCOMP, prctl

MODE_FILTER = 2
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, JUMP_IF_ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
AT_NUMBER, AT_MACHINE, AT_FIRST_ARGUMENT, AT_SECOND_ARGUMENT = 0, 4, 16, 24
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
OTHER_TABLE = 0x40000000  # x86-64 has a second table of system calls, behind this bit
NEW_NAMESPACES = 0x7E020000  # the flags of clone(2) that make any
TYPE_OF_SOCKET = 0xF  # the other bits of the second argument are flags
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # typing into a terminal on behalf of whoever sits there


class Numbers(NamedTuple):
    """How one machine names itself and the calls that are looked into."""

    machine: int
    socket: int
    socketpair: int
    connect: int
    clone: int
    ioctl: int
    refused: tuple[int, ...]


# Numbers from 424 on are the same everywhere.
NEWER = (428, 429, 430, 431, 432, 433, 438, 442, 447)  # open_tree … fspick, pidfd_getfd, mount_setattr, memfd_secret
ABSENT = (425, 426, 427, 435)  # io_uring makes sockets without asking for one; clone3 hides its flags
MACHINES = {
    "x86_64": Numbers(
        machine=0xC000003E,
        socket=41,
        socketpair=53,
        connect=42,
        clone=56,
        ioctl=16,
        refused=(
            *(101, 310, 311, 312),  # ptrace, process_vm_readv, process_vm_writev, kcmp
            *(165, 166, 155, 272, 308, 303, 304, 163, 161),  # mounts, namespaces, files by handle, acct, chroot
            *(175, 313, 176, 246, 320, 321, 298, 323, 300, 169, 167, 168, 103),  # modules, kexec, bpf, perf, …
            *(248, 249, 250),  # keys
            *(319, 29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 240),  # memfd_create, System V, message queues
        ),
    ),
    "aarch64": Numbers(
        machine=0xC00000B7,
        socket=198,
        socketpair=199,
        connect=203,
        clone=220,
        ioctl=29,
        refused=(
            *(117, 270, 271, 272),
            *(40, 39, 41, 97, 268, 264, 265, 89, 51),
            *(105, 273, 106, 104, 294, 280, 241, 282, 262, 142, 224, 225, 116),
            *(217, 218, 219),
            *(279, 194, 195, 196, 190, 191, 193, 186, 187, 188, 189, 180),
        ),
    ),
}


class Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction)))


def seccomp_problem() -> str:
    """Say why this machine cannot hold a process to system calls; empty when it can."""
    if sys.platform != "linux" or os.uname().machine not in MACHINES:
        return "seccomp is used on Linux, x86-64 and arm64, only"
    try:
        prctl(PR_SET_SECCOMP, MODE_FILTER, None)
    except OSError as exc:
        if exc.errno != errno.EFAULT:  # it would have read the filter
            return f"the kernel has no seccomp filters ({exc.strerror})"
    return ""


def refuse_calls(*, network: bool) -> None:
    """Hold this process, and all it starts, for good; it must have given up new privileges before.

    Args:
        network: whether it may use the network.
    Raises:
        OSError: the kernel cannot do it, or not on this machine.
    """
    instructions = _instructions(network=network)
    program = Program(len(instructions), ctypes.cast(instructions, ctypes.POINTER(Instruction)))
    prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program))


def filter_bytes(*, network: bool) -> bytes:
    """Write the same filter as bytes, for a program that takes one."""
    return bytes(_instructions(network=network))


@cache
def _instructions(*, network: bool) -> "ctypes.Array[Instruction]":
    """Make the filter; a launcher makes it once for all runs."""
    numbers = MACHINES.get(os.uname().machine)
    if sys.platform != "linux" or numbers is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    instructions = [Instruction(*each) for each in _written(numbers, network=network)]
    return (Instruction * len(instructions))(*instructions)


def _written(numbers: Numbers, *, network: bool) -> Iterator[tuple[int, int, int, int]]:
    """Write the filter; jumps count the instructions that they pass over."""
    yield from ((LOAD_WORD, 0, 0, AT_MACHINE), (JUMP_IF_EQUAL, 1, 0, numbers.machine), _fail(errno.ENOSYS))
    yield from ((LOAD_WORD, 0, 0, AT_NUMBER), (JUMP_IF_AT_LEAST, 0, 1, OTHER_TABLE), _fail(errno.ENOSYS))
    for number in ABSENT:
        yield from ((JUMP_IF_EQUAL, 0, 1, number), _fail(errno.ENOSYS))
    for number in (*numbers.refused, *NEWER, *(() if network else (numbers.connect,))):
        yield from ((JUMP_IF_EQUAL, 0, 1, number), _fail(errno.EACCES if number == numbers.connect else errno.EPERM))
    yield from (
        *_looked_into(numbers.clone, AT_FIRST_ARGUMENT, (JUMP_IF_ANY_BIT, 0, 1, NEW_NAMESPACES)),
        *_looked_into(numbers.ioctl, AT_SECOND_ARGUMENT, (JUMP_IF_EQUAL, 0, 1, TIOCSTI)),
        *_looked_into(numbers.ioctl, AT_SECOND_ARGUMENT, (JUMP_IF_EQUAL, 0, 1, TIOCLINUX)),
    )
    if not network:
        for number in (numbers.socket, numbers.socketpair):
            yield from _streams_on_this_machine(number)
    yield (RETURN, 0, 0, ALLOW)


def _fail(code: int) -> tuple[int, int, int, int]:
    return (RETURN, 0, 0, FAIL_WITH | code)


def _looked_into(number: int, where: int, test: tuple[int, int, int, int]) -> Iterator[tuple[int, int, int, int]]:
    """Refuse a call whose argument fits a test; the number of the call is loaded before and after."""
    yield from ((JUMP_IF_EQUAL, 0, 4, number), (LOAD_WORD, 0, 0, where), test, _fail(errno.EPERM))
    yield (LOAD_WORD, 0, 0, AT_NUMBER)


def _streams_on_this_machine(number: int) -> Iterator[tuple[int, int, int, int]]:
    """Refuse other sockets than streams of AF_UNIX: a datagram names its receiver in memory that no filter reads."""
    yield from ((JUMP_IF_EQUAL, 0, 8, number), (LOAD_WORD, 0, 0, AT_FIRST_ARGUMENT))
    yield from ((JUMP_IF_EQUAL, 1, 0, int(socket.AF_UNIX)), _fail(errno.EACCES))
    yield from ((LOAD_WORD, 0, 0, AT_SECOND_ARGUMENT), (AND, 0, 0, TYPE_OF_SOCKET))
    yield from ((JUMP_IF_EQUAL, 0, 1, int(socket.SOCK_DGRAM)), _fail(errno.EACCES), (LOAD_WORD, 0, 0, AT_NUMBER))
