"""The contexts in which the real package and the engine are asked for their verdicts, in the words of both."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.inheritance import spawn_record, with_spawn_record
from apps.firewall.engine.session_key import store_key
from apps.firewall.engine.snapshot import Snapshot
from tests.openclaw.installing import NODE, openclaw

SCRIPT: Final = Path(__file__).with_name("verdicts.mjs")
AGENTS_MOST: Final = 3
MODELS: Final = ((None, None), ("openai", "gpt-5"), ("local", "small"))


@dataclass(frozen=True)
class Asked:
    """A situation: what a caller says of it here, and what the package is told beside the same facts.

    Args:
        direct: of a direct chat, what the channel's plugin knows: `peer` and `account`.
        parent: the situation in which another session spawned this one.
    """

    name: str
    context: CallContext
    direct: dict[str, str] | None = None
    parent: "Asked | None" = None

    def to_package(self) -> dict[str, Any]:
        """Write it in the package's words."""
        context = self.context
        facts = {
            "sessionKey": context.session_key,
            "agentId": context.agent_id,
            "messageProvider": context.channel,
            "agentAccountId": context.account_id,
            "senderId": context.sender_id,
            "senderUsername": context.sender_username,
            "senderE164": context.sender_e164,
            "senderIsOwner": context.sender_is_owner,
            "modelProvider": context.provider,
            "modelId": context.model_id,
            "sandbox": context.sandboxed,
            "direct": self.direct,
            "parent": None if self.parent is None else self.parent.to_package(),
        }
        return {name: fact for name, fact in facts.items() if fact is not None}

    def context_in(self, snapshot: Snapshot) -> CallContext:
        """Give the context in which the engine is asked; a child has the record that its spawn would make."""
        if self.parent is None:
            return self.context
        key = store_key(snapshot.engine.dialect, self.parent.context.session_key, agent_id=self.context.agent_id or "")
        record = spawn_record(snapshot, self.parent.context_in(snapshot), key, is_witnessed=True)
        return with_spawn_record(self.context, record)


def situations(agent: str) -> Iterator[Asked]:
    """Give every kind of session of an agent, with owners and strangers, each with no model and with two."""
    plain = list(_kinds(agent))
    yield from plain
    for each in plain[:6]:
        for provider, model in MODELS[1:]:
            context = replace(each.context, provider=provider, model_id=model)
            yield replace(each, name=f"{each.name}, {provider}/{model}", context=context)


def _kinds(agent: str) -> Iterator[Asked]:
    def of(key: str, **said: Any) -> CallContext:
        return CallContext(agent_id=agent, session_key=f"agent:{agent}:{key}", **said)

    stranger: dict[str, Any] = {"channel": "telegram", "sender_id": "555", "sender_is_owner": False}
    owner: dict[str, Any] = {"channel": "telegram", "sender_id": "1001", "sender_is_owner": True}
    listed = Asked("a group by the owner", of("telegram:group:-1001", **owner))
    foreign = Asked("a group by a stranger", of("telegram:group:-1001", **stranger))
    main = Asked("main", of("main"))
    yield main
    yield listed
    yield foreign
    yield Asked("another group", of("telegram:group:-7", **stranger))
    yield Asked("web chat of the owner", of("main", channel="webchat", sender_is_owner=True))
    webchat: dict[str, Any] = {"channel": "webchat", "sender_id": "1001", "sender_is_owner": True}
    yield Asked("a group by the owner on web chat", of("telegram:group:-1001", **webchat))
    yield Asked("speech in a group", of("telegram:group:-1001", **{**owner, "channel": "voice"}))
    yield Asked("a node in a group", of("telegram:group:-1001", **{**owner, "channel": "Node"}))
    elsewhere = {**stranger, "channel": "discord", "sender_id": "1001"}
    yield Asked("a group, and another channel named", of("telegram:group:-1001", **elsewhere))
    yield Asked("sandboxed", of("main", sandboxed=True))
    yield Asked("a group in a sandbox", of("telegram:group:-1001", sandboxed=True, **stranger))
    yield Asked("a topic", of("telegram:group:-1001:topic:5", **stranger))
    yield Asked("a nested thread", of("telegram:group:-1001:thread:a:thread:b", **stranger))
    yield Asked("a channel", of("discord:channel:7", channel="discord", sender_id="9", sender_is_owner=False))
    yield Asked(
        "a thread of a channel", of("slack:channel:C1:thread:9", channel="slack", sender_id="U1", sender_is_owner=False)
    )
    for account in ("default", "work"):
        for who, said in (("the owner", owner), ("a stranger", stranger)):
            peer = {"peer": said["sender_id"], "account": account}
            key = f"telegram:{account}:direct:{said['sender_id']}"
            yield Asked(f"a direct chat of {who} ({account})", of(key, account_id=account, **said), direct=peer)
    yield Asked("cron", of("cron:job:run:r1"))
    yield Asked("a hook", of("hook:mail:1"))
    yield Asked("speech", of("main", channel="voice"))
    yield Asked("a node", of("main", channel="node"))
    yield Asked("a sub-agent nobody is known to have spawned", of("subagent:a"))
    for kind in ("subagent", "acp", "dashboard"):
        yield Asked(f"{kind} of main", of(f"{kind}:c"), parent=main)
        yield Asked(f"{kind} of a group by the owner", of(f"{kind}:c"), parent=listed)
        yield Asked(f"{kind} of a group by a stranger", of(f"{kind}:c"), parent=foreign)
    yield Asked("a sub-agent in which somebody speaks", of("subagent:c", **stranger), parent=listed)
    yield Asked("a sub-agent in a sandbox", of("subagent:c", sandboxed=True), parent=foreign)


@dataclass
class RealVerdicts:
    """The real package, asked in one process."""

    folder: Path
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        dist = openclaw().parent / "dist"
        environment = {
            "PATH": f"{NODE.parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "OPENCLAW_STATE_DIR": str(self.folder),
            "LANG": "C.UTF-8",
            "DO_NOT_TRACK": "1",
        }
        self.process = subprocess.Popen(
            [str(NODE), str(SCRIPT), str(dist)], env=environment, cwd=self.folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def of(self, document: dict[str, Any], snapshot: Snapshot, asked: list[Asked]) -> list[Any]:
        """Ask for the tools that are left in each situation, out of those that the snapshot has."""
        entries = [snapshot.tool(name) for name in snapshot.tool_names]
        tools = [{"name": each.name, "pluginId": each.plugin} for each in entries if each is not None]
        return self._asked({"config": document, "tools": tools, "contexts": [each.to_package() for each in asked]})

    def names(self, server: str, listed: list[str]) -> list[Any]:
        """Ask how the tools are named that a server of MCP lists."""
        return self._asked({"server": server, "listed": listed})

    def _asked(self, question: dict[str, Any]) -> list[Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the package ended before it answered"
        found: list[Any] = json.loads(answer)
        return found

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def differences(document: dict[str, Any], snapshot: Snapshot, asked: list[Asked], real: RealVerdicts) -> list[str]:
    """Name each situation in which the two do not leave the same tools, with what only one of them leaves.

    A session without any tool can spawn none. The package would hold the child of one to nothing; here it has nothing.
    """
    found = []
    for each, theirs in zip(asked, real.of(document, snapshot, asked), strict=True):
        ours = set(allowed_tools(snapshot, each.context_in(snapshot)))
        if isinstance(theirs, dict):
            found.append(f"{each.context.agent_id}, {each.name}: the package says {theirs}")
        elif each.parent is not None and not allowed_tools(snapshot, each.parent.context_in(snapshot)):
            found += [f"{each.context.agent_id}, {each.name}: {sorted(ours)}"] if ours - set(theirs) else []
        elif ours != set(theirs):
            more, less = sorted(ours - set(theirs)), sorted(set(theirs) - ours)
            found.append(f"{each.context.agent_id}, {each.name}: only here {more}, only there {less}")
    return found
