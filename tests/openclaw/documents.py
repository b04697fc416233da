"""Twenty documents in the shapes that people's files have: each is imported, published and exported.

What a real file holds besides is here, too: keys of older releases, comments' worth of leftovers, models, channels,
servers, answers that stand.
"""

from typing import Any, Final

TELEGRAM: Final[dict[str, Any]] = {
    "enabled": True,
    "botToken": "123456789:canary-of-telegram",
    "dmPolicy": "allowlist",
    "allowFrom": [1001],
    "groups": {
        "-1001": {"requireMention": True, "tools": {"deny": ["exec", "process"]}},
        "*": {"tools": {"allow": ["read", "web_search"]}, "toolsBySender": {"id:1001": {"alsoAllow": ["exec"]}}},
    },
}
MODELS: Final[dict[str, Any]] = {
    "providers": {
        "local": {
            "baseUrl": "http://127.0.0.1:11434/v1",
            "apiKey": "canary-of-a-model",
            "api": "openai-completions",
            "models": [{"id": "small", "name": "Small", "contextWindow": 32000, "maxTokens": 2048}],
        }
    }
}

DOCUMENTS: Final[dict[str, dict[str, Any]]] = {
    "nothing but defaults": {},
    "one agent": {"agents": {"entries": {"main": {}}}, "tools": {"profile": "coding"}},
    "a file without agents": {"tools": {"deny": ["exec"]}, "gateway": {"mode": "local", "bind": "loopback"}},
    "an old list with a default": {
        "agents": {
            "list": [
                {"id": "main", "default": True, "workspace": "~/work"},
                {"id": "research", "tools": {"profile": "minimal", "alsoAllow": ["web_search", "web_fetch"]}},
            ]
        },
        "channels": {"telegram": TELEGRAM},
    },
    "an old list whose default is another": {
        "agents": {"list": [{"id": "ops"}, {"id": "home", "default": True}]},
        "channels": {"discord": {"enabled": False}, "signal": {"account": "+15550001"}},
    },
    "agents by entries with their own rules": {
        "agents": {
            "ownership": "explicit",
            "defaults": {"model": {"primary": "local/small"}, "workspace": "~/work"},
            "entries": {
                "main": {"tools": {"profile": "full"}},
                "guest": {
                    "tools": {"allow": ["read"], "deny": ["group:runtime"], "exec": {"mode": "deny"}},
                    "sandbox": {"mode": "all", "workspaceAccess": "ro"},
                },
            },
        },
        "models": MODELS,
    },
    "direct chats": {
        "agents": {"entries": {"main": {}}},
        "channels": {
            "telegram": {
                **TELEGRAM,
                "direct": {
                    "1001": {"tools": {"alsoAllow": ["exec"]}},
                    "*": {"tools": {"deny": ["group:runtime", "write"]}},
                },
                "accounts": {
                    "work": {"botToken": "123:canary-of-work", "direct": {"*": {"tools": {"deny": ["exec"]}}}}
                },
            }
        },
    },
    "a sandbox by default": {
        "agents": {
            "defaults": {"sandbox": {"mode": "non-main", "scope": "agent", "workspaceAccess": "rw"}},
            "entries": {"main": {"sandbox": {"mode": "off"}}, "guest": {}},
            "ownership": "explicit",
        },
        "tools": {"sandbox": {"tools": {"allow": ["exec", "read", "write"], "deny": ["browser"]}}},
        "session": {"mainKey": "main", "dmScope": "per-channel-peer"},
    },
    "servers that speak MCP": {
        "agents": {"entries": {"main": {"tools": {"alsoAllow": ["robot__*", "bundle-mcp"]}}}},
        "mcp": {
            "servers": {
                "robot": {"url": "https://robot.example/mcp", "headers": {"Authorization": "Bearer canary-of-mcp"}},
                "files": {"command": "npx", "args": ["-y", "files-server"], "env": {"TOKEN": "canary-of-env"}},
            }
        },
    },
    "commands by a list, and who is asked": {
        "agents": {"entries": {"main": {}}},
        "tools": {
            "exec": {
                "host": "gateway",
                "mode": "ask",
                "safeBins": ["jq", "wc"],
                "pathPrepend": ["/opt/bin"],
                "strictInlineEval": True,
                "timeoutSeconds": 120,
                "applyPatch": {"workspaceOnly": True},
            },
            "elevated": {"enabled": True, "allowFrom": {"telegram": ["1001"]}},
        },
        "approvals": {"exec": {"enabled": True, "mode": "session"}},
    },
    "security and ask, as once written": {
        "agents": {"list": [{"id": "main", "tools": {"exec": {"security": "allowlist", "ask": "on-miss"}}}]},
        "tools": {"exec": {"security": "deny", "ask": "off"}},
    },
    "rules by provider and by sender": {
        "agents": {"entries": {"main": {}}},
        "tools": {
            "byProvider": {"openai": {"deny": ["exec"]}, "local/small": {"profile": "minimal"}},
            "toolsBySender": {"*": {"deny": ["exec"]}, "id:1001": {"alsoAllow": ["exec"]}},
        },
        "commands": {"ownerAllowFrom": ["telegram:1001", "+15550001"]},
    },
    "guilds, teams and rooms": {
        "agents": {"entries": {"main": {}}},
        "channels": {
            "discord": {
                "token": "canary-of-discord",
                "guilds": {"42": {"channels": {"7": {"tools": {"deny": ["exec"]}}}, "tools": {"allow": ["read"]}}},
            },
            "slack": {
                "mode": "socket",
                "botToken": "xoxb-canary",
                "appToken": "xapp-canary",
                "channels": {"C1": {"tools": {"deny": ["write"]}}},
            },
        },
    },
    "keys of spring 2026": {
        "meta": {"lastTouchedVersion": "2026.3.13", "lastTouchedAt": "2026-03-22T06:38:04Z"},
        "agents": {"defaults": {"memorySearch": {"enabled": True}}, "entries": {"main": {}}},
        "commands": {"ownerDisplay": "raw", "native": "auto"},
        "gateway": {"nodes": {"denyCommands": []}},
        "tools": {"profile": "coding"},
    },
    "keys of winter 2026": {
        "agents": {"list": [{"id": "main"}]},
        "commands": {"useAccessGroups": True},
        "tools": {"exec": {"timeoutSec": 60}, "message": {"allowCrossContextSend": False}},
        "session": {"idleMinutes": 30, "typingMode": "thinking"},
    },
    "sub-agents": {
        "agents": {
            "defaults": {"subagents": {"maxSpawnDepth": 2, "maxConcurrent": 4, "allowAgents": ["main"]}},
            "entries": {"main": {}},
        },
        "tools": {
            "subagents": {"tools": {"deny": ["browser"]}},
            "agentToAgent": {"enabled": False},
            "sessions": {"visibility": "tree"},
        },
    },
    "hooks, cron and plugins": {
        "agents": {"entries": {"main": {}}},
        "hooks": {"enabled": True, "token": "canary-of-hooks", "path": "/hooks"},
        "cron": {"enabled": True},
        "plugins": {"enabled": True},
    },
    "a gateway in a network": {
        "agents": {"entries": {"main": {}}},
        "gateway": {
            "mode": "local",
            "bind": "lan",
            "port": 18789,
            "auth": {"mode": "token", "token": "canary-of-gateway"},
        },
    },
    "tool search and code mode": {
        "agents": {"entries": {"main": {}}},
        "tools": {"toolSearch": True, "codeMode": {"enabled": True}, "web": {"search": {"enabled": True}}},
    },
    "a large family": {
        "agents": {
            "ownership": "explicit",
            "entries": {f"agent-{number}": {"tools": {"deny": ["exec"]}} for number in range(40)},
        },
        "channels": {
            "telegram": {
                "botToken": "123:canary",
                "groups": {f"-{number}": {"tools": {"deny": ["write"]}} for number in range(1, 200)},
            }
        },
    },
}
