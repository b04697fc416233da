"""The round before a call: hooks are asked one after the other, and their answers become one.

Source: conformance README, `hooks.jsonl`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from apps.firewall.runtime.hooks.answers import Answer, ApprovalWish, is_true, read_answer
from apps.firewall.runtime.hooks.handlers import BeforeEvent, Hook, HookFailedError, HookReport, ask, in_order, since_ms
from apps.firewall.runtime.hooks.json_copy import NotJsonError, json_copy
from apps.firewall.runtime.hooks.rewrites import Rewrite, rewrites_between
from apps.firewall.runtime.hooks.rules import HookRules

_REASON_LIMIT: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeOutcome:
    """What a round decided.

    Args:
        kind: of a block: `veto` when a hook wanted it, `failure` when one could not be asked; empty when not blocked.
        by: the plugin whose hook that was.
        reason: why it is blocked; a hook's own words where it gave any.
        params: for the tool; None when blocked.
        rewrites: how these differ from the event's, not masked.
        wish: a person must be asked about exactly these params first.
        reports: what each hook did, as they were asked.
    """

    blocked: bool
    kind: Literal["", "veto", "failure"] = ""
    by: str = ""
    reason: str = ""
    params: Any = None
    rewrites: tuple[Rewrite, ...] = ()
    wish: ApprovalWish | None = None
    reports: tuple[HookReport, ...] = ()


@dataclass(slots=True)
class _Round:
    """What the answers amount to so far."""

    rules: HookRules
    event: BeforeEvent
    shared: Any
    block: Any = None
    blocked_by: str = ""
    reason: Any = None
    params: Any = None
    wish: ApprovalWish | None = None
    failure: str = ""
    reports: list[HookReport] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return bool(self.failure) or (self.rules.first_block_ends and self.block is True)

    @property
    def is_blocked(self) -> bool:
        return self.blocks(self.block)

    def blocks(self, block: Any) -> bool:
        return block is True if self.rules.only_true_blocks else is_true(block)

    def shown(self) -> BeforeEvent:
        """Give the event as the next handler sees it."""
        if not self.rules.own_copy:
            return replace(self.event, params=self.shared)
        return replace(self.event, params=json_copy(self.shared), facts=json_copy(dict(self.event.facts)))

    def add(self, answer: Answer, plugin: str) -> Literal["passed", "rewrote", "asked", "blocked"]:
        """Lay one more answer over those before, and say what it did."""
        is_block, is_settled = self.blocks(answer.block), self.wish is not None
        if is_block:
            self.blocked_by = plugin
        if answer.block is True or not self.rules.only_true_blocks:
            self.block = self.block if answer.block is None else answer.block
        if answer.reason is not None:
            self.reason = answer.reason
        if not is_settled:  # once a person is asked about params, nobody changes them any more
            self.params = self.params if answer.params is None else answer.params
            self.wish = answer.wish
        if is_block:
            return "blocked"
        if is_settled:
            return "passed"
        if answer.wish is not None:
            return "asked"
        return "rewrote" if isinstance(answer.params, dict) else "passed"


async def before_tool_call(hooks: Sequence[Hook], event: BeforeEvent, rules: HookRules) -> BeforeOutcome:
    """Ask hooks about a call.

    Every handler sees the event's own params, never those that another returned. The last returned object of params
    is laid over the event's; the event itself is never changed.

    Raises:
        NotJsonError: the event's params are no JSON; nobody was asked.
    """
    shown = event.params if isinstance(event.params, dict) else {}
    state = _Round(rules=rules, event=event, shared=json_copy(shown))
    for hook in in_order(hooks):
        await _ask_one(state, hook)
        if state.is_over:
            break
    return _outcome(state)


async def _ask_one(state: _Round, hook: Hook) -> None:
    started = time.monotonic()
    try:
        given = await ask(hook, state.shown(), limit_ms=state.rules.before_limit_ms)
        answer = read_answer(given, plugin=hook.plugin, rules=state.rules)
    except HookFailedError as exc:
        report = HookReport.of_failure(hook, exc, started=started)
        if state.rules.failure_blocks:
            state.failure = f"the hook of `{hook.plugin}` failed: {exc.message}"
            state.blocked_by = hook.plugin
    else:
        status = state.add(answer, hook.plugin)
        report = HookReport(plugin=hook.plugin, hook=hook.name, status=status, duration_ms=since_ms(started))
    state.reports.append(report)


def _outcome(state: _Round) -> BeforeOutcome:
    reports = tuple(state.reports)
    if state.failure:
        return BeforeOutcome(blocked=True, kind="failure", by=state.blocked_by, reason=state.failure, reports=reports)
    if state.is_blocked:
        said = state.reason if isinstance(state.reason, str) else ""
        reason = said[:_REASON_LIMIT] or f"the hook of `{state.blocked_by}` does not allow this call"
        return BeforeOutcome(blocked=True, kind="veto", by=state.blocked_by, reason=reason, reports=reports)
    try:
        params = _params(state)
    except NotJsonError as exc:
        reason = f"a hook made the params unusable: {exc.message}"
        return BeforeOutcome(blocked=True, kind="failure", reason=reason, reports=reports)
    rewrites = rewrites_between(state.event.params, params)
    return BeforeOutcome(blocked=False, params=params, rewrites=rewrites, wish=state.wish, reports=reports)


def _params(state: _Round) -> Any:
    """Lay what was returned over the originals; where handlers share these, with what they wrote into them."""
    given = state.event.params
    base = given if state.rules.own_copy or not isinstance(given, dict) else json_copy(state.shared)
    if not isinstance(state.params, dict):
        return base
    return {**base, **state.params} if isinstance(base, dict) else state.params
