"""One policy: what a block of a configuration says, and which tools it permits.

Source: conformance README, "Block to policy" and `tool_names.jsonl`, kind `match`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import NameMatcher, compile_names, normalize_name
from apps.firewall.errors import FirewallError

APPLY_PATCH: Final = "apply_patch"


class PolicyShapeError(FirewallError):
    """A list of names holds something that is not a name; guessing would open what somebody meant to close."""

    code = "policy_shape"


@dataclass(frozen=True, slots=True)
class Policy:
    """A block with lists of tools; None = the member is absent, which an empty list is not."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None
    also_allow: tuple[str, ...] | None = None
    profile: str | None = None

    def merged(self) -> "Policy | None":
        """Return the block as a layer sees it: `also_allow` folded into `allow`, no profile; None = no layer."""
        allow = merge_allow(self.allow, self.also_allow)
        if allow is None and self.deny is None:
            return None
        return Policy(allow, self.deny)


def merge_allow(allow: tuple[str, ...] | None, also_allow: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Fold further names into an allow list; beside no or an empty list they mean "everything, and these"."""
    if not also_allow:
        return allow
    return tuple(dict.fromkeys((*(allow or ("*",)), *also_allow)))


def add_also_allow(policy: Policy | None, also_allow: tuple[str, ...] | None) -> Policy | None:
    """Add names to a profile's allow list; a profile without a list restricts nothing and stays so."""
    if policy is None or policy.allow is None or not also_allow:
        return policy
    return Policy(tuple(dict.fromkeys((*policy.allow, *also_allow))), policy.deny)


def profile_policy(dialect: Dialect, profile: str | None) -> Policy | None:
    """Return the policy of a built-in profile, by its exact name; None when it is unknown or restricts nothing."""
    known = dialect.profiles.get(profile) if profile else None
    if known is None or (known.allow is None and known.deny is None):
        return None
    return Policy(known.allow, known.deny)


def read_policy(block: object) -> Policy | None:
    """Read a JSON block of tool lists; anything but an object is no block, anything but a list is no list.

    Raises:
        PolicyShapeError: a list holds something other than strings.
    """
    if not isinstance(block, Mapping):
        return None
    profile = block.get("profile")
    return Policy(
        allow=read_names(block, "allow"),
        deny=read_names(block, "deny"),
        also_allow=read_names(block, "alsoAllow"),
        profile=profile if isinstance(profile, str) else None,
    )


def read_names(block: Mapping[str, Any], member: str) -> tuple[str, ...] | None:
    """Read one list of names; None when the member is no list.

    Raises:
        PolicyShapeError: the list holds something other than strings.
    """
    value = block.get(member)
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    for position, name in enumerate(value):
        if not isinstance(name, str):
            raise PolicyShapeError(f"`{member}[{position}]` is not a string")
    return tuple(value)


@dataclass(frozen=True, slots=True)
class PolicyMatcher:
    """A policy ready to be asked: deny wins, an allow list without names restricts nothing."""

    allow: NameMatcher
    deny: NameMatcher
    companion: str  # whoever may use this tool may use apply_patch

    def permits(self, normal: str) -> bool:
        """Say whether a tool, by its normal name, passes."""
        return not self.deny.matches(normal) and self.admits(normal)

    def admits(self, normal: str) -> bool:
        """Say whether the allow list by itself lets a tool pass."""
        if not self.allow.entries or self.allow.matches(normal):
            return True
        return normal == APPLY_PATCH and self.allow.matches(self.companion)


def compile_policy(dialect: Dialect, policy: Policy) -> PolicyMatcher:
    """Prepare the lists `allow` and `deny` of a policy; `also_allow` must be merged before."""
    return PolicyMatcher(
        allow=compile_names(dialect, policy.allow or ()),
        deny=compile_names(dialect, policy.deny or ()),
        companion=dialect.apply_patch_companion,
    )


def permits(dialect: Dialect, policy: Policy | None, tool: str) -> bool:
    """Say whether one policy by itself permits a tool; no policy permits everything."""
    return policy is None or compile_policy(dialect, policy).permits(normalize_name(dialect, tool))
