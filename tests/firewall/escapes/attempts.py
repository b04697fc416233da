"""The attempts of programs: each is Python that says `escaped` when it got what it may not have.

What succeeds does no harm: it opens and does not write, asks and does not use, and every flood has an end. `W` names
what there is outside: a secret, sockets that listen, a process that stands by.
"""

# attempts are lines of a table: breaking them makes them harder to read
# ruff: noqa: E501

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt.

    Args:
        family: what it goes for.
        name: what it does; unique.
        code: Python, indented as one likes.
        ends: the limit that may end it, as the error's code says; empty where it must end by itself.
    """

    family: str
    name: str
    code: str
    ends: tuple[str, ...] = ()


def _reading(path: str) -> str:
    return f"escaped(open({path}).read())"


FILES = (
    Attempt("path", "read a neighbour's file by its absolute path", _reading("W['secret']")),
    Attempt("..", "climb to a neighbour's file", _reading("'../other/secret'")),
    Attempt("..", "climb through a folder of its own", "os.mkdir('d'); escaped(open('d/../../other/secret').read())"),
    Attempt("symlink", "follow a link to a file", "os.symlink(W['secret'], 'l'); escaped(open('l').read())"),
    Attempt("symlink", "follow a link to a folder", "os.symlink(W['other'], 'l'); escaped(os.listdir('l'))"),
    Attempt("symlink", "follow a chain of links", "os.symlink('/', 'a'); escaped(open('a' + W['secret']).read())"),
    Attempt("hard link", "link a neighbour's file", "os.link(W['secret'], 'h'); escaped(open('h').read())"),
    Attempt(
        "hard link",
        "link through a descriptor of /proc",
        "fd = os.open(W['secret'], os.O_PATH); os.link(f'/proc/self/fd/{fd}', 'h'); escaped(open('h').read())",
    ),
    Attempt("path", "move a neighbour's file in", "os.rename(W['secret'], 'moved'); escaped()"),
    Attempt("path", "swap a neighbour's file", "import shutil; shutil.move(W['secret'], 'moved'); escaped()"),
    Attempt("path", "write a neighbour's file", "open(W['secret'], 'a'); escaped()"),
    Attempt("path", "empty a neighbour's file", "os.truncate(W['secret'], 0); escaped()"),
    Attempt("path", "remove a neighbour's file", "os.unlink(W['secret']); escaped()"),
    Attempt("path", "change a neighbour's mode", "os.chmod(W['secret'], 0o666); check_mode()"),
    Attempt("path", "make a file beside its workspace", "open('../made', 'w'); check_outside('../made')"),
    Attempt("path", "make a file in /tmp", "open(W['made'], 'w'); check_outside(W['made'])"),
    Attempt("path", "make a file in /dev/shm", "open('/dev/shm/' + W['word'], 'w'); escaped()"),
    Attempt("path", "make a program in /usr/local/bin", "open('/usr/local/bin/' + W['word'], 'w'); escaped()"),
    Attempt("path", "list homes", "set(os.listdir('/root')) - set(W['way']) and escaped()"),
    Attempt("path", "read the hashes of passwords", _reading("'/etc/shadow'")),
    Attempt(
        "path",
        "open a descriptor and go on from it",
        "fd = os.open('/', os.O_PATH); escaped(os.open(W['secret'][1:], os.O_RDONLY, dir_fd=fd))",
    ),
    Attempt("path", "change the root and break out", "os.chroot('.'); escaped()"),
    Attempt("path", "open a file by its handle", "call('open_by_handle_at', -100, 0, 0) and escaped()"),
    Attempt("path", "mount the disk again", "call('mount', b'none', b'.', b'tmpfs', 0, 0) and escaped()"),
    Attempt("path", "make a device of the disk", "os.mknod('disk', 0o60600, os.makedev(8, 0)); escaped()"),
    Attempt(
        "race",
        "swap a link while it is opened",
        """
        import threading
        def swap():
            for _ in range(2000):
                try:
                    os.symlink(W['secret'], 'n'); os.replace('n', 's'); open('n', 'w').close(); os.replace('n', 's')
                except OSError: pass
        threading.Thread(target=swap, daemon=True).start()
        for _ in range(2000):
            try: text = open('s').read()
            except OSError: continue
            if text: escaped(text)
        """,
    ),
)

PROC = (
    Attempt("/proc", "read the server's environment", _reading("f\"/proc/{W['server']}/environ\"")),
    Attempt("/proc", "read the server's command line", _reading("f\"/proc/{W['server']}/cmdline\"")),
    Attempt("/proc", "go through the server's root", _reading("f\"/proc/{W['server']}/root{W['secret']}\"")),
    Attempt("/proc", "go through the server's folder", "os.listdir(f\"/proc/{W['server']}/cwd/\") and escaped()"),
    Attempt("/proc", "go through the server's descriptors", "os.listdir(f\"/proc/{W['server']}/fd\") and escaped()"),
    Attempt(
        "/proc",
        "read its parent's memory",
        "open(f'/proc/{os.getppid()}/mem', 'rb').seek(1); os.getppid() > 1 and escaped()",
    ),
    Attempt(
        "/proc",
        "read its parent's environment",
        "text = open(f'/proc/{os.getppid()}/environ').read(); 'OPENCLAW_CANARY' in text and escaped()",
    ),
    Attempt(
        "/proc",
        "open the kernel's settings for writing",
        "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY); escaped()",
    ),
    Attempt("/proc", "open the kernel's trigger", "os.open('/proc/sysrq-trigger', os.O_WRONLY); escaped()"),
    Attempt("/proc", "read the kernel's memory", "open('/proc/kcore', 'rb').read(1) and escaped()"),
    Attempt("/proc", "read the kernel's log", "call('syslog', 3, 0, 0) and escaped()"),
)

NETWORK = (
    Attempt(
        "network",
        "connect by TCP to the loopback",
        "import socket; socket.create_connection(('127.0.0.1', W['tcp']), 1); escaped()",
    ),
    Attempt(
        "network",
        "connect by TCP over IPv6",
        "import socket; socket.create_connection(('::1', W['tcp']), 1); escaped()",
    ),
    Attempt(
        "network",
        "send a datagram",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', W['udp'])); escaped()",
    ),
    Attempt(
        "network",
        "listen to the network",
        "import socket; s = socket.socket(); s.bind(('0.0.0.0', 0)); s.listen(); escaped()",
    ),
    Attempt(
        "network", "make raw packets", "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); escaped()"
    ),
    Attempt(
        "network",
        "take packets from a card",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW); escaped()",
    ),
    Attempt(
        "network",
        "ask the kernel for its routes",
        "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); escaped()",
    ),
    Attempt(
        "network",
        "speak with the host of a virtual machine",
        "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); escaped()",
    ),
    Attempt(
        "network",
        "connect to a service's socket in a folder",
        "import socket; socket.socket(socket.AF_UNIX).connect(W['unix']); escaped()",
    ),
    Attempt(
        "network",
        "connect to a service without a folder",
        "import socket; socket.socket(socket.AF_UNIX).connect('\\0' + W['abstract']); escaped()",
    ),
    Attempt(
        "network",
        "send a datagram to a service's socket",
        "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', W['datagrams']); escaped()",
    ),
    Attempt(
        "network",
        "send from half of a pair",
        "import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b'x', W['datagrams']); escaped()",
    ),
    Attempt("network", "make sockets by io_uring", "call('io_uring_setup', 8, 0) and escaped()"),
    Attempt("network", "make sockets by the other table of calls", "call(0x40000000 | 41, 2, 1, 0) and escaped()"),
    Attempt("network", "ask a server of names", "import socket; socket.getaddrinfo('example.invalid', 80); escaped()"),
    Attempt(
        "network",
        "have a child connect",
        "import subprocess, sys; r = subprocess.run([sys.executable, '-c', f\"import socket; socket.create_connection(('127.0.0.1', {W['tcp']}), 1)\"]); r.returncode == 0 and escaped()",
    ),
)

POWERS = (
    Attempt("signal", "end a bystander", "os.kill(W['bystander'], 9); escaped()"),
    Attempt("signal", "end the server", "os.kill(W['server'], 0); escaped()"),
    Attempt("signal", "stop a bystander", "os.kill(W['bystander'], 19); escaped()"),
    Attempt("signal", "end its supervisor", "os.kill(os.getppid(), 0); os.getppid() > 1 and escaped()"),
    Attempt("ptrace", "trace a bystander", "call('ptrace', 16, W['bystander'], 0, 0) and escaped()"),
    Attempt(
        "ptrace", "read a bystander's memory", "call('process_vm_readv', W['bystander'], 0, 0, 0, 0, 0) and escaped()"
    ),
    Attempt(
        "ptrace",
        "take a bystander's descriptor",
        "fd = os.pidfd_open(W['bystander']); call('pidfd_getfd', fd, 0, 0) and escaped()",
    ),
    Attempt("powers", "become another user", "os.setuid(12345); escaped()"),
    Attempt("powers", "make a namespace of its own", "call('unshare', 0x10000000) and escaped()"),
    Attempt("powers", "make a namespace with a child", "call('clone', 0x10000000 | 17, 0, 0, 0, 0) and escaped()"),
    Attempt(
        "powers",
        "enter a bystander's namespaces",
        "fd = os.open(f\"/proc/{W['bystander']}/ns/mnt\", os.O_RDONLY); call('setns', fd, 0) and escaped()",
    ),
    Attempt("powers", "load a program into the kernel", "call('bpf', 0, 0, 0) and escaped()"),
    Attempt("powers", "keep a key in the kernel", "call('keyctl', 0, -3, 0) and escaped()"),
    Attempt("powers", "go before others", "os.nice(-5); escaped()"),
    Attempt("powers", "name the machine", "import socket; socket.sethostname(socket.gethostname()); escaped()"),
    Attempt(
        "powers",
        "gain by a program of root",
        "import subprocess; r = subprocess.run(['su', '-c', 'true', 'nobody'], stdin=subprocess.DEVNULL, capture_output=True); r.returncode == 0 and escaped()",
    ),
    Attempt(
        "powers",
        "raise its own limits",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (5000, 5000)); escaped()",
    ),
    Attempt("environment", "find a secret of the server", "'OPENCLAW_CANARY' in os.environ and escaped()"),
    Attempt(
        "environment", "find an open descriptor", "[os.fstat(n) for n in range(3, 100) if is_open(n)] and escaped()"
    ),
    Attempt(
        "terminal escapes",
        "type into a terminal",
        "import fcntl; [fcntl.ioctl(n, 0x5412, b'x') for n in (0, 1, 2)]; escaped()",
    ),
    Attempt("terminal escapes", "open the terminal that started it", "os.open('/dev/tty', os.O_RDWR); escaped()"),
)

LIMITS = (
    Attempt(
        "fork",
        "fork without end",
        "import time\nt = time.monotonic()\nwhile time.monotonic() - t < 5:\n  if os.fork() == 0: time.sleep(20)\nescaped()",
        ("process_limit",),
    ),
    Attempt(
        "fork",
        "leave its session and stay",
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    import time; time.sleep(30)\nhold()",
    ),
    Attempt(
        "thread",
        "start threads without end",
        "import threading, time; threading.stack_size(32768)\nfor _ in range(1000): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()\nescaped()",
    ),
    Attempt("memory", "take more than it may at once", "b'x' * 2_000_000_000; escaped()"),
    Attempt(
        "memory",
        "take it with children",
        "[os.fork() for _ in range(3)]\nx = b'x' * 100_000_000\nimport time; time.sleep(20); escaped()",
        ("memory_limit",),
    ),
    Attempt("memory", "take it behind descriptors", "os.memfd_create('x'); escaped()"),
    Attempt("memory", "take memory that outlives it", "call('shmget', 0x4242, 1000, 0o1600) and escaped()"),
    Attempt(
        "disk",
        "write a file without end",
        "f = open('big', 'wb')\nfor _ in range(100): f.write(b'x' * 1_000_000)\nescaped()",
    ),
    Attempt(
        "disk",
        "write many files",
        "for n in range(200): open(f'f{n}', 'wb').write(b'x' * 900_000)\nimport time; time.sleep(20); escaped()",
        ("disk_limit",),
    ),
    Attempt(
        "output",
        "speak without end",
        "import time\nt = time.monotonic()\nwhile time.monotonic() - t < 20: print('y' * 65536)\nescaped()",
        ("timed_out", "cpu_limit"),
    ),
    Attempt(
        "CPU",
        "compute without end",
        "import time\nt = time.monotonic()\nwhile time.monotonic() - t < 20: pass\nescaped()",
        ("timed_out", "cpu_limit"),
    ),
    Attempt(
        "CPU",
        "compute without end and ignore every signal",
        "import signal, time\n[signal.signal(s, signal.SIG_IGN) for s in set(signal.Signals) - {9, 19}]\nt = time.monotonic()\nwhile time.monotonic() - t < 20: pass\nescaped()",
        ("timed_out", "cpu_limit", "crashed"),
    ),
    Attempt("time", "sleep for ever", "import time; time.sleep(20); escaped()", ("timed_out",)),
    Attempt("descriptors", "open files without end", "kept = [open('/dev/null') for _ in range(200)]; escaped()"),
    Attempt("crash", "tear itself down", "os.abort()", ("crashed",)),
)

ATTEMPTS = (*FILES, *PROC, *NETWORK, *POWERS, *LIMITS)

PREAMBLE = """
import ctypes, json, os, platform, sys
W = json.loads({world!r})
X86 = {{"mount": 165, "open_by_handle_at": 304, "syslog": 103, "io_uring_setup": 425, "ptrace": 101,
       "process_vm_readv": 310, "pidfd_getfd": 438, "unshare": 272, "clone": 56, "setns": 308, "bpf": 321,
       "keyctl": 250, "shmget": 29}}
ARM = {{"mount": 40, "open_by_handle_at": 265, "syslog": 116, "io_uring_setup": 425, "ptrace": 117,
       "process_vm_readv": 270, "pidfd_getfd": 438, "unshare": 97, "clone": 220, "setns": 268, "bpf": 280,
       "keyctl": 219, "shmget": 194}}
NUMBERS = X86 if platform.machine() == "x86_64" else ARM
class Held(Exception): pass
GOT = []
def escaped(what=""):
    GOT.append(f"ESCAPED {{what}}")
    os.write(1, b"ESCAPED " + str(what)[:200].encode() + b"\\n")
def held():
    raise Held
def hold():
    print("waits", flush=True)
def call(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    number = NUMBERS[name] if isinstance(name, str) else name
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = libc.syscall(ctypes.c_long(number), *words)
    if answer == 0 and name == "clone": os._exit(0)
    code = ctypes.get_errno()
    # a call that the kernel looked into (bad address, no such process) was not refused
    if answer < 0 and code in (1, 13, 38): raise PermissionError(code, os.strerror(code))
    return answer >= 0
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    path = os.readlink(f"/proc/self/fd/{{number}}")
    return path.startswith("/") and not path.startswith(("/dev/", "/usr/", os.getcwd()))
def check_mode():
    if os.stat(W["secret"]).st_mode & 0o777 == 0o666: escaped()
def check_outside(path):
    print("made", path)
"""
