"""Reference tables of OpenClaw 2026.2: its own tools, their groups and profiles, and the lists built on them.

Values only; what they mean stands in `dialect`, which reads them.
Source: conformance README, dump rows of `profiles` and `group_policy_channels`.
"""

from typing import Final

# id, section, profiles with a blank between, member of group:openclaw
TOOLS: Final[tuple[tuple[str, str, str, bool], ...]] = (
    ("read", "fs", "coding", False),
    ("write", "fs", "coding", False),
    ("edit", "fs", "coding", False),
    ("apply_patch", "fs", "coding", False),
    ("exec", "runtime", "coding", False),
    ("process", "runtime", "coding", False),
    ("web_search", "web", "", True),
    ("web_fetch", "web", "", True),
    ("memory_search", "memory", "coding", True),
    ("memory_get", "memory", "coding", True),
    ("sessions_list", "sessions", "coding messaging", True),
    ("sessions_history", "sessions", "coding messaging", True),
    ("sessions_send", "sessions", "coding messaging", True),
    ("sessions_spawn", "sessions", "coding", True),
    ("subagents", "sessions", "coding", True),
    ("session_status", "sessions", "minimal coding messaging", True),
    ("browser", "ui", "", True),
    ("canvas", "ui", "", True),
    ("message", "messaging", "messaging", True),
    ("cron", "automation", "coding", True),
    ("gateway", "automation", "", True),
    ("nodes", "nodes", "", True),
    ("agents_list", "agents", "", True),
    ("image", "media", "coding", True),
    ("tts", "media", "", True),
)

ALIASES: Final[dict[str, str]] = {"bash": "exec", "apply-patch": "apply_patch"}
RENAMES: Final[dict[str, str]] = {}
FAMILIES: Final[dict[str, tuple[str, ...]]] = {}

# lists of names, a blank between
OWNER_ONLY: Final = "whatsapp_login cron gateway"
SUBAGENT_DENY_ALWAYS: Final = (
    "gateway agents_list whatsapp_login session_status cron memory_search memory_get sessions_send"
)
SUBAGENT_DENY_LEAF: Final = "sessions_list sessions_history sessions_spawn"
SANDBOX_DEFAULT_ALLOW: Final = (
    "exec process read write edit apply_patch image sessions_list sessions_history sessions_send "
    "sessions_spawn subagents session_status"
)
SANDBOX_DEFAULT_DENY: Final = (
    "browser canvas nodes cron gateway telegram whatsapp discord irc googlechat slack signal imessage"
)
GATEWAY_HTTP_DEFAULT_DENY: Final = ""

# profiles in order, with what each allows beside its tools; an empty one without tools restricts nothing
PROFILES: Final[dict[str, tuple[str, ...]]] = {"minimal": (), "coding": (), "messaging": (), "full": ()}

MESSAGE_PROVIDER_DENY: Final[dict[str, tuple[str, ...]]] = {"voice": ("tts",)}
MESSAGE_PROVIDER_ALLOW: Final[dict[str, tuple[str, ...]]] = {}

CHANNEL_ALIASES: Final[dict[str, str]] = {
    "imsg": "imessage",
    "internet-relay-chat": "irc",
    "google-chat": "googlechat",
    "gchat": "googlechat",
}
# where the release keeps the resolver of a channel whose groups nest in their own way
RESOLVER_LOCATION: Final[dict[str, str]] = {
    "telegram": "core",
    "whatsapp": "core",
    "discord": "core",
    "irc": "core",
    "googlechat": "core",
    "slack": "core",
    "imessage": "core",
    "msteams": "bundled_plugin",
    "matrix": "bundled_plugin",
    "feishu": "bundled_plugin",
    "nextcloud-talk": "bundled_plugin",
    "zalouser": "bundled_plugin",
    "bluebubbles": "bundled_plugin",
    "line": "plain_groups",
    "mattermost": "plain_groups",
    "signal": "plain_groups",
}

# before a colon in front of an identity: where it belongs, not who it is
SENDER_PREFIXES: Final = "telegram whatsapp discord irc googlechat slack signal imessage webchat user group channel"
