"""What an import says of keys that only OpenClaw enforces, held against the table of what becomes of each key."""

import json
from typing import Any

import pytest

from apps.policies.document.enforcement import ENFORCEMENT, Enforcement
from apps.policies.errors import DocumentInvalidError
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
ALONE = [place for place, how in ENFORCEMENT.items() if how is Enforcement.OPENCLAW_ALONE]


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


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ({"profile": "coding"}, ["tools.profile"]),
        ({"profile": "coding", "alsoAllow": ["gateway"]}, []),
        ({"profile": "full"}, []),
        ({"byProvider": {"acme": {"profile": "minimal"}}}, ["tools.byProvider.acme.profile"]),
    ],
)
def test_a_profile_that_lets_the_gateway_only_update_says_so(
    block: dict[str, Any], told: list[str], environment: Any
) -> None:
    document = {"agents": {"entries": {"main": {}}}, "tools": block}
    report = document_import(environment, json.dumps(document), by=None)
    found = [each for each in report.diagnostics if each.code == "not_enforced"]
    assert [(each.path, each.severity) for each in found] == [(path, "info") for path in told]


@pytest.mark.parametrize(
    "tools", [5, {"profile": ["coding"]}, {"profile": "coding", "alsoAllow": 5}, {"byProvider": 5}]
)
def test_a_malformed_profile_is_a_mistake_of_the_document(tools: Any, environment: Any) -> None:
    document = {"agents": {"entries": {"main": {}}}, "tools": tools}
    with pytest.raises(DocumentInvalidError):
        document_import(environment, json.dumps(document), by=None)


def test_what_is_kept_and_decides_in_part_says_which_part(environment: Any) -> None:
    document = {
        "agents": {"defaults": {"sandbox": {"mode": "all", "scope": "agent"}}, "entries": {"main": {}}},
        "session": {"mainKey": "work", "store": "x"},
        "ui": {"assistant": {"name": "Ada"}},
    }
    report = document_import(environment, json.dumps(document), by=None)

    told = {each.path: each.message for each in report.diagnostics if each.code == "kept_verbatim"}
    assert told == {
        "agents.defaults.sandbox": "kept as it is; of it, `mode`, `workspaceAccess` decide here",
        "session": "kept as it is; of it, `mainKey`, `scope` decide here",
        "ui": "kept as it is, not part of the tool policy",
    }
