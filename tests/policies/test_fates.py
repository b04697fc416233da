"""What an import says of keys that only OpenClaw enforces, held against the table of what becomes of each key."""

import json
from typing import Any

import pytest

from apps.policies.document.fates import FATES, Fate
from apps.policies.selectors import document_export
from apps.policies.services import document_import

VALUES: dict[str, Any] = {
    "message": {"crossContext": {"allowAcrossProviders": False}},
    "sessions": {"visibility": "self"},
    "agentToAgent": {"enabled": False, "allow": ["main"]},
    "sessionToolsVisibility": "spawned",
    "allowAgents": ["main"],
    "requireAgentId": True,
    "sendPolicy": {"default": "deny"},
}
ALONE = [place for place, fate in FATES.items() if fate is Fate.OPENCLAW_ALONE]


def document_with(place: str) -> tuple[dict[str, Any], str]:
    """Write a document that has a key, and the place where it stands there."""
    steps = ["main" if step == "*" else step for step in place.split(".")]
    tree: dict[str, Any] = {"agents": {"entries": {"main": {}}}}
    holder = tree
    for step in steps[:-1]:
        holder = holder.setdefault(step, {})
    holder[steps[-1]] = VALUES[steps[-1]]
    return tree, ".".join(steps)


@pytest.mark.parametrize("place", ALONE)
def test_what_openclaw_alone_enforces_is_named_kept_and_given_back(place: str, environment: Any) -> None:
    tree, where = document_with(place)

    report = document_import(environment, json.dumps(tree), by=None)

    told = {each.path: each.severity for each in report.diagnostics if each.code == "not_enforced"}
    assert told == {where: "warning"}
    assert document_export(environment) == tree


def test_a_document_without_such_keys_draws_no_such_remark(environment: Any) -> None:
    document = {"agents": {"entries": {"main": {"tools": {"deny": ["exec"]}}}}, "session": {"mainKey": "work"}}
    report = document_import(environment, json.dumps(document), by=None)
    assert [each for each in report.diagnostics if each.code == "not_enforced"] == []
