"""Programs of skills: read from where people put them, allowed by name where the switch says so, unknown ones not."""

from pathlib import Path

import pytest

from apps.firewall.engine.exec_policy import ExecRules, Where, judge
from apps.firewall.runtime import skills
from apps.firewall.runtime.skills import NoSkills, SkillFolders, programs_of
from apps.firewall.shell import read_line

WEATHER = """---
name: weather
description: Tells the weather.
metadata:
  { "openclaw": { "requires": { "bins": ["wttr", "rm; true", 7, "../x"], "anyBins": ["curl"] } } }
---
Ask for the weather.
"""
AS_TEXT = '---\nname: x\nmetadata: \'{"openclaw": {"requires": {"bins": ["uv"]}}}\'\n---\n'
WHERE = Where(cwd="/desk", workspace="/desk", home="/home/op", search_path=("/usr/bin",))


class Disk:
    """Programs in /usr/bin; `wttr` is a link."""

    def is_program(self, path: str) -> bool:
        return path in {"/usr/bin/wttr", "/usr/bin/other", "/desk/wttr", "/usr/bin/bash"}

    def real_path(self, path: str) -> str:
        return path.replace("/usr/bin/wttr", "/opt/wttr/cli")


def put(folder: Path, *parts: str, text: str = WEATHER) -> None:
    place = folder.joinpath(*parts)
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text(text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (WEATHER, {"wttr", "curl"}),
        (WEATHER.replace("\n", "\r\n"), {"wttr", "curl"}),
        (AS_TEXT, {"uv"}),
        ("# no front matter\n", set()),
        ("---\nmetadata: [1]\n---\n", set()),
        ("---\nmetadata: {openclaw: {requires: {bins: rm}}}\n---\n", set()),
    ],
)
def test_a_skill_says_which_programs_it_needs(text: str, names: set[str]) -> None:
    assert programs_of(text) == names


def test_each_agent_has_its_own_and_those_of_all(tmp_path: Path) -> None:
    put(tmp_path, "production", "main", "weather")
    put(tmp_path, "production", "_all", "python", text=AS_TEXT)
    put(tmp_path, "production", "other", "broken", text="---\n: [\n---\n")
    put(tmp_path, "production", "other", "large", text=WEATHER + "x" * skills.FILE_LIMIT)
    (tmp_path / "production" / "other" / "no-skill").mkdir()
    folders = SkillFolders(tmp_path)

    assert folders.programs("production", "main") == {"wttr", "curl", "uv"}
    assert folders.programs("production", "other") == {"uv"}
    assert folders.programs("staging", "main") == folders.programs("../production", "main") == frozenset()
    assert NoSkills().programs("production", "main") == frozenset()


@pytest.mark.parametrize("dialect", ["2026.9", "2026.2"])
@pytest.mark.parametrize(
    ("command", "is_on", "outcome"),
    [
        ("wttr berlin", True, "run"),
        ("wttr berlin", False, "ask"),
        ("/desk/wttr berlin", True, "ask"),
        ("other berlin", True, "ask"),
        ("wttr berlin && other", True, "ask"),
        ("wttr $(other)", True, "ask"),
        ("LANG=C wttr", True, "ask"),
    ],
)
def test_the_switch_lets_programs_of_skills_run_and_nothing_else(
    command: str, is_on: bool, outcome: str, dialect: str
) -> None:
    known = frozenset({("wttr", "/usr/bin/wttr"), ("wttr", "/opt/wttr/cli")})
    rules = ExecRules(
        security="allowlist",
        ask="on-miss",
        auto_allow_skills=is_on,
        skills=known,
        dialect=dialect,
        safe_bins=frozenset(),
    )
    verdict = judge(read_line(command), rules, files=Disk(), where=WHERE)
    assert verdict.outcome == outcome
    assert outcome != "run" or (verdict.reason, "autoAllowSkills" in verdict.message) == ("allowlist", True)
