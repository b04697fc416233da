"""Decisions as data: every case is asked in every way there is, and must get one answer."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide, explain, explain_tool
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.simulate import Block, simulate
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import ToolEntry

FOLDER = Path(__file__).parent / "cases"
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['description']}")
    for path in sorted(FOLDER.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text(encoding="utf-8"))
]


def _snapshot(case: dict[str, Any]) -> Snapshot:
    tools = [ToolEntry(tool) if isinstance(tool, str) else ToolEntry(**tool) for tool in case["tools"]]
    return build_snapshot(parse_document(case["document"], dialect=case.get("dialect", "2026.9"), tools=tools))


@pytest.mark.parametrize("case", CASES)
def test_it_is_decided_as_the_case_says(case: dict[str, Any]) -> None:
    snapshot, context = _snapshot(case), CallContext.from_json(case["context"])
    expected = case["expect"]
    for asked in (snapshot, load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest)):
        assert list(allowed_tools(asked, context)) == expected["allowed"]
        assert list(explain(asked, context).allowed) == expected["allowed"]
        for tool in asked.tool_names:
            decision = decide(asked, context, tool)
            assert decision.allowed is (tool in expected["allowed"])
            if not decision.allowed:
                assert [decision.layer, decision.rule] == expected["denied"][tool]


@pytest.mark.parametrize("case", CASES)
def test_every_step_agrees_with_the_explanation(case: dict[str, Any]) -> None:
    snapshot, context = _snapshot(case), CallContext.from_json(case["context"])
    explanation = explain(snapshot, context)
    for tool, (layer, rule) in case["expect"].get("denied", {}).items():
        (step,) = [step for step in explain_tool(snapshot, context, tool) if step.removed_here]
        assert [step.key, step.rule] == [layer, rule]
        found = explanation.removal_of(tool)
        assert found is not None
        assert [found[0].key, found[1].rule] == [layer, rule]


@pytest.mark.parametrize("case", CASES)
def test_simulating_the_block_that_stands_there_changes_nothing(case: dict[str, Any]) -> None:
    snapshot, context = _snapshot(case), CallContext.from_json(case["context"])
    simulated = simulate(snapshot, context, Block(layer="global"), snapshot.engine.policy)
    assert list(simulated.allowed) == case["expect"]["allowed"]


@pytest.mark.parametrize("case", CASES)
def test_simulating_a_deny_of_everything_leaves_nothing(case: dict[str, Any]) -> None:
    snapshot, context = _snapshot(case), CallContext.from_json(case["context"])
    assert simulate(snapshot, context, Block(layer="global"), Policy(deny=("*",))).allowed == ()
