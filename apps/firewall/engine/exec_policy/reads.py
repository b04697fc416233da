"""What a command reads: the files that it names, and whether it reads others by itself.

A person who allows a command allows what it runs. A program that loads nothing but what its words name is bound by
these; any other one, known or not, by everything in the workspace. What neither binds is said to who is asked.
"""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from apps.firewall.engine.exec_policy.line import CommandLine, names
from apps.firewall.engine.exec_policy.script import Script, ShellReader
from apps.firewall.engine.exec_policy.shells import inline_of
from apps.firewall.engine.exec_policy.tables import Tables, exec_tables
from apps.firewall.engine.exec_policy.wrappers import tool_name, unwrap
from apps.firewall.engine.names import trim

RELEASE: Final = "2026.9"
"""The one whose tables take lines apart by grammar: what is bound is ours, and the same under every release."""

DEPTH: Final = 4
READABLE_FAULTS: Final = frozenset(["", "redirect"])
"""What keeps a list from speaking for a line although every command of it is known."""

MOVES: Final = names("cd pushd popd")
TELLS: Final = MOVES | names(
    ": [ basename date df dirname du echo egrep exit false fgrep find grep hostname id kill ls mkdir nproc printf ps "
    "pwd readlink realpath rmdir seq sleep stat test true tty uname uptime wc which whoami"
)
"""Programs that load nothing, and for which the content of a folder that they are given is no part of what they do."""

READS_NAMED: Final = TELLS | names(
    "b2sum base32 base64 bunzip2 bzip2 cat chmod chown cksum cmp column comm cp csplit cut dd diff expand file fmt "
    "fold free gunzip gzip head hexdump iconv join ln md5sum mv nl od paste rev rm sha1sum sha224sum sha256sum "
    "sha384sum sha512sum shuf sort split strings sum tac tail tee touch tr truncate tsort unexpand uniq unlink xxd xz "
    "xzcat zcat zstd"
)
"""Programs that read what their words name, and load nothing."""

OPTIONS_THAT_ACT: Final[Mapping[str, frozenset[str]]] = {
    "find": names("-delete -exec -execdir -fls -fprint -fprint0 -fprintf -ok -okdir"),
    "sort": names("--compress-program"),
    "split": names("--filter"),
}
"""Program -> options that make it run another one, or act on what it finds."""

SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "curl": (".curlrc", ".config/curlrc", ".netrc"),
    "wget": (".wgetrc", ".netrc"),
    "ssh": (".ssh",),
    "scp": (".ssh",),
    "sftp": (".ssh",),
    "dig": (".digrc",),
    "host": (),
    "nslookup": (),
    "ping": (),
    "nc": (),
    "jq": (".jq",),
    "redis-cli": (".redisclirc",),
    "psql": (".psqlrc", ".pgpass", ".pg_service.conf"),
    "mysql": (".my.cnf", ".mylogin.cnf"),
    "mysqldump": (".my.cnf", ".mylogin.cnf"),
    "gpg": (".gnupg",),
    "kubectl": (".kube",),
    "aws": (".aws",),
}
"""Program -> the settings below its home that it reads besides what its words name."""

FETCHES: Final = names(
    "apk apt apt-get brew bun bunx bundle cargo composer conda curl dnf docker fetch gem git go gradle helm mvn "
    "nerdctl npm npx pip pip3 pipx pnpm podman poetry rsync scp sftp ssh svn uv uvx wget yarn yum"
)
"""Programs that fetch from elsewhere what they then run, or hand on."""

SYSTEM_FOLDERS: Final = ("", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
"""Where the system's programs lie; a bare name is looked up in these."""


@dataclass(frozen=True, slots=True)
class Unbound:
    """One thing that an approval does not bind. `code` is stable; `text` names what it is about."""

    code: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """What a command reads.

    Args:
        folders: where its commands stand, absolute: where it starts, and where `cd` leads.
        contents: words of programs to which the content of a folder matters.
        settings: files and folders below the home that its programs read unasked.
        is_open: it reads more than it names.
        unbound: what nobody can bind, by its words alone.
    """

    folders: tuple[str, ...]
    contents: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    is_open: bool = True
    unbound: tuple[Unbound, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """What an approval of a command binds.

    Args:
        files: identity by path; `folder/**` stands for all files of a folder at once.
        unbound: what it does not bind, and why.
    """

    files: dict[str, str]
    unbound: tuple[Unbound, ...] = ()


@dataclass(slots=True)
class _Survey:
    """What was seen of a line so far."""

    at: str
    home: str
    folders: list[str] = field(default_factory=list)
    contents: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    opens: list[str] = field(default_factory=list)
    fetches: list[str] = field(default_factory=list)
    dynamic: list[str] = field(default_factory=list)

    def move(self, argv: tuple[str, ...]) -> None:
        target = next((word for word in argv[1:] if not word.startswith("-")), "~")
        self.at = posixpath.normpath(posixpath.join(self.at, expanded(target, home=self.home, folder=self.at)))
        self.folders.append(self.at)


def reads_of(line: CommandLine, *, cwd: str, home: str) -> Reads:
    """Tell what a line reads.

    Args:
        home: of the command, not of the server.
    """
    survey = _Survey(at=cwd, home=home, folders=[cwd])
    tables = exec_tables(RELEASE)
    if line.shell is None:
        survey.opens.append(line.argv[0] if line.argv else "")
    else:
        _survey_script(line.shell.script(line.text), line.shell, survey, tables, 0)
    unbound = [Unbound("decided_at_run", text) for text in _once(survey.dynamic)]
    unbound += [Unbound("fetched", name) for name in _once(survey.fetches)]
    if survey.opens:
        unbound.append(Unbound("outside_workspace", ", ".join(_once(survey.opens))))
    return Reads(
        folders=_once(survey.folders),
        contents=_once(survey.contents),
        settings=_once(survey.settings),
        is_open=bool(survey.opens),
        unbound=tuple(unbound),
    )


def expanded(word: str, *, home: str, folder: str) -> str:
    """Put in a word what a shell puts for the home and the folder that it stands in."""
    if word == "~" or word.startswith("~/"):
        word = home + word[1:]
    for name, value in (("HOME", home), ("PWD", folder)):
        word = word.replace(f"${{{name}}}", value)
        if word == f"${name}" or word.startswith(f"${name}/"):
            word = value + word[len(name) + 1 :]
    return word


def _survey_script(script: Script, shell: ShellReader, survey: _Survey, tables: Tables, depth: int) -> None:
    if script.fault not in READABLE_FAULTS or script.sets or not script.commands:
        survey.opens.append(tool_name(script.commands[0].argv[0]) if script.commands else trim(script.text)[:40])
    for start, end in script.dynamic:
        survey.dynamic.append(script.text[start:end])
    if script.dynamic:
        survey.opens.append("bash")
    for command in script.commands:
        if command.assigns:
            survey.opens.append(tool_name(command.argv[0]))
        _survey_command(command.argv, shell, survey, tables, depth)


def _survey_command(argv: tuple[str, ...], shell: ShellReader, survey: _Survey, tables: Tables, depth: int) -> None:
    unwrapped = unwrap(argv, tables)
    argv = unwrapped.argv
    name = tool_name(argv[0]) if argv else ""
    inline = inline_of(argv, tables)
    is_ours = posixpath.dirname(argv[0]) in SYSTEM_FOLDERS if argv else False
    if inline is not None and inline.is_plain and depth < DEPTH and is_ours and not unwrapped.multiplexer:
        _survey_script(shell.script(inline.line), shell, survey, tables, depth + 1)
        return
    if name in MOVES:
        survey.move(argv)
    if name in FETCHES:
        survey.fetches.append(name)
    survey.settings += SETTINGS.get(name, ())
    is_open = bool(unwrapped.blocked_by) or not _reads_named(name, argv)
    if is_open:
        survey.opens.append(name)
    if is_open or name not in TELLS:
        survey.contents += argv[1:]


def _reads_named(name: str, argv: tuple[str, ...]) -> bool:
    """Say whether a command is known to load nothing but what it names; a program of somebody's own is not known."""
    if posixpath.dirname(argv[0]) not in SYSTEM_FOLDERS or (name not in READS_NAMED and name not in SETTINGS):
        return False
    acts = OPTIONS_THAT_ACT.get(name, frozenset())
    return not any(word.partition("=")[0] in acts for word in argv[1:])


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
