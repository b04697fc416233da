"""Whatever names a file is bound to it: whole arguments, words of a line for a shell, options, links."""

import os
from pathlib import Path

import pytest

from apps.firewall.runtime.executors import identifying
from apps.firewall.runtime.executors.identifying import TooManyFilesError, identities


@pytest.fixture
def script(tmp_path: Path) -> Path:
    made = tmp_path / "run.sh"
    made.write_text("echo one")
    return made


@pytest.mark.parametrize(
    "argv",
    [
        ("bash", "run.sh"),
        ("bash", "-c", "bash run.sh && echo done"),
        ("bash", "-c", "cat data|./run.sh"),
        ("sh", "-c", "sh -c 'exec ./run.sh'"),
        ("python3", "-c", "open('run.sh').read()"),
        ("make", "--file=run.sh"),
    ],
)
def test_a_script_that_a_command_names_anywhere_is_bound_to_its_content(
    tmp_path: Path, script: Path, argv: tuple[str, ...]
) -> None:
    before = identities("/bin/bash", argv, str(tmp_path))
    script.write_text("echo two")

    assert identities("/bin/bash", argv, str(tmp_path)) != before


def test_a_link_that_leads_elsewhere_is_another_file_though_the_content_is_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("the same")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "a")
    before = identities("/bin/ls", ["ls", "link"], str(tmp_path))
    link.unlink()
    link.symlink_to(tmp_path / "b")
    after = identities("/bin/ls", ["ls", "link"], str(tmp_path))

    assert before[str(link)].endswith(f" {os.path.realpath(tmp_path / 'a')}")
    assert before != after


def test_a_file_that_comes_to_be_is_a_change(tmp_path: Path) -> None:
    before = identities("/bin/bash", ["bash", "new.sh"], str(tmp_path))
    (tmp_path / "new.sh").write_text("x")

    assert identities("/bin/bash", ["bash", "new.sh"], str(tmp_path)) != before


def test_programs_that_a_line_finds_by_name_are_identified(tmp_path: Path) -> None:
    found = identities("/bin/bash", ["bash", "-c", "ls | sort"], str(tmp_path))

    assert {Path(each).name for each in found} >= {"ls", "sort"}


def test_files_beyond_the_number_that_is_hashed_are_still_bound(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(identifying.HASHED_FILES_LIMIT * 2)]
    for name in names:
        (tmp_path / name).write_text("one")
    before = identities("/bin/ls", ["ls", *names], str(tmp_path))
    (tmp_path / names[-1]).write_text("two")

    assert identities("/bin/ls", ["ls", *names], str(tmp_path)) != before


def test_more_files_than_can_be_looked_at_again_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identifying, "FILES_LIMIT", 3)
    for number in range(4):
        (tmp_path / str(number)).touch()

    with pytest.raises(TooManyFilesError):
        identities("/bin/ls", ["ls", "0", "1", "2", "3"], str(tmp_path))
