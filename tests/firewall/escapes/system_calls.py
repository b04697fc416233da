"""The attempts by system calls that reach other processes, the machine or the kernel: one program makes them all.

They are made at every level, also where nothing confines files, and each in a process of its own. What names a process
names the bystander, which is looked at afterwards; what would change the machine is given what the kernel refuses, and
counts as an escape when it was the kernel that did.
"""

# attempts are lines of a table: breaking them makes them harder to read
# ruff: noqa: E501

import json
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from apps.firewall.runtime.call import CallResult
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.testing import call_of
from apps.firewall.sandbox.levels import Level
from tests.firewall.escapes.attempts import PREAMBLE, Attempt
from tests.firewall.escapes.doors import SECRET, Outside, world

CALL_DOORS: Final = {
    "isolated": "commands in bubblewrap",
    "filesystem": "commands with Landlock",
    "process": "commands at `process`",
    "none": "commands at `none`",
    "python_isolated": "Python tools in bubblewrap",
    "python": "Python tools",
    "python_process": "Python tools at `process`",
    "python_none": "Python tools at `none`",
}
"""Key -> what people call it."""
LEVELS: Final[dict[str, Level]] = {
    "isolated": "isolated",
    "filesystem": "filesystem",
    "process": "process",
    "none": "none",
    "python_isolated": "isolated",
    "python": "filesystem",
    "python_process": "process",
    "python_none": "none",
}
CONFINED: Final = ("isolated", "filesystem", "python_isolated", "python")
"""Doors behind which signals are held, too."""
WALL_S: Final = 60
CPU_S: Final = 20

NUMBERS: Final = {
    "prlimit64": (302, 261), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "prctl": (157, 167), "process_vm_writev": (311, 271), "process_vm_readv": (310, 270),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "kcmp": (312, 272), "mbind": (237, 235), "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450), "memfd_secret": (447, 447), "userfaultfd": (323, 282),
    "get_robust_list": (274, 100), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "perf_event_open": (298, 241), "bpf": (321, 280), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1),
    "lookup_dcookie": (212, 18), "acct": (163, 89), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142), "setdomainname": (171, 162),
    "sethostname": (170, 161), "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "fsopen": (430, 430), "fsmount": (432, 432), "fsconfig": (431, 431),
    "fspick": (433, 433), "move_mount": (429, 429), "open_tree": (428, 428), "open_tree_attr": (467, 467),
    "mount_setattr": (442, 442), "statmount": (457, 457), "listmount": (458, 458), "pivot_root": (155, 41),
    "umount2": (166, 39), "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "io_setup": (206, 0), "io_uring_register": (427, 427),
    "io_uring_enter": (426, 426), "vhangup": (153, 58), "uselib": (134, -1), "sysfs": (139, -1), "ustat": (136, -1),
    "unshare": (272, 97), "setns": (308, 268), "clone3": (435, 435), "sync": (162, 81), "syncfs": (306, 267),
    "personality": (135, 92), "name_to_handle_at": (303, 264), "openat2": (437, 437), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "tgkill": (234, 131), "tkill": (200, 130), "fchmodat2": (452, 452),
    "chmod": (90, -1), "openat": (257, 56), "mknodat": (259, 33), "mkdirat": (258, 34), "file_setattr": (469, 469),
    "remap_file_pages": (216, 234), "getpid": (39, 172),
}  # fmt: skip
"""Name of a call -> its numbers on x86-64 and on arm64."""

HELPERS: Final = """
import array, fcntl, resource, signal, socket, stat, struct
NUMBERS.update({numbers})
B, UID, SUPERVISOR = W["bystander"], os.getuid(), os.getppid()
class Looked(Exception): pass
def raw(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    number = NUMBERS[name] if isinstance(name, str) else name
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = libc.syscall(ctypes.c_long(number), *words)
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
def reach(name, *arguments):
    # refused by the filter, or nobody is there; whatever else the kernel says, it has looked into the call
    try: answer = raw(name, *arguments)
    except OSError as exc:
        if exc.errno not in (1, 3, 13, 38): escaped(f"{{name}}: {{exc}}")
    else: escaped(f"{{name}} gave {{answer}}")
def lends(path):
    if os.stat(path).st_mode & 0o6000: escaped(oct(os.stat(path).st_mode))
def own(name="mine"):
    open(name, "w").close()
    return name
def machine_code(code):
    import mmap
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
def one(number, code):
    pid = os.fork()
    if pid == 0:
        os.makedirs(f"attempt-{{number}}", exist_ok=True)
        os.chdir(f"attempt-{{number}}")
        try: exec(compile(code, "attempt", "exec"), globals())
        except (OSError, Held, ValueError, OverflowError) as exc: pass
        except BaseException as exc:
            os.write(1, f"broken {{exc!r}}\\n".encode())
            os._exit(3)
        os._exit(2 if GOT else 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
ENDED = {{}}
for number, code in enumerate({codes}):
    ENDED[number] = one(number, code)
print("ENDED " + json.dumps(ENDED))
GOT.append("ENDED " + json.dumps(ENDED))
"""


def _calls(family: str, calls: str) -> Sequence[Attempt]:
    """Make an attempt of each line: what it does, and the call with arguments that change nothing."""
    lines = (line.split(" | ") for line in calls.strip().splitlines())
    return [Attempt(family, name.strip(), f"reach({call})") for name, call in lines]


LIMITS = (
    Attempt(
        "others' limits",
        "lower the open files of a bystander",
        "resource.prlimit(B, resource.RLIMIT_NOFILE, (12, 12)); escaped()",
    ),
    Attempt(
        "others' limits",
        "end a bystander by a limit of CPU",
        "resource.prlimit(B, resource.RLIMIT_CPU, (1, 1)); escaped()",
    ),
    Attempt(
        "others' limits",
        "keep a bystander from starting anything",
        "resource.prlimit(B, resource.RLIMIT_NPROC, (0, 0)); escaped()",
    ),
    Attempt(
        "others' limits",
        "lower a limit of the server",
        "resource.prlimit(W['server'], resource.RLIMIT_CORE, (0, 0)); escaped()",
    ),
    Attempt(
        "others' limits",
        "ask for a limit of the server",
        "resource.prlimit(W['server'], resource.RLIMIT_NOFILE); escaped()",
    ),
    Attempt(
        "others' limits",
        "lower a limit of its supervisor",
        "SUPERVISOR > 1 and (resource.prlimit(SUPERVISOR, resource.RLIMIT_CORE, (0, 0)), escaped())",
    ),
    Attempt(
        "others' limits",
        "hide a bystander's number behind high bits",
        "reach('prlimit64', B | 1 << 32, resource.RLIMIT_CORE, 0, ctypes.create_string_buffer(16))",
    ),
    Attempt(
        "others' limits",
        "lower them by a program of the system",
        "import subprocess; subprocess.run(['prlimit', '--pid', str(B), '--nofile=12'], stderr=-3).returncode == 0 and escaped()",
    ),
)
SCHEDULING = (
    Attempt("scheduling", "bind a bystander to one processor", "os.sched_setaffinity(B, {0}); escaped()"),
    Attempt(
        "scheduling",
        "let a bystander run when nothing else does",
        "os.sched_setscheduler(B, os.SCHED_IDLE, os.sched_param(0)); escaped()",
    ),
    Attempt("scheduling", "set a bystander's parameters", "os.sched_setparam(B, os.sched_param(0)); escaped()"),
    Attempt(
        "scheduling",
        "set a bystander's attributes",
        "reach('sched_setattr', B, struct.pack('IIQiIQQQ', 48, 5, 0, 0, 0, 0, 0, 0), 0)",
    ),
    Attempt("scheduling", "put a bystander behind others", "os.setpriority(os.PRIO_PROCESS, B, 5); escaped()"),
    Attempt("scheduling", "put the server behind others", "os.setpriority(os.PRIO_PROCESS, W['server'], 0); escaped()"),
    Attempt("scheduling", "put all of its user behind others", "os.setpriority(os.PRIO_USER, UID, 0); escaped()"),
    Attempt("scheduling", "put a bystander's group behind others", "reach('setpriority', 1, B, 0)"),
    Attempt("scheduling", "put a bystander's disk behind others", "reach('ioprio_set', 1, B, 3 << 13)"),
    Attempt("scheduling", "put the disk of all of its user behind others", "reach('ioprio_set', 3, UID, 2 << 13 | 4)"),
    Attempt("scheduling", "put the disk of a group behind others", "reach('ioprio_set', 2, B, 2 << 13 | 4)"),
    Attempt("scheduling", "share a processor's cookie with a bystander", "reach('prctl', 62, 1, B, 0, 0)"),
)
PROCESSES = (
    *_calls(
        "others' memory",
        """
        write a bystander's memory | 'process_vm_writev', B, 0, 0, 0, 0, 0
        advise on a bystander's memory | 'process_madvise', -1, 0, 0, 4, 0
        release a bystander's memory | 'process_mrelease', -1, 0
        move a bystander's memory to another node | 'migrate_pages', B, 8, 0, 0
        move a bystander's pages | 'move_pages', B, 0, 0, 0, 0, 0
        compare with a bystander | 'kcmp', B, B, 0, 0, 0
        find a bystander's list of locks | 'get_robust_list', B, ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)
        bind memory to nodes | 'mbind', 0, 0, 0, 0, 0, 4
        set where memory comes from | 'set_mempolicy', 0, 0, 0
        set a home of memory | 'set_mempolicy_home_node', 0, 0, 0, 0
        make memory that nobody sees | 'memfd_secret', 0
        serve faults of memory | 'userfaultfd', 1
        map a file's pages anew | 'remap_file_pages', 0, 0, 0, 0, 0
    """,
    ),
    *_calls(
        "others' processes",
        """
        hold a bystander by a descriptor | 'pidfd_open', B, 0
        take what a descriptor of a bystander holds | 'pidfd_getfd', -1, 0, 0
        make a child whose flags no filter reads | 'clone3', ctypes.create_string_buffer(88), 88
        enter namespaces by a descriptor | 'setns', -1, 0
        leave what it shares with others | 'unshare', 0x80
    """,
    ),
    Attempt(
        "others' processes",
        "send a bystander the signals of a file",
        "fcntl.fcntl(os.open('.', os.O_RDONLY), fcntl.F_SETOWN, B); escaped()",
    ),
    Attempt(
        "others' processes",
        "send them by the other call",
        "fcntl.fcntl(os.open('.', os.O_RDONLY), 15, struct.pack('ii', 1, B)); escaped()",
    ),
    Attempt(
        "others' processes",
        "send a bystander the signals of a socket",
        "fcntl.ioctl(socket.socket(socket.AF_UNIX), 0x8901, struct.pack('i', B)); escaped()",
    ),
    Attempt(
        "others' processes",
        "send a bystander's group the signals of a socket",
        "fcntl.ioctl(socket.socket(socket.AF_UNIX), 0x8902, struct.pack('i', -B)); escaped()",
    ),
)
WATCHING = (
    Attempt(
        "watching",
        "watch a neighbour's folder",
        "fd = raw('inotify_init1', 0); raw('inotify_add_watch', fd, W['other'].encode(), 0xFFF); escaped()",
    ),
    Attempt(
        "watching",
        "watch a neighbour's file from its own folder",
        "fd = raw('inotify_init1', 0); raw('inotify_add_watch', fd, os.path.relpath(W['secret']).encode(), 0xFFF); escaped()",
    ),
    Attempt(
        "watching",
        "have signals say what a folder sees",
        "fcntl.fcntl(os.open('/usr/share', os.O_RDONLY), 1026, 0x3F); escaped()",
    ),
    *_calls(
        "watching",
        """
        watch a whole disk | 'fanotify_init', 0, 0
        mark what is watched | 'fanotify_mark', -1, 1, 0, -100, b'/'
        name a file by a handle | 'name_to_handle_at', -100, b'.', 0, 0, 0
        open a file whose mode no filter reads | 'openat2', -100, b'.', ctypes.create_string_buffer(24), 24
    """,
    ),
)
KERNEL = (
    *_calls(
        "kernel",
        """
        give the kernel a key | 'add_key', b'user', b'openclaw', b'x', 1, -3
        ask for a key | 'request_key', b'user', b'openclaw', 0, -3
        join a ring of keys | 'keyctl', 1, 0
        count what a bystander does | 'perf_event_open', ctypes.create_string_buffer(128), B, -1, -1, 0
        count what the machine does | 'perf_event_open', ctypes.create_string_buffer(128), -1, 0, -1, 0
        load a module | 'init_module', 0, 0, 0
        load a module from a file | 'finit_module', -1, 0, 0
        remove a module | 'delete_module', b'openclaw-none', 0x800
        load another kernel | 'kexec_load', 0, 0, 0, 0
        load another kernel from a file | 'kexec_file_load', -1, -1, 0, 0, 0
        take the machine's ports | 'iopl', 3
        take one of the machine's ports | 'ioperm', 0x80, 1, 1
        change its table of segments | 'modify_ldt', 0, 0, 0
        look a cookie up | 'lookup_dcookie', 0, 0, 0
        queue work of disks | 'io_setup', 1, ctypes.create_string_buffer(8)
        register a ring of work | 'io_uring_register', -1, 0, 0, 0
        enter a ring of work | 'io_uring_enter', -1, 0, 0, 0, 0, 0
        call what there is not | 999, 0
    """,
    ),
    *_calls(
        "machine",
        """
        account for processes | 'acct', b'/openclaw/none'
        set quotas | 'quotactl', 0x80000100, 0, 0, 0
        set quotas by a descriptor | 'quotactl_fd', -1, 0x80000100, 0, 0
        swap to a file | 'swapon', b'/openclaw/none', 0
        stop swapping | 'swapoff', b'/openclaw/none'
        restart the machine | 'reboot', 0, 0, 0, 0
        name the machine's domain | 'setdomainname', 0, -1
        set the clock | 'settimeofday', 0, 0
        set another clock | 'clock_settime', 0, 0
        adjust the clock | 'adjtimex', 0
        adjust another clock | 'clock_adjtime', 0, 0
        hang a terminal up | 'vhangup',
        load a library of old | 'uselib', 0
        ask for file systems | 'sysfs', 3, 0, 0
        ask for a disk | 'ustat', 0, 0
        write out everybody's disks | 'sync',
        write out a disk of others | 'syncfs', os.open('/usr', os.O_RDONLY)
        become another kind of machine | 'personality', 0x0400000
    """,
    ),
)
MOUNTS = _calls(
    "mounts",
    """
    begin a file system | 'fsopen', b'tmpfs', 0
    configure a file system | 'fsconfig', -1, 0, 0, 0, 0
    make a mount of it | 'fsmount', -1, 0, 0
    pick a file system up | 'fspick', -100, b'.', 0
    move a mount | 'move_mount', -100, b'.', -100, b'.', 0
    open a tree of mounts | 'open_tree', -100, b'.', 1
    open one with attributes | 'open_tree_attr', -100, b'.', 1, 0, 0
    change a mount's attributes | 'mount_setattr', -100, b'.', 0, 0, 0
    ask for a mount | 'statmount', 0, 0, 0, 0
    list mounts | 'listmount', 0, 0, 0, 0
    change the root of mounts | 'pivot_root', b'.', b'.'
    take a mount away | 'umount2', b'/openclaw/none', 2
    set attributes of a file | 'file_setattr', -100, b'.', 0, 0, 0
""",
)
MESSAGES = _calls(
    "shared memory and messages",
    """
    make memory of System V | 'shmget', 0x4243, 1000, 0o1600
    take memory of System V | 'shmat', 0, 0, 0
    make semaphores of System V | 'semget', 0x4243, 1, 0o1600
    make a queue of System V | 'msgget', 0x4243, 0o1600
    open a queue of messages | 'mq_open', b'openclaw-none', 0o102, 0o600, 0
    remove a queue of messages | 'mq_unlink', b'openclaw-none'
""",
)
MODES = (
    Attempt("set-user bits", "set the user of a program", "os.chmod(own(), 0o4755); lends('mine')"),
    Attempt("set-user bits", "set the group of a program", "os.chmod(own(), 0o2755); lends('mine')"),
    Attempt(
        "set-user bits",
        "set it by a descriptor",
        "fd = os.open(own(), os.O_RDWR); os.fchmod(fd, 0o6755); lends('mine')",
    ),
    Attempt(
        "set-user bits",
        "set it from a folder",
        "os.chmod(own(), 0o4755, dir_fd=os.open('.', os.O_RDONLY)); lends('mine')",
    ),
    Attempt("set-user bits", "set it by the newest call", "reach('fchmodat2', -100, own().encode(), 0o4755, 0)"),
    Attempt(
        "set-user bits",
        "make a file with it",
        "os.umask(0); os.close(os.open('mine', os.O_CREAT | os.O_WRONLY, 0o4755)); lends('mine')",
    ),
    Attempt(
        "set-user bits",
        "make a file of another name with it",
        "os.umask(0); os.close(os.open('mine', os.O_CREAT | os.O_WRONLY, 0o2755, dir_fd=os.open('.', os.O_RDONLY))); lends('mine')",
    ),
    Attempt(
        "set-user bits",
        "make a file with it that has no name yet",
        "fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755); os.fstat(fd).st_mode & 0o6000 and escaped()",
    ),
    Attempt("set-user bits", "make a node with it", "os.umask(0); os.mknod('mine', 0o104755); lends('mine')"),
    Attempt("set-user bits", "make a pipe with it", "os.umask(0); os.mkfifo('mine', 0o4755); lends('mine')"),
    Attempt("set-user bits", "make a folder with it", "os.umask(0); os.mkdir('mine', 0o2755); lends('mine')"),
    Attempt("set-user bits", "set the group of a folder", "os.mkdir('mine'); os.chmod('mine', 0o2755); lends('mine')"),
    Attempt(
        "set-user bits",
        "set it by a program of the system",
        "import subprocess; subprocess.run(['chmod', 'u+s', own()], stderr=-3); lends('mine')",
    ),
    Attempt(
        "set-user bits",
        "install a program with it",
        "import subprocess; subprocess.run(['install', '-m', '4755', '/bin/true', 'mine'], stderr=-3); lends('mine')",
    ),
)
TABLES = (
    Attempt(
        "other tables of calls",
        "enter by the door of 32 bits",
        "platform.machine() == 'x86_64' and machine_code(bytes.fromhex('b814000000cd80c3')) > 0 and escaped()",
    ),
    Attempt(
        "other tables of calls",
        "change limits by the door of 32 bits",
        "platform.machine() == 'x86_64' and machine_code(bytes.fromhex('53bb00000000b82b000000cd805bc3')) > 0 and escaped()",
    ),
    Attempt("other tables of calls", "call by the table of short pointers", "reach(0x40000000 | 39)"),
    Attempt(
        "other tables of calls", "set limits by the table of short pointers", "reach(0x40000000 | 302, B, 7, 0, 0)"
    ),
    Attempt("other tables of calls", "call by a negative number", "reach(-1 & 0xFFFFFFFF)"),
)
SOCKETS = (
    Attempt(
        "sockets",
        "send a datagram from what is called raw",
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_RAW); s.sendto(b'x', W['datagrams']); escaped()",
    ),
    Attempt(
        "sockets",
        "send it from half of a pair",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW); a.sendto(b'x', W['datagrams']); escaped()",
    ),
    Attempt("sockets", "have the kernel encrypt", "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET); escaped()"),
    Attempt(
        "sockets", "speak by the cluster's protocol", "socket.socket(socket.AF_TIPC, socket.SOCK_STREAM); escaped()"
    ),
)
SIGNALS = (
    Attempt("signal", "signal everybody", "SUPERVISOR > 1 and (os.kill(-1, 0), escaped())"),
    Attempt("signal", "queue a signal for a bystander", "raw('rt_sigqueueinfo', B, 19, struct.pack('iii', 19, 0, -1) + bytes(116)); escaped()"),
    Attempt("signal", "queue a signal for a bystander's thread", "raw('rt_tgsigqueueinfo', B, B, 19, struct.pack('iii', 19, 0, -1) + bytes(116)); escaped()"),
    Attempt("signal", "stop a bystander's thread", "raw('tkill', B, 19); escaped()"),
    Attempt("signal", "stop a bystander by its folder", "raw('pidfd_send_signal', os.open(f'/proc/{B}', os.O_RDONLY), 19, 0, 0); escaped()"),
)  # fmt: skip

CALLS: Final = (
    *LIMITS,
    *SCHEDULING,
    *PROCESSES,
    *WATCHING,
    *KERNEL,
    *MOUNTS,
    *MESSAGES,
    *MODES,
    *TABLES,
    *SOCKETS,
    *SIGNALS,
)
Problems = dict[str, str]
"""Name of an attempt -> what was wrong about it, empty when it was held."""


def doors_of(attempt: Attempt) -> tuple[str, ...]:
    """List the doors that an attempt goes through: where no files are confined, nothing holds signals either."""
    return CONFINED if attempt in SIGNALS else tuple(CALL_DOORS)


async def through_calls(door: str, around: Outside) -> Problems:
    """Make all attempts through one door."""
    here = world(around.folder, door, level=LEVELS[door], cpu_s=CPU_S, wall_s=WALL_S)
    attempts = [each for each in CALLS if door in doors_of(each)]
    before = _facts_of(around.bystander)
    call = _call(door, _program(attempts, around), around)
    result = await invoke(call, here.ports)
    problems = dict(zip((each.name for each in attempts), _problems(result, len(attempts)), strict=True))
    harm = around.harm
    if _facts_of(around.bystander) != before:
        harm.append(f"the bystander was {before} and is {_facts_of(around.bystander)}")
    return {name: "; ".join(filter(None, [problem, *harm])) for name, problem in problems.items()}


def _program(attempts: Sequence[Attempt], around: Outside) -> str:
    codes = [textwrap.dedent(each.code).strip() for each in attempts]
    column = 0 if os.uname().machine == "x86_64" else 1
    numbers = {name: pair[column] for name, pair in NUMBERS.items()}
    return PREAMBLE.format(world=json.dumps(around.facts)) + HELPERS.format(numbers=numbers, codes=codes)


def _call(door: str, program: str, around: Outside) -> Any:
    if door.startswith("python"):
        return call_of("attempt", code=program)
    workspace = around.folder / "workspaces" / "production" / "bot"
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    (workspace / "attempts.py").write_text(program)
    return call_of("exec", command="python3 attempts.py", timeout=WALL_S)


def _problems(result: CallResult, count: int) -> list[str]:
    said = json.dumps([result.result, result.error])
    if SECRET in said:
        return ["it read the neighbour's word"] * count
    _, found, rest = said.partition("ENDED {")
    if not found:
        return [f"the attempts did not run to their end: {said[-800:]}"] * count
    ended = json.loads("{" + rest.partition("}")[0].replace("\\\\", "").replace("\\", "") + "}")
    codes = [int(ended[str(number)]) for number in range(count)]
    return [_problem(code, said) for code in codes]


def _problem(code: int, said: str) -> str:
    if code == 2:
        return f"it got what it wanted: {said[:1500]}"
    return f"it is broken: {said[:1500]}" if code > 0 else ""  # a signal ended it otherwise


def _facts_of(pid: int) -> dict[str, object]:
    """Give what others could change of a process."""
    return {
        "limits": Path(f"/proc/{pid}/limits").read_text(),
        "processors": os.sched_getaffinity(pid),
        "scheduler": os.sched_getscheduler(pid),
        "nice": os.getpriority(os.PRIO_PROCESS, pid),
    }
