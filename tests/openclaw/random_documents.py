"""Random policies in the shapes that the release takes: each seed is a document."""

import random
from typing import Any, Final

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.source import ToolEntry

PLUGIN_TOOLS: Final = (
    ("acme_find", "acme"),
    ("acme_send", "acme"),
    ("robot__go", "bundle-mcp"),
    ("robot__stop", "bundle-mcp"),
    ("mcp-x_tool", "mcp-x"),
    ("lobster", "lobster"),
)
TOOLS: Final = (
    *(ToolEntry(each.name) for each in DIALECTS["2026.9"].catalogue),
    *(ToolEntry(name, plugin=plugin) for name, plugin in PLUGIN_TOOLS),
)
_GROUPS: Final = (
    "openclaw", "fs", "runtime", "web", "memory", "sessions", "ui", "messaging", "automation", "nodes", "agents",
    "media", "plugins",
)  # fmt: skip
_ODD: Final = (
    "acme", "bundle-mcp", "*", "web_*", "*_search", "sessions_*", "robot__*", "mcp-*", "nothing", "bash", "apply-patch",
    "cron", "update_plan", "canvas", "image", " exec ", "EXEC", "Group:FS",
)  # fmt: skip
_NAMES: Final = (*(each.name for each in TOOLS), *(f"group:{each}" for each in _GROUPS), *_ODD)
_SENDERS: Final = (
    "*", "id:1001", "id:555", "1001", "@1001", "e164:+15550001", "username:ana", "name:Ana", "channel:telegram:1001",
    "channel:discord:9", " id:555 ", "ID:1001",
)  # fmt: skip
_PROVIDERS: Final = ("openai", "openai/gpt-5", "local", "local/small", " OpenAI ", "openai/")
_PROFILES: Final = ("minimal", "coding", "messaging", "full")
_MODES: Final = ("off", "all", "non-main")


class RandomDocument:
    """Makes one document."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def document(self) -> dict[str, Any]:
        agents = {each: self._agent() for each in self._some("main", "ops", "guest", most=2)}
        defaults: dict[str, Any] = {}
        made: dict[str, Any] = {"agents": {"entries": agents, "defaults": defaults}, "tools": self._tools()}
        if len(agents) > 1:
            made["agents"]["ownership"] = "explicit"
        if self._happens(0.3):
            defaults["sandbox"] = {"mode": self._one(*_MODES)}
        if self._happens(0.3):
            defaults["subagents"] = {"maxSpawnDepth": self._one(1, 2, 3)}
        if self._happens(0.3):
            lists = {name: self._names() for name in self._some("allow", "alsoAllow", "deny", most=2)}
            made["tools"]["subagents"] = {"tools": lists}
        if self._happens(0.8):
            made["channels"] = self._channels()
        if self._happens(0.2):
            made["session"] = {"mainKey": self._one("main", "home")}
        return made

    def _agent(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self._happens(0.6):
            made["tools"] = self._tools()
        if self._happens(0.4):
            made["sandbox"] = {"mode": self._one(*_MODES)}
        return made

    def _tools(self) -> dict[str, Any]:
        made = self._block()
        if self._happens(0.3):
            made["byProvider"] = {key: self._block() for key in self._some(*_PROVIDERS, most=2)}
        if self._happens(0.3):
            made["toolsBySender"] = self._senders()
        if self._happens(0.3):
            made["sandbox"] = {"tools": self._block(has_profile=False)}
        return made

    def _channels(self) -> dict[str, Any]:
        telegram = self._telegram()
        if self._happens(0.4):
            telegram["accounts"] = {each: self._telegram() for each in self._some("default", "work", most=2)}
        made: dict[str, Any] = {"telegram": telegram}
        for name, keys in (("discord", ("7", "*")), ("slack", ("C1", "c1"))):
            if self._happens(0.3):
                made[name] = {"groups": {key: self._group() for key in keys}}
        return made

    def _telegram(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self._happens(0.7):
            made["groups"] = {key: self._group() for key in self._some("-1001", "*", "-7", "-1001:topic:5", most=3)}
        if self._happens(0.6):
            made["direct"] = {key: self._group() for key in self._some("1001", "*", "555", most=2)}
        return made

    def _group(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self._happens(0.6):
            made["tools"] = self._block(has_profile=False)
        if self._happens(0.4):
            made["toolsBySender"] = self._senders()
        return made

    def _senders(self) -> dict[str, Any]:
        return {key: self._block(has_profile=False) for key in self._some(*_SENDERS, most=3)}

    def _block(self, *, has_profile: bool = True) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self._happens(0.35):
            made["allow"] = self._names()
        if self._happens(0.45):
            made["deny"] = self._names()
        if not made.get("allow") and self._happens(0.3):
            made["alsoAllow"] = self._names()
        if has_profile and self._happens(0.3):
            made["profile"] = self._one(*_PROFILES)
        return made

    def _names(self) -> list[str]:
        return [self._one(*_NAMES) for _ in range(self._one(0, 1, 1, 2, 3, 5))]

    def _one(self, *choices: Any) -> Any:
        return self._random.choice(choices)

    def _some(self, *choices: str, most: int) -> list[str]:
        return self._random.sample(choices, self._random.randint(1, most))

    def _happens(self, chance: float) -> bool:
        return self._random.random() < chance
