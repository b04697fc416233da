"""Programs that run other programs, and interpreters that take a program as an argument."""

import re
from typing import Final

from apps.firewall.engine.exec_policy.line import Evidence, names

WRAPPERS: Final = names(
    "arch builtin busybox bunx bwrap caffeinate catchsegv chroot chrt command coproc cpulimit doas "
    "eatmydata entr env exec expect faketime fakeroot firejail flock gosu ionice linux32 linux64 ltrace "
    "machinectl nice nohup npx nsenter numactl parallel pkexec proot proxychains proxychains4 runcon "
    "runuser script setarch setpriv setsid sg start-stop-daemon stdbuf strace su sudo systemd-run taskset "
    "time timeout toybox torify torsocks tsocks unbuffer unshare valgrind watch xargs xvfb-run"
)
SHELLS: Final = names(
    "ash bash cmd csh dash elvish fish ksh mksh nu osh powershell pwsh rbash rzsh sh tcsh xonsh yash zsh"
)
BUILTINS_THAT_RUN: Final = frozenset([".", "alias", "eval", "source", "trap"])
SUBCOMMANDS_THAT_RUN: Final = {
    "npm": {"exec", "x", "run", "run-script"},
    "pnpm": {"exec", "dlx", "node"},
    "yarn": {"exec", "dlx"},
    "uv": {"run", "tool"},
    "pipx": {"run"},
    "git": {"difftool", "mergetool"},
}
OPTIONS_THAT_RUN: Final = {
    "find": {"-exec", "-execdir", "-ok", "-okdir", "-fprintf", "-fprint", "-fls"},
    "tar": {"--to-command", "--checkpoint-action", "--use-compress-program", "-I"},
    "rsync": {"-e", "--rsh", "--rsync-path"},
    "ssh": {"-o"},
    "scp": {"-o", "-S"},
    "git": {"-c", "--exec-path", "--upload-pack", "--receive-pack", "--config-env"},
    "sort": {"--compress-program"},
    "man": {"-P", "--pager", "-H"},
    "make": {"--eval"},
}
CODE_LETTERS: Final = {
    "python": "cm",
    "pypy": "cm",
    "perl": "eE",
    "ruby": "e",
    "php": "rBER",
    "node": "ep",
    "nodejs": "ep",
    "bun": "ep",
    "lua": "e",
    "luajit": "e",
    "r": "e",
    "rscript": "e",
    "julia": "eE",
    "groovy": "e",
    "scala": "e",
    "elixir": "e",
    "ghc": "e",
    "osascript": "e",
    "gdb": "x",
    "vim": "cS",
    "vi": "cS",
    "nvim": "cS",
    "emacs": "",
    "sqlite": "",
    "psql": "c",
    "mysql": "e",
}
CODE_OPTIONS: Final = (
    "--eval",
    "--print",
    "--execute",
    "--code",
    "--run",
    "--command",
    "--source",
    "--init-command",
    "--require",
    "--import",
    "-ex",
    "-eval",
    "-cmd",
)
CODE_SUBCOMMANDS: Final = {"deno": {"eval", "repl"}, "bun": {"eval", "x", "exec"}}
PROGRAM_AS_ARGUMENT: Final = names("awk gawk mawk nawk sed gsed dc bc jq ed ex m4 tclsh expect")
LONGEST_SEARCH: Final = 4096

_RELEASE = re.compile(r"(?P<name>[a-z]+)-?[0-9][0-9.]*\Z")


def plain_name(word: str) -> str:
    """Name a program without folder, case, `.exe` and release: `/usr/bin/Python3.11` is `python`."""
    name = word.rsplit("/", 1)[-1].casefold().removesuffix(".exe")
    match = _RELEASE.match(name)
    return match["name"] if match else name


def indirections(called: frozenset[str], argv: tuple[str, ...]) -> tuple[Evidence, ...]:
    """Find what makes a command more than the program it names.

    Args:
        called: every plain name of the program: as typed, and of the file behind links.
        argv: the command.
    """
    arguments = argv[1:]
    found: list[Evidence] = []
    for name in sorted(called):
        if name in WRAPPERS or name in SHELLS or name in BUILTINS_THAT_RUN:
            found.append(Evidence("shell" if name in SHELLS else "wrapper", name))
        found.extend(_carried(name, arguments))
        found.extend(_code(name, arguments))
    return tuple(dict.fromkeys(found))


def _carried(name: str, arguments: tuple[str, ...]) -> list[Evidence]:
    options = OPTIONS_THAT_RUN.get(name, set())
    subcommands = SUBCOMMANDS_THAT_RUN.get(name, set())
    return [
        Evidence("wrapper", f"{name} {argument}")
        for argument in arguments
        if argument in subcommands or any(_is_option(argument, option) for option in options)
    ]


def _is_option(argument: str, option: str) -> bool:
    """Say whether an argument is an option, alone, with `=value`, or (one letter) with its value attached."""
    if argument.partition("=")[0] == option:
        return True
    if option.startswith("--"):  # programs accept the beginning of a long option
        return len(argument) > 3 and option.startswith(argument.partition("=")[0])
    return len(option) == 2 and argument.startswith(option)


def _code(name: str, arguments: tuple[str, ...]) -> list[Evidence]:
    if name in PROGRAM_AS_ARGUMENT and arguments:
        return [Evidence("inline_code", f"{name} {arguments[0]}"[:80])]
    if arguments and arguments[0] in CODE_SUBCOMMANDS.get(name, set()):
        return [Evidence("inline_code", f"{name} {arguments[0]}")]
    letters = CODE_LETTERS.get(name)
    if letters is None:
        return []
    for argument in arguments:
        if _is_code_option(argument, letters):
            return [Evidence("inline_code", f"{name} {argument}"[:80])]
    return []


def _is_code_option(argument: str, letters: str) -> bool:
    """Judge on the safe side: any cluster of short options that holds one of the letters."""
    if not argument.startswith("-") or argument == "-":
        return False
    word = argument.partition("=")[0]
    if argument.startswith("--"):
        return len(word) > 2 and any(option.startswith(word) for option in CODE_OPTIONS)
    return word in CODE_OPTIONS or any(letter in argument[1:LONGEST_SEARCH] for letter in letters)
