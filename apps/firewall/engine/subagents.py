"""What sub-agents may not use, by how deep they are.

Source: conformance README, `subagent.jsonl`.
"""

import math

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import normalize_name
from apps.firewall.engine.policy import Policy

LEAF_ROLE = "leaf"


def max_spawn_depth(dialect: Dialect, configured: object) -> int:
    """Return the depth from which a sub-agent is a leaf: the whole part of what is configured, at least 1."""
    if isinstance(configured, bool) or not isinstance(configured, int | float) or not math.isfinite(configured):
        return dialect.max_spawn_depth
    return max(1, math.floor(configured))


def is_leaf(dialect: Dialect, depth: int, configured: object = None) -> bool:
    """Say whether a sub-agent this deep may start none of its own.

    Args:
        configured: `maxSpawnDepth`, None for the release's default.
    """
    return depth >= max_spawn_depth(dialect, configured)


def role_deny(dialect: Dialect, role: str) -> tuple[str, ...]:
    """Return the built-in deny list of a role: `leaf`, or any other."""
    leaf = dialect.subagent_deny_leaf if role == LEAF_ROLE else ()
    return (*dialect.subagent_deny_always, *leaf)


def subagent_policy(dialect: Dialect, configured: Policy | None, *, leaf: bool) -> Policy:
    """Return the policy of a sub-agent.

    Args:
        configured: the block `tools.subagents.tools`; its `also_allow` counts only beside an `allow`.
    """
    block = configured or Policy()
    named = (*(block.allow or ()), *(block.also_allow or ()))
    lifted = {normalize_name(dialect, name) for name in named} if dialect.subagent_allow_lifts_deny else set()
    built_in = [
        name for name in role_deny(dialect, LEAF_ROLE if leaf else "") if normalize_name(dialect, name) not in lifted
    ]
    allow = block.allow
    if allow is not None and block.also_allow is not None:
        allow = tuple(dict.fromkeys((*allow, *block.also_allow)))
    return Policy(allow, (*built_in, *(block.deny or ())))
