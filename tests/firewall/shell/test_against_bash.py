"""What a list admits, run by a real bash: nothing but listed programs starts, however the line is put together."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from apps.firewall.engine.exec_policy import AllowEntry, ExecRules, Where, judge
from apps.firewall.shell import read_line

BASH = next((path for path in ("/bin/bash", "/usr/bin/bash") if Path(path).exists()), "")
PIECES = (
    *[
        "ls",
        "ls",
        "cat",
        "cat",
        "rm",
        "x",
        "E",
        "A",
        "=1",
        "|",
        "&&",
        "||",
        ";",
        ";;",
        "|&",
        "&",
        "!",
        "#",
        "'",
        "'",
        '"',
        "\\",
        "$'",
        "`",
        "bash",
        "-c",
        "env",
        "--",
        "[",
        "]",
        "test",
        "-f",
        "-v",
        "a[",
        "*",
        "{",
        "}",
        ",",
        "~",
    ],
    *(" " * 14),
    *"\n\t\r\x0b\xa0é",
)
LISTED = {"ls", "cat"}
LINES, SEEDS = 400, 3


class Disk:
    def is_program(self, path: str) -> bool:
        return Path(path).is_file() and os.access(path, os.X_OK)

    def real_path(self, path: str) -> str:
        return os.path.realpath(path)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Programs that only write down that they were started."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("ls", "cat", "rm", "x", "E", "A"):
        program = folder / name
        program.write_text(f"#!{BASH}\necho {name} >> {tmp_path / 'started'}\n")
        program.chmod(0o755)
    (folder / "bash").symlink_to(BASH)
    return folder


def _line(chance: random.Random) -> str:
    pieces = (chance.choice(PIECES) + " " * chance.randint(0, 1) for _ in range(chance.randint(1, 9)))
    return f"{chance.choice(['ls', 'cat', ''])} {''.join(pieces)}"


@pytest.mark.skipif(not BASH, reason="needs bash")
@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_bash_starts_nothing_that_is_not_listed(programs: Path, tmp_path: Path, release: str, seed: int) -> None:
    chance = random.Random(seed)
    where = Where(cwd=str(tmp_path), workspace=str(tmp_path), home="/nobody", search_path=(str(programs),))
    entries = tuple(AllowEntry(pattern=f"{programs}/{name}") for name in sorted(LISTED))
    rules = ExecRules(allowlist=entries, dialect=release)
    started = tmp_path / "started"
    ran = 0
    for line in (_line(chance) for _ in range(LINES)):
        verdict = judge(read_line(line), rules, files=Disk(), where=where)
        if verdict.outcome != "run":
            continue
        ran += 1
        started.write_text("")
        subprocess.run(
            verdict.argv,
            executable=verdict.executable,
            cwd=tmp_path,
            env={"PATH": str(programs)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        assert set(started.read_text().split()) <= LISTED, line
    assert ran > 20
