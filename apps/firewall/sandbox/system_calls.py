"""The system calls that a tool may make, with their numbers. Standard library only; the supervisor loads it.

An allow list: what is not named here is refused, calls of kernels to come among it. Left out is what reaches other
processes, the machine or the kernel itself: tracing, other processes' memory, descriptors, limits and scheduling;
mounts, namespaces, quotas, clocks, modules, keys, tracing of the kernel; System V IPC and message queues, which outlive
a call; what watches files of others; and what would hide from a filter what it does (io_uring, `clone3`, `openat2`).

Source: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`.
"""

from typing import Final

NONE: Final = -1
Table = dict[str, tuple[int, int]]
"""Name -> its numbers on x86-64 and on arm64, `NONE` where a machine does not have it."""


FILES: Final[Table] = {
    "read": (0, 63), "write": (1, 64), "open": (2, NONE), "close": (3, 57), "stat": (4, NONE), "fstat": (5, 80),
    "lstat": (6, NONE), "poll": (7, NONE), "lseek": (8, 62), "pread64": (17, 67), "pwrite64": (18, 68),
    "readv": (19, 65), "writev": (20, 66), "access": (21, NONE), "pipe": (22, NONE), "select": (23, NONE),
    "dup": (32, 23), "dup2": (33, NONE), "sendfile": (40, 71), "fcntl": (72, 25), "flock": (73, 32),
    "fsync": (74, 82), "fdatasync": (75, 83), "truncate": (76, 45), "ftruncate": (77, 46), "getdents": (78, NONE),
    "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "rename": (82, NONE), "mkdir": (83, NONE),
    "rmdir": (84, NONE), "creat": (85, NONE), "link": (86, NONE), "unlink": (87, NONE), "symlink": (88, NONE),
    "readlink": (89, NONE), "chmod": (90, NONE), "fchmod": (91, 52), "chown": (92, NONE), "fchown": (93, 55),
    "lchown": (94, NONE), "umask": (95, 166), "utime": (132, NONE), "statfs": (137, 43), "fstatfs": (138, 44),
    "readahead": (187, 213), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "getxattr": (191, 8),
    "lgetxattr": (192, 9), "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12),
    "flistxattr": (196, 13), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "getdents64": (217, 61), "fadvise64": (221, 223), "utimes": (235, NONE), "openat": (257, 56),
    "mkdirat": (258, 34), "mknod": (133, NONE), "mknodat": (259, 33), "fchownat": (260, 54), "futimesat": (261, NONE),
    "newfstatat": (262, 79), "unlinkat": (263, 35), "renameat": (264, 38), "linkat": (265, 37),
    "symlinkat": (266, 36), "readlinkat": (267, 78), "fchmodat": (268, 53), "faccessat": (269, 48),
    "pselect6": (270, 72), "ppoll": (271, 73), "splice": (275, 76), "tee": (276, 77), "sync_file_range": (277, 84),
    "vmsplice": (278, 75), "utimensat": (280, 88), "fallocate": (285, 47), "preadv": (295, 69), "pwritev": (296, 70),
    "dup3": (292, 24), "pipe2": (293, 59), "renameat2": (316, 276), "copy_file_range": (326, 285),
    "preadv2": (327, 286), "pwritev2": (328, 287), "statx": (332, 291), "close_range": (436, 436),
    "faccessat2": (439, 439), "fchmodat2": (452, 452), "ioctl": (16, 29),
}  # fmt: skip

EVENTS: Final[Table] = {
    "epoll_create": (213, NONE), "epoll_ctl": (233, 21), "epoll_wait": (232, NONE), "epoll_pwait": (281, 22),
    "epoll_create1": (291, 20), "epoll_pwait2": (441, 441), "signalfd": (282, NONE), "signalfd4": (289, 74),
    "eventfd": (284, NONE), "eventfd2": (290, 19), "timerfd_create": (283, 85), "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
}  # fmt: skip

MEMORY: Final[Table] = {
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216),
    "msync": (26, 227), "mincore": (27, 232), "madvise": (28, 233), "mlock": (149, 228), "munlock": (150, 229),
    "mlockall": (151, 230), "munlockall": (152, 231), "mlock2": (325, 284), "get_mempolicy": (239, 236),
    "membarrier": (324, 283), "pkey_mprotect": (329, 288), "pkey_alloc": (330, 289), "pkey_free": (331, 290),
    "map_shadow_stack": (453, 453), "mseal": (462, 462),
}  # fmt: skip

SIGNALS: Final[Table] = {
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigqueueinfo": (129, 138), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132), "rt_tgsigqueueinfo": (297, 240), "pause": (34, NONE), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "pidfd_send_signal": (424, 424),
}  # fmt: skip
"""Landlock and namespaces hold their receivers."""

TIME: Final[Table] = {
    "nanosleep": (35, 101), "getitimer": (36, 102), "alarm": (37, NONE), "setitimer": (38, 103),
    "gettimeofday": (96, 169), "time": (201, NONE), "times": (100, 153), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "timer_create": (222, 107),
    "timer_settime": (223, 110), "timer_gettime": (224, 108), "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111),
}  # fmt: skip

PROCESSES: Final[Table] = {
    "sched_yield": (24, 124), "getpid": (39, 172), "fork": (57, NONE), "vfork": (58, NONE), "clone": (56, 220),
    "execve": (59, 221), "execveat": (322, 281), "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260),
    "waitid": (247, 95), "uname": (63, 160), "getrlimit": (97, 163), "setrlimit": (160, 164), "getrusage": (98, 165),
    "sysinfo": (99, 179), "getuid": (102, 174), "getgid": (104, 176), "setuid": (105, 146), "setgid": (106, 144),
    "geteuid": (107, 175), "getegid": (108, 177), "setpgid": (109, 154), "getppid": (110, 173),
    "getpgrp": (111, NONE), "setsid": (112, 157), "setreuid": (113, 145), "setregid": (114, 143),
    "getgroups": (115, 158), "setgroups": (116, 159), "setresuid": (117, 147), "getresuid": (118, 148),
    "setresgid": (119, 149), "getresgid": (120, 150), "getpgid": (121, 155), "setfsuid": (122, 151),
    "setfsgid": (123, 152), "getsid": (124, 156), "capget": (125, 90), "capset": (126, 91), "personality": (135, 92),
    "prctl": (157, 167), "arch_prctl": (158, NONE), "gettid": (186, 178), "futex": (202, 98),
    "set_tid_address": (218, 96), "set_robust_list": (273, 99), "restart_syscall": (219, 128), "getcpu": (309, 168),
    "getrandom": (318, 278), "seccomp": (317, 277), "rseq": (334, 293), "futex_waitv": (449, 449),
    "futex_wake": (454, 454), "futex_wait": (455, 455), "futex_requeue": (456, 456),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
    "prlimit64": (302, 261), "setpriority": (141, 140), "getpriority": (140, 141), "ioprio_set": (251, 30),
    "ioprio_get": (252, 31), "sched_setparam": (142, 118), "sched_getparam": (143, 121),
    "sched_setscheduler": (144, 119), "sched_getscheduler": (145, 120), "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126), "sched_rr_get_interval": (148, 127), "sched_setaffinity": (203, 122),
    "sched_getaffinity": (204, 123), "sched_setattr": (314, 274), "sched_getattr": (315, 275),
}  # fmt: skip
"""What names a process takes 0 and itself only; see `seccomp`."""

SOCKETS: Final[Table] = {
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "sendto": (44, 206), "recvfrom": (45, 207),
    "sendmsg": (46, 211), "recvmsg": (47, 212), "shutdown": (48, 210), "bind": (49, 200), "listen": (50, 201),
    "getsockname": (51, 204), "getpeername": (52, 205), "socketpair": (53, 199), "setsockopt": (54, 208),
    "getsockopt": (55, 209), "accept4": (288, 242), "recvmmsg": (299, 243), "sendmmsg": (307, 269),
}  # fmt: skip
"""Which kinds, `seccomp` says."""

WATCHES: Final[Table] = {
    "inotify_init": (253, NONE), "inotify_add_watch": (254, 27), "inotify_rm_watch": (255, 28),
    "inotify_init1": (294, 26),
}  # fmt: skip
"""Only where a tool has a file system of its own: elsewhere they watch files that it may not read."""

ABSENT: Final[Table] = {
    "clone3": (435, 435), "openat2": (437, 437), "pidfd_open": (434, 434), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "memfd_secret": (447, 447),
}  # fmt: skip
"""Said not to be there, so that programs do what they did before there was such a call."""

ALLOWED: Final[Table] = {**FILES, **EVENTS, **MEMORY, **SIGNALS, **TIME, **PROCESSES, **SOCKETS, **WATCHES}
