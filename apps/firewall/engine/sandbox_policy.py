"""The tool policy of sandboxed sessions, and the restriction that a message transport brings along.

Source: conformance README, `sandbox_policy.jsonl`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import compile_names, expand_groups, fold
from apps.firewall.engine.policy import Policy


@dataclass(frozen=True, slots=True)
class Source:
    """Where a list comes from: `agent`, `global` or `default`, and the member that holds it."""

    level: str
    member: str


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """The lists of sandboxed sessions with all groups expanded, and where each comes from."""

    allow: tuple[str, ...]
    deny: tuple[str, ...]
    allow_source: Source
    deny_source: Source

    @property
    def policy(self) -> Policy:
        """The two lists as the sandbox layer takes them."""
        return Policy(self.allow, self.deny)


def resolve_sandbox_policy(dialect: Dialect, agent: Policy | None, common: Policy | None) -> SandboxPolicy:
    """Merge an agent's `tools.sandbox.tools` with the global block and the defaults: list by list, not mixed."""
    agent, common = agent or Policy(), common or Policy()
    given = _first(agent.allow, common.allow)
    also = (_first(agent.also_allow, common.also_allow) or ()) if dialect.sandbox_also_allow else ()
    base = dialect.sandbox_allow if given is None else given
    allow = expand_groups(dialect, (*base, *also) if base else ())
    deny = _first(agent.deny, common.deny)
    if deny is None:
        deny = _default_deny(dialect, (*(given or ()), *also))
    denied = expand_groups(dialect, deny)
    _add_image_tool(dialect, allow, denied)
    return SandboxPolicy(
        tuple(allow), tuple(denied), _allow_source(dialect, agent, common), _deny_source(agent, common)
    )


def _first(own: tuple[str, ...] | None, common: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return common if own is None else own


def _default_deny(dialect: Dialect, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Take out of the default deny list what somebody asked for by name, group or pattern."""
    if not dialect.sandbox_also_allow:
        return dialect.sandbox_deny
    asked = compile_names(dialect, wanted)
    return tuple(name for name in dialect.sandbox_deny if not asked.matches(name))


def _add_image_tool(dialect: Dialect, allow: list[str], deny: list[str]) -> None:
    """Let a sandboxed session see images although its lists were written before the tool, or under its old name."""
    tool, old_name = dialect.sandbox_image_tool, dialect.sandbox_image_old_name
    if old_name is not None:
        denied = compile_names(dialect, deny)
        if denied.matches(old_name) and not denied.matches(tool):
            deny.append(tool)
    if allow and tool not in allow and tool not in deny:
        allow.append(tool)


def _allow_source(dialect: Dialect, agent: Policy, common: Policy) -> Source:
    for level, block in (("agent", agent), ("global", common)):
        if block.allow is not None:
            return Source(level, "allow")
        if dialect.sandbox_also_allow and block.also_allow is not None:
            return Source(level, "alsoAllow")
    return Source("default", "allow")


def _deny_source(agent: Policy, common: Policy) -> Source:
    for level, block in (("agent", agent), ("global", common)):
        if block.deny is not None:
            return Source(level, "deny")
    return Source("default", "deny")


def left_by_transport(dialect: Dialect, tools: Iterable[str], message_provider: str | None) -> list[str]:
    """Return the tools that a message transport can carry; names are compared exactly."""
    transport = fold(message_provider or "")
    denied = dialect.message_provider_deny.get(transport, ())
    allowed = dialect.message_provider_allow.get(transport)
    return [tool for tool in tools if tool not in denied and (allowed is None or tool in allowed)]
