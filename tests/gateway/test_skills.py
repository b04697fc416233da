"""`autoAllowSkills` at the agents' door: programs of an agent's skills run unasked, those of nobody's do not."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.approvals.models import Approval
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder
from tests.gateway.test_decisions import eventually

SKILL = '---\nname: dates\nmetadata: {"openclaw": {"requires": {"bins": ["date"]}}}\n---\nTell the date.\n'


@pytest.fixture(params=[True, False], ids=["on", "off"])
def is_on(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def holder(is_on: bool) -> Holder:
    return Holder(snapshot_with(approvals={"agents": {"*": {"autoAllowSkills": is_on}}}))


def test_programs_of_skills_run_unasked_where_the_switch_says_so(
    agent: httpx.Client, settings: Any, is_on: bool
) -> None:
    skill = Path(settings.VAR_DIR, "skills", "production", "bot", "dates")
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)

    ran = call(agent, "exec", {"command": "date -u"}, wait_ms=20_000 if is_on else 0).json()
    call(agent, "exec", {"command": "ls -l"}, wait_ms=0)

    asked = 1 if is_on else 2
    assert eventually(lambda: Approval.objects.count() == asked)
    assert {each.command for each in Approval.objects.all()} == ({"ls -l"} if is_on else {"date -u", "ls -l"})
    assert not is_on or ran["status"] == "completed"


def test_a_skill_that_an_agent_writes_in_its_own_folder_allows_nothing(agent: httpx.Client, is_on: bool) -> None:
    written = call(agent, "write", {"path": "skills/mine/SKILL.md", "content": SKILL}, wait_ms=20_000)
    assert written.json()["status"] == "completed"
    call(agent, "exec", {"command": "date -u"}, wait_ms=0)
    assert eventually(lambda: Approval.objects.filter(command="date -u").exists())
