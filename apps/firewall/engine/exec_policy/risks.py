"""Hints for the person who is asked: what in a command deserves a second look, each with its evidence."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

from apps.firewall.engine.exec_policy.line import CommandLine, Evidence, names
from apps.firewall.engine.exec_policy.lookalikes import look_alikes
from apps.firewall.engine.exec_policy.programs import BUILTINS_THAT_RUN, CODE_LETTERS, SHELLS, plain_name
from apps.firewall.engine.exec_policy.reach import Reached, reached

HINTS_LIMIT: Final = 20
HINTS_READ: Final = 200
SHOWN: Final = 120
MASKED: Final = 500  # longer than what is shown, so that a secret is not cut in two before it is seen

NETWORK_PROGRAMS: Final = names(
    "curl dig ftp host nc ncat netcat nmap nslookup ping rsync scp sftp socat ssh telnet wget"
)
NAMES_HOST: Final = names("dig ftp host nc ncat netcat nmap nslookup ping ssh telnet")
DOWNLOADERS: Final = names("aria2c curl fetch wget http https")
RUNS_CODE: Final = SHELLS | frozenset(CODE_LETTERS) | names("deno tclsh")
WRITERS: Final = names(
    "chmod chown cp dd install ln mkdir mktemp mv rm rmdir rsync scp shred tar tee touch truncate unzip"
)
DESTRUCTIVE: Final = names(
    "dd fdisk halt kill killall mkfs parted pkill poweroff reboot rm rmdir shred shutdown truncate wipefs"
)
DESTRUCTIVE_PAIRS: Final = {
    "apt": {"remove", "purge"},
    "docker": {"rm", "rmi", "prune", "kill", "stop"},
    "find": {"-delete"},
    "git": {"clean", "reset", "push", "filter-branch", "checkout", "restore"},
    "kubectl": {"delete", "drain"},
    "pip": {"uninstall"},
    "systemctl": {"stop", "disable", "mask"},
    "terraform": {"destroy", "apply"},
}
# Every repetition has an end: the line is an agent's.
_HOST = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://(?:[^/@\s]{0,200}@)?(?P<host>\[[0-9a-f:]{1,60}\]|[^/:\s'\"]{1,255})",
    re.IGNORECASE,
)
_REMOTE = re.compile(r"[\w.-]{1,64}@(?P<host>[\w.-]{1,255})(?::|$)")
_REDIRECT = re.compile(r">{1,2}\s{0,20}(?P<path>[^\s;&|<>]{1,4096})")
_SECRET_OPTION = re.compile(
    r"(?<![\w-])(?P<name>-{1,2}[\w-]{0,40}?(?:password|passwd|secret|token|api-?key|credential)[\w-]{0,40})",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(r"\b(?P<name>\w{0,60}?(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY))=(?=\S)")
_SECRET_TOKEN = re.compile(
    r"\b(?P<kind>sk-|gh[pousr]_|github_pat_|xox[abprs]-|gsk_|AIza|npm_|glpat-|AKIA|ASIA|eyJ)[\w.-]{8,}"
)
_SECRET_VALUE = re.compile(
    r"(?P<name>(?<![\w-])-{1,2}[\w-]{0,40}?(?:password|passwd|secret|token|api-?key|credential)[\w-]{0,40}[= ]|"
    r"\b\w{0,60}?(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY)=|\b(?:Bearer|Basic) )\S+",
    re.IGNORECASE,
)
_DOWNLOAD = re.compile(r"\b(?:aria2c|curl|fetch|wget)\b")
_BARE_HOST = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){1,10}\Z")
_URL_SECRET = re.compile(r"://[^/\s:@]{0,200}:[^/\s@]{1,200}@")


def risk_hints(line: CommandLine, *, workspace: str) -> tuple[Evidence, ...]:
    """Name what a person should look at, in every command that the line may run.

    Returns:
        At most 20; codes `network`, `writes_outside_workspace`, `destructive`, `secret_in_arguments`,
        `look_alike`, `download_to_shell`, `pipe_to_shell`, `shell_wrapper`. A hint about a secret never shows it.
    """
    commands = reached(line)
    found = [
        *_network(line, commands),
        *_writes_outside(line, commands, workspace),
        *_destructive(commands),
        *_secrets(line),
        *look_alikes(line, commands),
        *_code_from_elsewhere(commands),
        *(
            Evidence("shell_wrapper", command.inline)
            for command in commands
            if command.inline and _name(command) in SHELLS
        ),
    ]
    hints = (Evidence(hint.code, _masked(hint.text[:MASKED])[:SHOWN]) for hint in found[:HINTS_READ])
    return tuple(dict.fromkeys(hints))[:HINTS_LIMIT]


def _masked(text: str) -> str:
    """Take out of a piece of a line what may be a secret."""
    text = _SECRET_TOKEN.sub(lambda match: f"{match['kind']}…", text)
    text = _SECRET_VALUE.sub(lambda match: f"{match['name']}…", text)
    return _URL_SECRET.sub("://…@", text)


def _name(command: Reached) -> str:
    return plain_name(command.argv[0]) if command.argv else ""


def _network(line: CommandLine, commands: Sequence[Reached]) -> list[Evidence]:
    hosts = [match["host"] for match in _HOST.finditer(line.text)]
    words = [word for command in commands for word in command.argv]
    hosts += [match["host"] for word in words for match in [_REMOTE.match(word)] if match]
    hosts += [
        word
        for command in commands
        if _name(command) in NAMES_HOST
        for word in command.argv[1:]
        if _BARE_HOST.match(word) and not word.startswith("-")
    ]
    programs = [] if hosts else [name for name in map(_name, commands) if name in NETWORK_PROGRAMS]
    return [Evidence("network", text) for text in hosts + programs]


def _writes_outside(line: CommandLine, commands: Sequence[Reached], workspace: str) -> list[Evidence]:
    targets = [match["path"].strip("'\"") for match in _REDIRECT.finditer(line.text)] if line.syntax else []
    for command in commands:
        if _name(command) in WRITERS:
            targets += [word.partition("=")[2] or word for word in command.argv[1:] if not word.startswith("-")]
    return [Evidence("writes_outside_workspace", path) for path in targets if _is_outside(path, workspace)]


def _is_outside(path: str, workspace: str) -> bool:
    if path.startswith("/dev/null"):
        return False
    if path.startswith("/"):
        path = posixpath.normpath(path)
        return path != workspace and not path.startswith(f"{workspace.rstrip('/')}/")
    return path.startswith(("~", "$HOME", "${HOME}")) or ".." in path.split("/")


def _destructive(commands: Sequence[Reached]) -> list[Evidence]:
    found: list[Evidence] = []
    for command in commands:
        name = _name(command)
        if name in DESTRUCTIVE or name.startswith("mkfs."):
            found.append(Evidence("destructive", name))
        verbs = DESTRUCTIVE_PAIRS.get(name, set())
        found += [Evidence("destructive", f"{name} {verb}") for verb in command.argv[1:] if verb in verbs]
    return found


def _secrets(line: CommandLine) -> list[Evidence]:
    names = [match["name"] for pattern in (_SECRET_OPTION, _SECRET_NAME) for match in pattern.finditer(line.text)]
    names += [f"{match['kind']}…" for match in _SECRET_TOKEN.finditer(line.text)]
    names += ["a password in an address"] * bool(_URL_SECRET.search(line.text))
    return [Evidence("secret_in_arguments", name) for name in names]


def _code_from_elsewhere(commands: Sequence[Reached]) -> Iterator[Evidence]:
    """Find what a shell or an interpreter is given to run: by a pipe, a substitution, or a file just downloaded."""
    brought: set[str] = set()
    inner_downloads = [command for command in commands if command.is_inner and _name(command) in DOWNLOADERS]
    for command in commands:
        name = _name(command)
        runs = name in RUNS_CODE or name in BUILTINS_THAT_RUN
        if runs and command.piped_from and not _has_script(command):
            text = " | ".join((*command.piped_from, command.text))
            is_download = any(_DOWNLOAD.search(source) for source in command.piped_from)
            yield Evidence("download_to_shell" if is_download else "pipe_to_shell", text)
        if runs and not command.is_inner and any(inner.text in command.text for inner in inner_downloads):
            yield Evidence("download_to_shell", command.text)
        if brought & {posixpath.basename(word) for word in (command.argv if runs else command.argv[:1])}:
            yield Evidence("download_to_shell", command.text)
        if name in DOWNLOADERS:
            brought |= _saved_as(command.argv)


def _has_script(command: Reached) -> bool:
    return any(not word.startswith("-") for word in command.argv[1:])


def _saved_as(argv: tuple[str, ...]) -> set[str]:
    """Name the files that a download makes."""
    named = {argv[at + 1] for at, word in enumerate(argv[:-1]) if word in {"-o", "-O", "--output", "--output-document"}}
    from_address = {posixpath.basename(word.partition("?")[0]) for word in argv[1:] if "://" in word}
    return {posixpath.basename(name) for name in named | from_address} - {""}
