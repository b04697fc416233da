"""KNOWS what programs may be given so that they neither run, nor write, nor load anything. No list of bad options.

`find_doubt` answers for one command; `system_tools` and `developer_tools` are the tables, `by_nature` the programs that
run whatever they are given, `checks` what words alone do not tell.
"""

import posixpath
from collections.abc import Iterable
from typing import Final

from apps.firewall.engine.exec_policy.known_safe.by_nature import RUN_BY_NATURE
from apps.firewall.engine.exec_policy.known_safe.checks import FORBIDDEN, doubtful_word
from apps.firewall.engine.exec_policy.known_safe.developer_tools import DEVELOPER_TOOLS
from apps.firewall.engine.exec_policy.known_safe.rule import Rule, read_command, read_rules
from apps.firewall.engine.exec_policy.known_safe.system_tools import SYSTEM_TOOLS
from apps.firewall.engine.exec_policy.line import Evidence
from apps.firewall.engine.exec_policy.programs import plain_name

__all__ = ["FORBIDDEN", "RULES", "find_doubt"]

RULES: Final[dict[str, Rule]] = read_rules({**SYSTEM_TOOLS, **DEVELOPER_TOOLS})
RUNS_BY_NATURE: Final = "runs_by_nature"
NOT_KNOWN_SAFE: Final = "not_known_safe"
NOT_DESCRIBED: Final = "program_not_described"
SHOWN: Final = 80
OTHER_MACHINE: Final = "/../"  # where the judge looks for programs of a machine that nobody here can see
SYSTEM_FOLDERS: Final = (
    "/bin/",
    "/sbin/",
    "/usr/",
    "/lib/",
    "/lib64/",
    "/libexec/",
    "/snap/",
    "/nix/store/",
    "/etc/",
    OTHER_MACHINE,
)
OWN_FOLDERS: Final = ("/usr/local/",)
MULTIPLEXERS: Final = frozenset(["busybox", "toybox", "coreutils"])


def find_doubt(argv: tuple[str, ...], *, called: str, path: str, real_path: str) -> Evidence | None:
    """Find the word by which a command may do more than its program's name says; None when it is known not to.

    A program that has no line in the tables is the system's, and waits, or somebody's own, and then a list that names
    it means all that it does.

    Args:
        argv: the command, without what it runs through.
        called: the word that named the program, where no file was found.
        path, real_path: its file, as found and behind all links.
    """
    known = False
    for name in _names(called, path, real_path):
        rule = RULES.get(name)
        doubt = None if rule is None else _doubt_of(name, rule, argv[1:])
        if rule is None and name in RUN_BY_NATURE:
            doubt = Evidence(RUNS_BY_NATURE, name)
        if doubt is not None:
            return doubt
        known = known or rule is not None
    if known or not path or not _is_system(real_path or path):
        return None
    return Evidence(NOT_DESCRIBED, real_path or called)


def _names(called: str, path: str, real_path: str) -> Iterable[str]:
    """Give every name that says what a program is, each as the tables have it."""
    files = [each for each in (path, real_path) if each] or [called]
    bases = [posixpath.basename(each).casefold().removesuffix(".exe") for each in files]
    if len(bases) > 1 and bases[0] not in MULTIPLEXERS and bases[1] in MULTIPLEXERS and _is_system(path):
        bases = bases[:1]  # a link by which a multiplexer is the tool that it is called as
    if not _is_system(path) and _is_system(real_path) and len(bases) > 1:
        bases = bases[1:]  # a link that somebody made says nothing of the program behind it
    yield from map(_known_name, dict.fromkeys(bases))


def _known_name(base: str) -> str:
    """Give the name under which a file's name is known: with its release, as `diff3`, or without, as `python3.11`."""
    plain = plain_name(base)
    is_its_release = plain in RULES and (base not in RUN_BY_NATURE or plain in RUN_BY_NATURE)
    return base if base in RULES or (base in RUN_BY_NATURE and not is_its_release) else plain


def _is_system(path: str) -> bool:
    return path.startswith(SYSTEM_FOLDERS) and not path.startswith(OWN_FOLDERS)


def _doubt_of(name: str, rule: Rule, words: tuple[str, ...]) -> Evidence | None:
    reading = read_command(rule, words)
    word = reading.beyond or doubtful_word(name, reading, words)
    if not word:
        return None
    code = RUNS_BY_NATURE if name in RUN_BY_NATURE else NOT_KNOWN_SAFE
    return Evidence(code, f"{name} {word}"[:SHOWN])
