"""The shape of a release's tables: what its exec policy knows about programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from apps.firewall.engine.exec_policy.line import names

NOTHING: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a program before the command that it runs.

    Args:
        flags: stand alone.
        with_value: take the next word, or (long ones) what follows `=`.
        split_string: those among them whose value is itself a command line.
    """

    flags: frozenset[str] = NOTHING
    with_value: frozenset[str] = NOTHING
    split_string: frozenset[str] = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapper:
    """A program that starts another one.

    Args:
        mode: `transparent`: the command behind it decides; `transparent_unless`: so it is, but for `blocked_by`;
            `blocked`: nothing behind it is ever satisfied.
        before: how many words stand between the options and the command.
    """

    mode: Literal["transparent", "transparent_unless", "blocked"] = "transparent"
    blocked_by: str = ""
    options: Options = field(default_factory=Options)
    before: int = 0
    numbers: bool = False  # `-5` and `-n5`, as `nice` takes them
    clusters: str = ""  # letters that may stand together in one word
    minds_case: bool = False  # of its options; the others are read in any case
    is_exact: bool = False  # a flag with `=` is none
    checks_command: bool = False  # what begins with `-` is no command


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeBin:
    """Arguments with which a program reads its input and nothing else."""

    min_positional: int = 0
    max_positional: int | None = None
    value_flags: frozenset[str] = NOTHING
    boolean_flags: frozenset[str] = NOTHING
    denied_flags: frozenset[str] = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Shells:
    """Which programs are shells, and how they are given a line."""

    posix: frozenset[str]
    parseable: frozenset[str] = NOTHING  # those whose lines are read
    windows: frozenset[str] = names("cmd powershell pwsh")
    multiplexers: frozenset[str] = names("busybox toybox")
    inline_flags: frozenset[str]
    with_value: frozenset[str] = NOTHING

    @property
    def every(self) -> frozenset[str]:
        return self.posix | self.windows


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageManager:
    """A package manager that runs a command behind a subcommand; without subcommands it always runs one.

    Args:
        before: options between the program and its subcommand.
        after: options between a subcommand and the command, by subcommand; one that is missing takes none.
        blocking: options that choose what is run, and from where.
        implied: the program that a subcommand stands for.
        known: subcommands that run no command; None: every other subcommand is one.
    """

    subcommands: frozenset[str] = NOTHING
    before: Options = field(default_factory=Options)
    after: Mapping[str, Options] = field(default_factory=dict)
    blocking: frozenset[str] = NOTHING
    implied: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """One release.

    Args:
        reads_grammar: lines are read by a shell's grammar; the older release looks at characters.
        matches_real_path: patterns meet the file behind all links, with case; names without path are patterns, too.
        argv_carriers: builtins that start what follows them.
    """

    release: str
    reads_grammar: bool
    matches_real_path: bool
    safe_bin_profiles: Mapping[str, SafeBin]
    default_safe_bins: tuple[str, ...]
    trusted_safe_bin_dirs: tuple[str, ...]
    never_safe_bins: frozenset[str]
    only_listed_letters: bool  # a safe bin's short option must be in its profile
    safe_builtins: frozenset[str]
    wrappers: Mapping[str, Wrapper]
    wrapper_depth: int
    shells: Shells
    shell_inline_depth: int = 3
    argv_carriers: Mapping[str, Wrapper] = field(default_factory=dict)
    sourcing: frozenset[str] = NOTHING
    always_ask: frozenset[str] = NOTHING
    carriers_by_option: Mapping[str, frozenset[str]] = field(default_factory=dict)
    carrier_names: frozenset[str] = NOTHING
    carrier_options: Mapping[str, Options] = field(default_factory=dict)  # where a blocked one can be read
    package_managers: Mapping[str, PackageManager] = field(default_factory=dict)
    package_manager_depth: int = 6
