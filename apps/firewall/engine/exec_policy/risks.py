"""Hints for the person who is asked: what in a command deserves a second look, each with its evidence."""

import re
from typing import Final

from apps.firewall.engine.exec_policy.line import CommandLine, Evidence, names
from apps.firewall.engine.exec_policy.programs import plain_name

HINTS_LIMIT: Final = 20
SHOWN: Final = 120

NETWORK_PROGRAMS: Final = names(
    "curl dig ftp host nc ncat netcat nmap nslookup ping rsync scp sftp socat ssh telnet wget"
)
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
_HOST = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/@\s]*@)?(?P<host>\[[0-9a-f:]+\]|[^/:\s'\"]+)", re.IGNORECASE)
_REMOTE = re.compile(r"(?:[\w.-]+@)(?P<host>[\w.-]+)(?::|$)")
_REDIRECT = re.compile(r">{1,2}\s*(?P<path>[^\s;&|<>]+)")
_SECRET_OPTION = re.compile(r"(?P<name>-{1,2}[\w-]*(?:password|passwd|secret|token|api-?key|credential)[\w-]*)", re.I)
_SECRET_NAME = re.compile(r"(?P<name>\w*(?:PASSWORD|PASSWD|SECRET|TOKEN|KEY))=(?=\S)")
_SECRET_TOKEN = re.compile(
    r"\b(?P<kind>sk-|gh[pousr]_|github_pat_|xox[abprs]-|gsk_|AIza|npm_|glpat-|AKIA|ASIA|eyJ)[\w.-]{8,}"
)
_URL_SECRET = re.compile(r"://[^/\s:@]*:[^/\s@]+@")


def risk_hints(line: CommandLine, *, workspace: str) -> tuple[Evidence, ...]:
    """Name what a person should look at.

    Returns:
        At most 20; codes `network`, `writes_outside_workspace`, `destructive`, `secret_in_arguments`,
        `download_to_shell`. A hint about a secret never shows the secret.
    """
    found = [
        *_network(line),
        *_writes_outside(line, workspace),
        *_destructive(line),
        *_secrets(line),
        *_download_to_shell(line),
    ]
    return tuple(dict.fromkeys(Evidence(hint.code, hint.text[:SHOWN]) for hint in found))[:HINTS_LIMIT]


def _words(line: CommandLine) -> list[str]:
    return [plain_name(word) for word in line.argv]


def _network(line: CommandLine) -> list[Evidence]:
    hosts = [match["host"] for match in _HOST.finditer(line.text)]
    hosts += [match["host"] for word in line.argv for match in [_REMOTE.match(word)] if match]
    programs = [] if hosts else [word for word in _words(line) if word in NETWORK_PROGRAMS]
    return [Evidence("network", text) for text in hosts + programs]


def _writes_outside(line: CommandLine, workspace: str) -> list[Evidence]:
    targets = [match["path"].strip("'\"") for match in _REDIRECT.finditer(line.text)] if line.syntax else []
    if line.argv and any(word in WRITERS for word in _words(line)):
        targets += [word.partition("=")[2] or word for word in line.argv[1:] if not word.startswith("-")]
    return [Evidence("writes_outside_workspace", path) for path in targets if _is_outside(path, workspace)]


def _is_outside(path: str, workspace: str) -> bool:
    if path.startswith("/dev/null"):
        return False
    if path.startswith("/"):
        return path != workspace and not path.startswith(f"{workspace.rstrip('/')}/")
    return path.startswith("~") or ".." in path.split("/")


def _destructive(line: CommandLine) -> list[Evidence]:
    words = _words(line)
    found = [Evidence("destructive", word) for word in words if word in DESTRUCTIVE or word.startswith("mkfs.")]
    for position, word in enumerate(words):
        verbs = DESTRUCTIVE_PAIRS.get(word, set())
        found += [Evidence("destructive", f"{word} {verb}") for verb in line.argv[position + 1 :] if verb in verbs]
    return found


def _secrets(line: CommandLine) -> list[Evidence]:
    names = [match["name"] for pattern in (_SECRET_OPTION, _SECRET_NAME) for match in pattern.finditer(line.text)]
    names += [f"{match['kind']}…" for match in _SECRET_TOKEN.finditer(line.text)]
    names += ["a password in an address"] * bool(_URL_SECRET.search(line.text))
    return [Evidence("secret_in_arguments", name) for name in names]


def _download_to_shell(line: CommandLine) -> list[Evidence]:
    match = re.search(r"\b(?:curl|wget)\b[^|]*\|\s*(?:sudo\s+)?(?:[\w/]*/)?(?:ba|da|z|k|fi)?sh\b", line.text)
    return [Evidence("download_to_shell", match[0])] if match else []
