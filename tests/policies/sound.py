"""Fifty sound policies: ten ways to set an agent up, each beside five ways to set up who talks to it."""

from typing import Any, Final

AGENTS: Final[dict[str, dict[str, Any]]] = {
    "coder": {"profile": "coding", "deny": ["web_*"]},
    "coder_with_browser": {"profile": "coding", "alsoAllow": ["browser"]},
    "messenger": {"profile": "messaging", "deny": ["sessions_send"]},
    "reader": {"allow": ["read", "web_search", "web_fetch"]},
    "researcher": {"profile": "full", "allow": ["group:web", "group:fs"]},
    "asks_first": {"profile": "coding", "exec": {"mode": "ask"}},
    "no_commands": {"profile": "full", "deny": ["group:runtime"], "exec": {"mode": "deny"}},
    "minimal": {"profile": "minimal", "alsoAllow": ["read", "message"]},
    "careful": {"profile": "full", "exec": {"security": "allowlist", "ask": "on-miss"}, "fs": {"workspaceOnly": True}},
    "boxed": {"profile": "coding", "exec": {"host": "sandbox", "mode": "full"}},
}
AUDIENCES: Final[dict[str, dict[str, Any]]] = {
    "alone": {},
    "groups": {
        "channels": {
            "telegram": {
                "groups": {"*": {"tools": {"deny": ["exec"]}}, "-1001234567890": {"tools": {"allow": ["read"]}}}
            },
            "whatsapp": {"groups": {"120363000000000000@g.us": {"tools": {"deny": ["group:fs"]}}}},
        }
    },
    "senders": {
        "tools": {
            "toolsBySender": {
                "id:42": {"allow": ["*"]},
                "channel:telegram:1001": {"deny": ["exec"]},
                "e164:+15550001111": {},
                "username:@bob": {"allow": ["read", "message"]},
                "@alice:example.org": {"deny": ["process"]},
                "*": {"deny": ["group:runtime"]},
            }
        }
    },
    "providers": {
        "models": {"providers": {"local": {}}},
        "tools": {"byProvider": {"local": {"profile": "coding"}, "anthropic/claude": {"deny": ["exec"]}}},
        "agents": {"defaults": {"model": {"primary": "openai/gpt", "fallbacks": ["anthropic/claude"]}}},
    },
    "sub_agents_and_sandbox": {
        "tools": {
            "deny": ["nodes"],
            "subagents": {"tools": {"deny": ["automations"]}},
            "sandbox": {"tools": {"alsoAllow": ["web_search"]}},
            "elevated": {"enabled": True, "allowFrom": {"telegram": ["1001"]}},
        },
        "agents": {"defaults": {"subagents": {"maxSpawnDepth": 2}, "sandbox": {"mode": "non-main"}}},
    },
}


def sound_policies() -> dict[str, dict[str, Any]]:
    """Return every agent beside every audience, by both names."""
    return {
        f"{agent}-{audience}": {
            **document,
            "agents": {**document.get("agents", {}), "entries": {"main": {"tools": tools}}},
        }
        for agent, tools in AGENTS.items()
        for audience, document in AUDIENCES.items()
    }
