"""Which files a command may use, held by the kernel (Landlock). Standard library only.

A command reads and runs what the system's own folders hold, reads a handful of files that every program wants, and
reads, writes and makes files below its workspace and a temporary folder of its own. Everything else is refused:
keys, other workspaces, homes, `/tmp`, other processes' parts of `/proc`. From ABI 6 on it cannot signal strangers
either. What this does not hold: the network, connecting to a socket that lies in the file system, asking whether a
file exists. It adds about 3 ms to a run (medians of 10: 60 ms without, 63 ms with, on a busy machine).

Source: the kernel's "Landlock: unprivileged access control"; `include/uapi/linux/landlock.h`.
"""

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from apps.firewall.sandbox.kernel import system_call

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
MACHINES = {"x86_64", "aarch64"}
PROBE_VERSION = 1
RULE_PATH_BENEATH = 1
SCOPE_ABSTRACT_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1
SCOPE_ABI = 6

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK, TRUNCATE, IOCTL_DEV = 1 << 6, 1 << 11, 1 << 14, 1 << 15
# How many rights of files each ABI knows: REFER came with 2, TRUNCATE with 3, IOCTL_DEV with 5.
RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READING = READ_FILE | READ_DIR
RUNNING = READING | EXECUTE
DEVICE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
NOT_IN_WORKSPACE = MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV

# Not /usr, /etc, /opt or /var as a whole: an installation, and with it its keys, may live in any of them.
PARTS = ("bin", "sbin", "lib", "lib32", "lib64", "libexec")
PROGRAMS = (
    *(f"{prefix}/{part}" for prefix in ("", "/usr", "/usr/local") for part in PARTS),
    *("/usr/share", "/usr/include", "/usr/games", "/usr/local/share", "/usr/local/include", "/nix/store"),
)
SETTINGS = (
    *(f"/etc/{name}" for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "alternatives")),
    *(f"/etc/{name}" for name in ("passwd", "group", "nsswitch.conf", "host.conf", "hosts", "gai.conf", "resolv.conf")),
    *(f"/etc/{name}" for name in ("localtime", "timezone", "locale.alias", "locale.conf", "services", "protocols")),
    *(f"/etc/{name}" for name in ("os-release", "debian_version", "gitconfig", "mime.types", "magic", "terminfo")),
    *(f"/etc/{name}" for name in ("inputrc", "bash.bashrc", "profile", "fonts", "crypto-policies", "ca-certificates")),
    *(f"/etc/ssl/{name}" for name in ("certs", "openssl.cnf", "cert.pem")),
    *("/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted"),
    *(f"/proc/{name}" for name in ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version")),
    *("/proc/sys/kernel/osrelease", "/proc/sys/kernel/random", "/proc/sys/vm/overcommit_memory"),
    "/sys/devices/system/cpu",
)
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))


class RulesetAttribute(ctypes.Structure):
    _fields_ = (("handled_fs", ctypes.c_uint64), ("handled_net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


class Confinement(NamedTuple):  # no dataclass: importing that module costs the supervisor milliseconds
    """What this kernel offers: its ABI, 0 with a reason when it offers nothing."""

    abi: int
    reason: str = ""

    def __str__(self) -> str:
        return f"landlock abi {self.abi}" if self.abi else f"none: {self.reason}"


@cache
def confinement() -> Confinement:
    """Ask the kernel once what it can hold commands to."""
    if sys.platform != "linux" or os.uname().machine not in MACHINES:
        return Confinement(0, "Landlock is used on Linux, x86-64 and arm64, only")
    try:
        return Confinement(system_call(CREATE_RULESET, None, 0, PROBE_VERSION))
    except OSError as exc:
        return Confinement(0, f"the kernel has no Landlock or has it switched off ({exc.strerror})")


def programs(python_folders: Sequence[str], workspace: str = "") -> list[str]:
    """List the folders whose files a command may read and run.

    Should a workspace lie in one of them, the branch that leads to it is left out: the keys and the workspaces of
    others are its neighbours.
    """
    found: list[str] = []
    for folder in dict.fromkeys(os.path.realpath(each) for each in (*PROGRAMS, *python_folders)):
        if not is_beneath(workspace, folder):
            found.append(folder)
        else:
            found.extend(str(each) for each in Path(folder).iterdir() if not is_beneath(workspace, str(each)))
    return found


def is_beneath(path: str, folder: str) -> bool:
    """Say whether a real path is a folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def ruleset(abi: int, runnable: Sequence[str]) -> int:
    """Begin the rules of one command, as a descriptor for `allow` and `restrict`: programs, settings and devices.

    Args:
        runnable: folders and files to read and run. A path that cannot be found gets no rule.
    Raises:
        OSError: the kernel did not take the rules.
    """
    attribute = RulesetAttribute(_handled(abi), 0, SCOPE_SIGNAL | SCOPE_ABSTRACT_SOCKET if abi >= SCOPE_ABI else 0)
    size = ctypes.sizeof(attribute) if attribute.scoped else 8  # older kernels know the first member only
    rules = system_call(CREATE_RULESET, ctypes.byref(attribute), size, 0)
    try:
        for rights, paths in ((RUNNING, runnable), (READING, SETTINGS), (DEVICE, DEVICES)):
            _add_found(rules, paths, rights & _handled(abi))
    except OSError:
        os.close(rules)
        raise
    return rules


def allow(rules: int, abi: int, *, readable: Sequence[str], writable: Sequence[str]) -> None:
    """Add what only this command may use.

    Args:
        readable: files and folders to read. A path that cannot be found gets no rule.
        writable: folders to do anything in; each must be there.
    Raises:
        OSError: the kernel did not take the rules.
    """
    _add_found(rules, readable, READING & _handled(abi))
    for path in writable:
        add_rule(rules, path, _handled(abi) & ~NOT_IN_WORKSPACE)


def _handled(abi: int) -> int:
    return int((1 << RIGHTS_BY_ABI.get(abi, max(RIGHTS_BY_ABI.values()))) - 1)


def _add_found(rules: int, paths: Sequence[str], rights: int) -> None:
    for path in paths:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            add_rule(rules, path, rights)


def add_rule(rules: int, path: str, rights: int) -> None:
    """Allow rights on a file, or on a folder and all beneath it."""
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= OF_FILES
        rule = PathBeneath(rights, descriptor)
        system_call(ADD_RULE, rules, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def restrict(rules: int) -> None:
    """Hold this process, and all it starts, to the rules for good; it must have given up new privileges before."""
    add_rule(rules, f"/proc/{os.getpid()}", READING)
    system_call(RESTRICT_SELF, rules, 0)
