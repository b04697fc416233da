"""Reference tables of OpenClaw 2026.9: its own tools, their groups and profiles, and the lists built on them.

Values only; what they mean stands in `dialect`, which reads them.
Source: conformance README, dump rows of `profiles` and `group_policy_channels`.
"""

from typing import Final

# id, section, profiles with a blank between, member of group:openclaw
TOOLS: Final[tuple[tuple[str, str, str, bool], ...]] = (
    ("ls", "fs", "coding", False),
    ("read", "fs", "coding", False),
    ("write", "fs", "coding", False),
    ("edit", "fs", "coding", False),
    ("apply_patch", "fs", "coding", False),
    ("exec", "runtime", "coding", False),
    ("process", "runtime", "coding", False),
    ("code_execution", "runtime", "coding", True),
    ("secrets", "runtime", "coding messaging", True),
    ("web_search", "web", "coding", True),
    ("web_fetch", "web", "coding", True),
    ("x_search", "web", "coding", True),
    ("memory_search", "memory", "coding", True),
    ("memory_get", "memory", "coding", True),
    ("sessions", "sessions", "coding messaging", True),
    ("sessions_list", "sessions", "coding messaging", True),
    ("sessions_history", "sessions", "coding messaging", True),
    ("sessions_search", "sessions", "coding messaging", True),
    ("conversations_list", "sessions", "coding messaging", True),
    ("conversations_send", "sessions", "coding messaging", True),
    ("conversations_turn", "sessions", "coding messaging", True),
    ("sessions_send", "sessions", "coding messaging", True),
    ("sessions_spawn", "sessions", "coding messaging", True),
    ("github_identity_status", "sessions", "coding", True),
    ("github_publish", "sessions", "coding", True),
    ("agents_wait", "sessions", "coding", True),
    ("sessions_yield", "sessions", "coding messaging", True),
    ("subagents", "sessions", "coding messaging", True),
    ("session_status", "sessions", "minimal coding messaging", True),
    ("suggest_task", "sessions", "coding", True),
    ("dismiss_task", "sessions", "coding", True),
    ("browser", "ui", "", True),
    ("screen", "ui", "coding", True),
    ("theme", "ui", "coding messaging", True),
    ("dashboard", "ui", "coding", True),
    ("terminal", "ui", "coding", True),
    ("portal", "ui", "coding", True),
    ("canvas", "ui", "", False),
    ("show_widget", "ui", "", True),
    ("message", "messaging", "messaging", True),
    ("heartbeat_respond", "automation", "", True),
    ("automations", "automation", "coding", True),
    ("gateway", "automation", "minimal coding messaging", True),
    ("plugins", "automation", "coding", True),
    ("openclaw", "automation", "", True),
    ("nodes", "nodes", "", True),
    ("computer", "nodes", "", True),
    ("mobile_ui", "nodes", "", True),
    ("agents_list", "agents", "", True),
    ("get_goal", "agents", "coding", True),
    ("create_goal", "agents", "coding", True),
    ("update_goal", "agents", "coding", True),
    ("progress_card", "agents", "coding", True),
    ("ask_user", "agents", "coding messaging", True),
    ("skill_workshop", "agents", "coding", True),
    ("view_image", "media", "coding", True),
    ("image_generate", "media", "coding", True),
    ("music_generate", "media", "coding", True),
    ("video_generate", "media", "coding", True),
    ("tts", "media", "", True),
    ("pdf", "media", "", True),
)

ALIASES: Final[dict[str, str]] = {"bash": "exec", "apply-patch": "apply_patch", "cron": "automations"}
RENAMES: Final[dict[str, str]] = {"update_plan": "progress_card"}
FAMILIES: Final[dict[str, tuple[str, ...]]] = {"canvas": ("show_widget",)}

# lists of names, a blank between
OWNER_ONLY: Final = (
    "automations gateway plugins sessions screen terminal portal conversations_list conversations_send "
    "conversations_turn nodes computer mobile_ui openclaw"
)
SUBAGENT_DENY_ALWAYS: Final = (
    "gateway agents_list openclaw session_status progress_card automations message sessions_send "
    "conversations_list conversations_send conversations_turn"
)
SUBAGENT_DENY_LEAF: Final = "subagents sessions_list sessions_history sessions_search sessions_spawn"
SANDBOX_DEFAULT_ALLOW: Final = (
    "exec process read ls write edit apply_patch view_image sessions_list sessions_history "
    "sessions_search sessions_send sessions_spawn sessions_yield subagents session_status"
)
SANDBOX_DEFAULT_DENY: Final = (
    "browser canvas computer mobile_ui nodes automations gateway feishu googlechat nostr buzz msteams "
    "mattermost nextcloud-talk matrix raft a2a line zalo clickclack zalouser sms synology-chat tlon "
    "discord imessage irc reef signal slack telegram twitch whatsapp"
)
GATEWAY_HTTP_DEFAULT_DENY: Final = (
    "exec spawn shell fs_write fs_delete fs_move apply_patch terminal portal sessions_spawn sessions_send "
    "conversations_list conversations_send conversations_turn automations gateway plugins nodes computer "
    "mobile_ui openclaw"
)

# profiles in order, with what each allows beside its tools; an empty one without tools restricts nothing
PROFILES: Final[dict[str, tuple[str, ...]]] = {
    "minimal": (),
    "coding": ("bundle-mcp",),
    "messaging": ("bundle-mcp",),
    "full": ("*",),
}

MESSAGE_PROVIDER_DENY: Final[dict[str, tuple[str, ...]]] = {"discord-voice": ("tts",), "voice": ("tts",)}
MESSAGE_PROVIDER_ALLOW: Final[dict[str, tuple[str, ...]]] = {
    "node": ("canvas", "pdf", "tts", "view_image", "web_fetch", "web_search")
}

CHANNEL_ALIASES: Final[dict[str, str]] = {
    "lark": "feishu",
    "gchat": "googlechat",
    "google-chat": "googlechat",
    "teams": "msteams",
    "nc": "nextcloud-talk",
    "nc-talk": "nextcloud-talk",
    "zl": "zalo",
    "zlu": "zalouser",
    "imsg": "imessage",
    "internet-relay-chat": "irc",
    "twitch-chat": "twitch",
}
# where the release keeps the resolver of a channel whose groups nest in their own way
RESOLVER_LOCATION: Final[dict[str, str]] = {
    "telegram": "bundled_plugin",
    "whatsapp": "external_plugin",
    "discord": "external_plugin",
    "irc": "external_plugin",
    "googlechat": "external_plugin",
    "slack": "external_plugin",
    "imessage": "external_plugin",
    "msteams": "external_plugin",
    "matrix": "external_plugin",
    "feishu": "external_plugin",
    "nextcloud-talk": "external_plugin",
    "zalouser": "external_plugin",
    "bluebubbles": "no_such_channel",
    "line": "external_plugin",
    "mattermost": "external_plugin",
    "signal": "external_plugin",
}

# before a colon in front of an identity: where it belongs, not who it is
SENDER_PREFIXES: Final = (
    "feishu googlechat nostr buzz msteams mattermost nextcloud-talk matrix raft a2a line zalo clickclack "
    "zalouser sms synology-chat tlon discord imessage irc reef signal slack telegram twitch whatsapp "
    "webchat user group channel"
)
