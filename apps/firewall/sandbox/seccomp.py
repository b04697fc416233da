"""Which system calls a tool may make, held by the kernel (seccomp). Standard library only; the supervisor loads it.

An allow list (`system_calls.py`), and below it what is looked into: a call that names a process takes the command's own
only, no mode has a bit that lends the owner's powers, and sockets are of few kinds. Without the network a command makes
no socket but streams that stay on the machine, and connects to none: no TCP, no UDP, nothing raw, no service behind a
socket in a folder.

Source: seccomp(2), prctl(2); the kernel's `include/uapi/linux/{audit,filter,seccomp}.h`.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from typing import NamedTuple

from apps.firewall.sandbox import system_calls as calls
from apps.firewall.sandbox.kernel import PR_SET_SECCOMP, prctl

MODE_FILTER = 2
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, JUMP_IF_ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
AT_NUMBER, AT_MACHINE, AT_ARGUMENTS, WORDS_BYTES = 0, 4, 16, 8
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""How a machine names itself -> what the kernel calls it, and the column of its numbers."""
OTHER_TABLE = 0x40000000  # x86-64 has a second table of system calls, behind this bit

NEW_NAMESPACES = 0x7E020000  # the flags of clone(2) that make any
TYPE_OF_SOCKET = 0xF  # the other bits of the second argument are flags
STREAMS = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET: what can send to a name is a datagram, which SOCK_RAW is, too
ON_THIS_MACHINE, FAMILIES = (1,), (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
NETLINK, NETLINK_ROUTE = 16, 0  # of this family, programs ask for addresses and routes
LENDING_BITS = 0o6000  # set user and group on execution
MAKING_FILES = 0o20000100  # O_CREAT and O_TMPFILE: without these the mode is not read
REFUSED_CONTROLS = (
    *(0x5412, 0x541C),  # TIOCSTI, TIOCLINUX: typing into a terminal on behalf of whoever sits there
    *(0x8901, 0x8902),  # FIOSETOWN, SIOCSPGRP: signals to any process
)
SET_OWNER = 8  # F_SETOWN
REFUSED_FILE_CONTROLS = (15, 1026)  # F_SETOWN_EX, F_NOTIFY
REFUSED_SELF_CONTROLS = (35, 62)  # PR_SET_MM, PR_SCHED_CORE, which names another process
PERSONALITIES = (0, 8, 0x20000, 0x20008, 0x40000, 0xFFFFFFFF)  # ordinary ones, without random addresses, and asking
ONE_PROCESS = {"setpriority": 0, "ioprio_set": 1}  # not a group, not a user
OF_A_PROCESS = ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
WITH_MODE = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1}
WITH_MODE |= {"mkdir": 1, "mkdirat": 2, "mknod": 1, "mknodat": 2}
EVERYBODY = 0xFFFFFFFF

Words = tuple[int, int, int, int]


class Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction)))


class Template(NamedTuple):
    """A filter, and the places in it where the number of a process is to stand."""

    instructions: "ctypes.Array[Instruction]"
    places: tuple[int, ...]


OWN = -1
"""Stands in a template for the number of the command's process."""


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

    What names a process may name this one only, also in the processes that it starts.

    Args:
        network: whether it may use the network.
    Raises:
        OSError: the kernel cannot do it, or not on this machine.
    """
    instructions, places = make_template(network=network, is_alone=False)
    for place in places:
        instructions[place].value = os.getpid()
    program = Program(len(instructions), ctypes.cast(instructions, ctypes.POINTER(Instruction)))
    prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program))


def filter_bytes(*, network: bool) -> bytes:
    """Write the filter as bytes, for a program that takes one and gives the command processes of its own."""
    return bytes(make_template(network=network, is_alone=True).instructions)


@cache
def make_template(*, network: bool, is_alone: bool) -> Template:
    """Make the filter; a launcher makes it once for all runs.

    Args:
        is_alone: no process of others, and no folder of theirs, can be named where the command runs.
    Raises:
        OSError: this machine's calls are not known.
    """
    machine = MACHINES.get(os.uname().machine)
    if sys.platform != "linux" or machine is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    written = list(_Writer(*machine, network=network, is_alone=is_alone).program())
    places = tuple(place for place, (*_, value) in enumerate(written) if value == OWN)
    return Template((Instruction * len(written))(*(Instruction(*each) for each in written)), places)


def _fail(code: int) -> Words:
    return (RETURN, 0, 0, FAIL_WITH | code)


def _load(argument: int) -> Words:
    """Load the low word of an argument: the kernel reads no more of those that are looked into."""
    return (LOAD_WORD, 0, 0, AT_ARGUMENTS + WORDS_BYTES * argument)


def _one_of(values: Sequence[int], code: int = errno.EPERM) -> Iterator[Words]:
    """Go on when what is loaded is one of some values; fail otherwise."""
    for index, value in enumerate(values):
        yield (JUMP_IF_EQUAL, len(values) - index, 0, value)
    yield _fail(code)


def _none_of(values: Sequence[int]) -> Iterator[Words]:
    for value in values:
        yield from ((JUMP_IF_EQUAL, 0, 1, value), _fail(errno.EPERM))


def _no_bit_of(bits: int) -> Iterator[Words]:
    yield from ((JUMP_IF_ANY_BIT, 0, 1, bits), _fail(errno.EPERM))


class _Writer:
    """Writes the filter of one machine; jumps count the instructions that they pass over."""

    def __init__(self, machine: int, column: int, *, network: bool, is_alone: bool) -> None:
        self._machine = machine
        self._column = column
        self._network = network
        self._is_alone = is_alone

    def program(self) -> Iterator[Words]:
        yield from ((LOAD_WORD, 0, 0, AT_MACHINE), (JUMP_IF_EQUAL, 1, 0, self._machine), _fail(errno.ENOSYS))
        yield from ((LOAD_WORD, 0, 0, AT_NUMBER), (JUMP_IF_AT_LEAST, 0, 1, OTHER_TABLE), _fail(errno.ENOSYS))
        for name, looks in self._looks():
            number = calls.ALLOWED[name][self._column]
            if number != calls.NONE:
                words = (*looks, (RETURN, 0, 0, ALLOW))
                yield from ((JUMP_IF_EQUAL, 0, len(words), number), *words)
        yield from self._answers()

    def _looks(self) -> Iterator[tuple[str, Iterator[Words]]]:
        """Say what is looked into of calls that are allowed."""
        own = () if self._is_alone else (0, OWN)
        yield "clone", chain([_load(0)], _no_bit_of(NEW_NAMESPACES))
        yield "ioctl", chain([_load(1)], _none_of(REFUSED_CONTROLS))
        yield "prctl", chain([_load(0)], _none_of(REFUSED_SELF_CONTROLS))
        yield "personality", chain([_load(0)], _one_of(PERSONALITIES))
        yield "fcntl", chain([_load(1)], _none_of(REFUSED_FILE_CONTROLS), self._owner(own))
        for name, which in ONE_PROCESS.items():
            yield name, chain([_load(0)], _one_of((which,)), self._process(1, own))
        for name in OF_A_PROCESS:
            yield name, self._process(0, own)
        if not self._is_alone:
            yield "kill", chain([_load(0)], _none_of((EVERYBODY,)))
        for name, argument in WITH_MODE.items():
            yield name, chain([_load(argument)], _no_bit_of(LENDING_BITS))
        for name, flags in (("open", 1), ("openat", 2)):
            mode = (_load(flags + 1), *_no_bit_of(LENDING_BITS))
            yield name, iter([_load(flags), (JUMP_IF_ANY_BIT, 0, len(mode), MAKING_FILES), *mode])
        yield from self._sockets()

    def _process(self, argument: int, own: Sequence[int]) -> Iterator[Words]:
        return chain([_load(argument)], _one_of(own)) if own else iter(())

    def _owner(self, own: Sequence[int]) -> Iterator[Words]:
        """Let a command have signals of its files sent to itself."""
        words = tuple(self._process(2, own))
        return chain([(JUMP_IF_EQUAL, 0, len(words), SET_OWNER)], words) if words else iter(())

    def _sockets(self) -> Iterator[tuple[str, Iterator[Words]]]:
        denied = errno.EACCES
        kind = (_load(1), (AND, 0, 0, TYPE_OF_SOCKET), *_one_of(STREAMS, denied))
        if self._network:
            asking = (_load(2), *_one_of((NETLINK_ROUTE,), denied))
            looks = (_load(0), *_one_of(FAMILIES, denied), (JUMP_IF_EQUAL, 0, len(asking), NETLINK), *asking)
            yield "socket", iter(looks)
            return
        yield "socket", chain([_load(0)], _one_of(ON_THIS_MACHINE, denied), kind)
        yield "socketpair", chain([_load(0)], _one_of(ON_THIS_MACHINE, denied), kind)
        yield "connect", iter([_fail(denied)])

    def _answers(self) -> Iterator[Words]:
        """Allow what is listed and refuse the rest: from the highest number down, a pair for each run of alike ones."""
        answers = dict.fromkeys(self._numbers(calls.ALLOWED), (RETURN, 0, 0, ALLOW))
        absent = {**calls.ABSENT, **({} if self._is_alone else calls.WATCHES)}
        answers |= dict.fromkeys(self._numbers(absent), _fail(errno.ENOSYS))
        latest = max(answers)
        known = ((number, answers.get(number, _fail(errno.EPERM))) for number in range(latest + 1))
        runs = [(next(run)[0], answer) for answer, run in groupby(known, key=lambda each: each[1])]
        for first, answer in reversed([*runs, (latest + 1, _fail(errno.ENOSYS))]):
            yield from ((JUMP_IF_AT_LEAST, 0, 1, first), answer)
        yield _fail(errno.EPERM)

    def _numbers(self, table: calls.Table) -> Iterator[int]:
        return (each[self._column] for each in table.values() if each[self._column] != calls.NONE)
