"""Two thousand commands in many shapes, the same ones every time: what agents write, and what they write to get by."""

from collections.abc import Callable, Iterator
from itertools import cycle, islice

PROGRAMS = ("cat", "ls", "sort", "head", "wc", "tail", "cut", "uniq", "grep", "date", "touch", "env")
ARGUMENTS = (
    (), ("-l",), ("-l", "notes.txt"), ("-l", "notes.txt", "more.txt"), ("-l", "two words.txt"), ("-a", "notes.txt"),
    ("--color=never", "-l", "x"), ("-l", "übung.txt"), ("-l", "笔记.txt"), ("-l", "a'b.txt"), ("-n", "3", "notes.txt"),
    ("-l", ""), ("--", "-l"), ("-l", "*.txt"), ("-l", "$HOME"), ("-l", "no\u200btes.txt"),
)  # fmt: skip


def plain(program: str, arguments: tuple[str, ...]) -> str:
    return " ".join([program, *arguments])


def quoted(program: str, arguments: tuple[str, ...]) -> str:
    return " ".join([program, *("'" + each.replace("'", "'\\''") + "'" for each in arguments)])


def double_quoted(program: str, arguments: tuple[str, ...]) -> str:
    return " ".join([program, *(f'"{each}"' for each in arguments)])


Shape = Callable[[str, tuple[str, ...]], str]
SHAPES: tuple[Shape, ...] = (
    plain,
    quoted,
    double_quoted,
    lambda program, arguments: quoted(f"/usr/bin/{program}", arguments),
    lambda program, arguments: quoted(f"/bin/{program}", arguments),
    lambda program, arguments: quoted(f"/usr/bin/../bin/{program}", arguments),
    lambda program, arguments: quoted(f"./{program}", arguments),
    lambda program, arguments: quoted(f'"{program}"', arguments),
    lambda program, arguments: quoted(f"{program[0]}\\{program[1:]}", arguments),
    lambda program, arguments: f"  {quoted(program, arguments)}  ",
    lambda program, arguments: quoted(program, arguments).replace(" ", "\t"),
    lambda program, arguments: f"LANG=C {quoted(program, arguments)}",
    lambda program, arguments: f"env LANG=C {quoted(program, arguments)}",
    lambda program, arguments: f"nice -n 5 {quoted(program, arguments)}",
    lambda program, arguments: f"timeout 5 {quoted(program, arguments)}",
    lambda program, arguments: f"sudo {quoted(program, arguments)}",
    lambda program, arguments: f"sh -c '{program} -l'",
    lambda program, arguments: f"bash -lc \"{program} -l notes.txt\"",
    lambda program, arguments: f"{quoted(program, arguments)} | head",
    lambda program, arguments: f"{quoted(program, arguments)} && {program}",
    lambda program, arguments: f"{program};{program} -l",
    lambda program, arguments: f"{quoted(program, arguments)} > out.txt",
    lambda program, arguments: f"$({program})",
    lambda program, arguments: f"{program} `{program}`",
    lambda program, arguments: f"{program} -l # {program}",
    lambda program, arguments: f"{program}\\\n -l notes.txt",
    lambda program, arguments: f"{program.upper()} -l notes.txt",
    lambda program, arguments: f"{program[0]}\u200b{program[1:]} -l",
    lambda program, arguments: f"{program.replace('a', 'а')} -l notes.txt",  # a Cyrillic letter
    lambda program, arguments: f"xargs {program} -l",
    lambda program, arguments: f"{program} -l 'unclosed",
)  # fmt: skip


def commands(count: int = 2_000) -> Iterator[str]:
    """Give so many different commands, every shape with every program before any comes twice."""
    seen: set[str] = set()
    lines = (
        shape(program, arguments)
        for turn in range(len(ARGUMENTS))
        for number, shape in enumerate(SHAPES)
        for each, program in enumerate(PROGRAMS)
        for arguments in [ARGUMENTS[(turn + number + each) % len(ARGUMENTS)]]
    )
    fresh = (line for line in lines if not (line in seen or seen.add(line)))  # type: ignore[func-returns-value]
    return islice(fresh, count)


def seeds(turn: int) -> list[tuple[str, tuple[str, ...], str]]:
    """Pair each program with what was approved and how far it reaches; another turn pairs them otherwise."""
    reaches = cycle(("exact", "first", "any"))
    for _ in range(turn):
        next(reaches)
    return [(program, ("-l", "notes.txt"), next(reaches)) for program in PROGRAMS if program != "env"]
