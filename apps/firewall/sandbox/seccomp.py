"""Taking the network from a command, held by the kernel (seccomp). Standard library only; `supervisor.py` loads it.

Without it a command makes no socket but those that stay on the machine (`AF_UNIX`): no TCP, no UDP, nothing raw. What
this does not hold: speaking with a local service whose socket lies in the file system.

Source: seccomp(2), prctl(2); the kernel's `include/uapi/linux/{audit,filter,seccomp}.h`.
"""

import ctypes
import errno
import os
import socket
import sys

PR_SET_SECCOMP = 22
MODE_FILTER = 2
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
AT_NUMBER, AT_MACHINE, AT_FIRST_ARGUMENT = 0, 4, 16
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000
OTHER_TABLE = 0x40000000  # x86-64 has a second table of system calls, behind this bit
IO_URING_SETUP = 425  # it makes sockets without asking for one
# What `uname` says -> what the kernel calls it, and the number of `socket`.
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}


class Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction)))


def deny_network() -> None:
    """Keep this process, and all it starts, from the network for good; it must have given up new privileges before.

    Raises:
        OSError: the kernel cannot do it, or not on this machine.
    """
    machine = MACHINES.get(os.uname().machine)
    if sys.platform != "linux" or machine is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    instructions = _instructions(*machine)
    program = Program(len(instructions), (Instruction * len(instructions))(*instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def _instructions(machine: int, socket_number: int) -> list[Instruction]:
    """Write the filter; jumps count the instructions that they pass over."""
    return [
        Instruction(LOAD_WORD, 0, 0, AT_MACHINE),
        Instruction(JUMP_IF_EQUAL, 0, 8, machine),
        Instruction(LOAD_WORD, 0, 0, AT_NUMBER),
        Instruction(JUMP_IF_AT_LEAST, 6, 0, OTHER_TABLE),
        Instruction(JUMP_IF_EQUAL, 5, 0, IO_URING_SETUP),
        Instruction(JUMP_IF_EQUAL, 0, 2, socket_number),
        Instruction(LOAD_WORD, 0, 0, AT_FIRST_ARGUMENT),
        Instruction(JUMP_IF_EQUAL, 0, 1, int(socket.AF_UNIX)),
        Instruction(RETURN, 0, 0, ALLOW),
        Instruction(RETURN, 0, 0, FAIL_WITH | errno.EACCES),
        Instruction(RETURN, 0, 0, FAIL_WITH | errno.ENOSYS),
    ]
