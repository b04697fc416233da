"""Rules for direct chats from a document to the draft, to what is decided, and back."""

import json
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.policies.models import ChannelGroup
from apps.policies.selectors import document_export, draft_snapshot, lint
from apps.policies.services import document_import

pytestmark = pytest.mark.django_db

TOOLS = {"read", "write", "exec", "browser"}
DOCUMENT: dict[str, Any] = {
    "agents": {"entries": {"main": {}}},
    "channels": {
        "telegram": {
            "direct": {
                "4242": {
                    "tools": {"deny": ["exec", "write"]},
                    "toolsBySender": {"id:77": {"allow": ["read"]}},
                    "systemPrompt": "kept",
                },
                "*": {"tools": {"deny": ["browser"]}},
            },
            "accounts": {"work": {"direct": {"*": {"tools": {"deny": ["read"]}}}}, "empty": {"direct": {}}},
        }
    },
}


def denied(environment: Any, key: str, **said: Any) -> set[str]:
    context = CallContext(agent_id="main", session_key=key, channel="telegram", **said)
    return TOOLS - set(allowed_tools(draft_snapshot(environment), context))


def test_rules_for_direct_chats_decide_as_they_are_imported_and_come_back(environment: Any) -> None:
    document_import(environment, json.dumps(DOCUMENT), by=None)

    assert {
        name: denied(environment, f"agent:main:{name}", sender_id=sender)
        for name, sender in (
            ("telegram:direct:4242", "4242"),
            ("telegram:direct:77", "77"),
            ("telegram:direct:4242 ", "77"),
            ("main", "4242"),
            ("telegram:work:direct:4242", "4242"),
            ("telegram:empty:direct:4242", "4242"),
            ("telegram:group:-100", "4242"),
        )
    } == {
        "telegram:direct:4242": {"exec", "write"},
        "telegram:direct:77": {"browser"},
        "telegram:direct:4242 ": {"write", "exec", "browser"},
        "main": {"exec", "write"},
        "telegram:work:direct:4242": {"read"},
        "telegram:empty:direct:4242": set(),
        "telegram:group:-100": set(),
    }
    assert document_export(environment) == DOCUMENT
    assert lint(environment) == []


def test_a_change_of_a_direct_chat_counts(environment: Any) -> None:
    document_import(environment, json.dumps(DOCUMENT), by=None)
    ChannelGroup.objects.filter(kind="direct", key="4242").update(deny=["browser"])

    assert denied(environment, "agent:main:telegram:direct:4242", sender_id="4242") == {"browser"}
