"""What a round of hooks does differently from release to release, and what our own runtime insists on.

Source: conformance README, `hooks.jsonl` and its dump rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from apps.firewall.engine.dialect import Dialect, dialect_named


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRules:
    """The manner of one release. Times are milliseconds for one handler; None is no limit."""

    before_limit_ms: int | None
    after_limit_ms: int | None
    failure_blocks: bool  # a before-hook that fails blocks the call; else it is passed over
    first_block_ends: bool  # nobody is asked after a block, and nobody can lift it
    only_true_blocks: bool  # else whatever JavaScript takes for true blocks
    own_copy: bool  # each handler gets params of its own; else all share one object, which becomes the call's
    asks_people: bool  # a before-hook may have a person asked
    wrong_answer_fails: bool  # an answer of another shape is a failure; else its wrong parts count for nothing


APPROVAL_DEFAULT_MS: Final = 120_000
APPROVAL_MAXIMUM_MS: Final = 600_000

_BEFORE_LIMIT_MS: Final = 15_000
_AFTER_LIMIT_MS: Final = 30_000

_RULES: Final[Mapping[str, HookRules]] = MappingProxyType(
    {
        "2026.9": HookRules(
            before_limit_ms=_BEFORE_LIMIT_MS,
            after_limit_ms=None,
            failure_blocks=True,
            first_block_ends=True,
            only_true_blocks=True,
            own_copy=True,
            asks_people=True,
            wrong_answer_fails=False,
        ),
        "2026.2": HookRules(
            before_limit_ms=None,
            after_limit_ms=None,
            failure_blocks=False,
            first_block_ends=False,
            only_true_blocks=False,
            own_copy=False,
            asks_people=False,
            wrong_answer_fails=False,
        ),
    }
)


def runtime_rules(release: str, *, is_strict: bool) -> HookRules:
    """Return the manner in which our own runtime asks hooks.

    Args:
        is_strict: False takes 2026.2 as recorded, where a hook that fails is passed over; the newer release is always
            taken strictly.
    """
    return hook_rules(dialect_named(release), strict=is_strict or release != "2026.2")


def hook_rules(dialect: Dialect, *, strict: bool = True) -> HookRules:
    """Return the manner of a release.

    Args:
        strict: on top of it, what our own runtime insists on: nothing waits for ever, nothing that went wrong lets a
            call pass, and no handler touches what another one or the tool gets. Off, it is the release as recorded.
    """
    rules = _RULES[dialect.release]
    if not strict:
        return rules
    return replace(
        rules,
        before_limit_ms=_BEFORE_LIMIT_MS,
        after_limit_ms=_AFTER_LIMIT_MS,
        failure_blocks=True,
        own_copy=True,
        asks_people=True,
        wrong_answer_fails=True,
    )
