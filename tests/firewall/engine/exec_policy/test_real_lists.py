"""Approvals documents as people keep them, and the commands that were run under them."""

import json
from typing import Any, Final

import pytest

from apps.firewall.engine.exec_policy import exec_rules, judge
from apps.firewall.engine.exec_settings import ExecSettings
from apps.firewall.shell import read_line
from apps.firewall.tools.builtin.exec import DEFINITION
from tests.firewall.engine.exec_policy.test_known_safe import WHERE, Files, verdict

SCRIPTS: Final = ({"pattern": "/desk/scripts/*"}, {"pattern": "/usr/bin/sh"})
READERS: Final = tuple({"pattern": f"/usr/bin/{name}"} for name in ("ls", "grep", "head"))
GIT: Final = (
    {"pattern": "/usr/bin/git", "id": "11111111-1111-4111-8111-111111111111", "lastUsedAt": 1775321065908},
    {"pattern": "/usr/bin/grep"},
    {"pattern": "/usr/bin/head"},
    {"pattern": "/usr/bin/sed"},
    {"pattern": "/usr/bin/ls"},
)
LOG: Final = ({"pattern": "/usr/bin/git", "argPattern": r"^log -\d+ --since=\S+ --author=\S+$"},)
EVERYTHING: Final = ({"pattern": "**"},)
DEAD: Final = ({"pattern": "*/ssh"}, {"pattern": "/opt/none/cd"})


@pytest.mark.parametrize(
    ("entries", "command", "outcome"),
    [
        (SCRIPTS, "/desk/scripts/job.sh a", "run"),
        (SCRIPTS, "./scripts/job.sh a", "run"),
        (SCRIPTS, '/usr/bin/sh -lc "cd /desk && ./scripts/job.sh"', "ask"),
        (SCRIPTS, "cd /desk && ./scripts/job.sh a", "ask"),
        (READERS, "grep -i agent f | head -20", "run"),
        (READERS, "ls | grep 'a>b'", "run"),
        (READERS, "ls > /tmp/x", "ask"),
        (({"pattern": "/usr/bin/bash"},), "bash -c 'id'", "ask"),
        (({"pattern": "/usr/bin/bash"},), "bash", "ask"),
        (LOG, "git log -3 --since=a --author=b", "run"),
        (LOG, "git log -3 --since=a --author=b --output=x", "ask"),
        (EVERYTHING, "cat /etc/passwd", "run"),
        (EVERYTHING, "bash -c 'id'", "run"),
        (DEAD, "ssh host", "ask"),
        (GIT, 'git -C d add -A && git -C d commit -m "x" && git -C d push', "run"),
        (GIT, "grep -i x f | head -20", "run"),
        (GIT, "ls -la d", "run"),
        (GIT, "sed -n '1,5p' f", "run"),
        (GIT, "sed -n '1e ./e' f", "ask"),
        (({"pattern": "/usr/bin/ls", "argpattern": "^-l$"},), "ls -a", "run"),  # the review warns of the key
    ],
)
def test_a_command_is_answered_as_its_owner_expects(entries: tuple[Any, ...], command: str, outcome: str) -> None:
    assert verdict(command, *entries).outcome == outcome


def test_what_one_agent_is_given_holds_before_the_defaults_and_for_it_alone() -> None:
    document = json.loads(
        '{"version":1,"defaults":{"security":"allowlist","ask":"on-miss","askFallback":"deny"},'
        '"agents":{"main":{"security":"full","ask":"off"}}}'
    )
    outcomes = {}
    for agent in ("main", "other"):
        rules = exec_rules(ExecSettings(agent, approvals=document), dialect="2026.9")
        outcomes[agent] = judge(read_line("perl e"), rules, files=Files(), where=WHERE).outcome, rules.security_from

    assert outcomes["main"] == ("run", "execApprovals.agents.main.security")
    assert outcomes["other"][0] == "ask"


def test_what_agents_are_told_of_the_tool_is_true_of_pipes() -> None:
    assert "joined by pipes" in DEFINITION.description
    assert "No shell" not in DEFINITION.description
