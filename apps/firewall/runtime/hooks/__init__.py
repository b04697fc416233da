"""ASKS before a call and TELLS after it: rounds of hooks, in the manner of both dialects.

`before_tool_call` lets hooks block a call, rewrite its params or have a person asked; `after_tool_call` tells them what
became of it and changes nothing. `rules` is the table of what the dialects do differently. Knows no plugin, no address
and no store: whoever has hooks hands them in as coroutine functions.
"""

from apps.firewall.runtime.hooks.after import after_tool_call
from apps.firewall.runtime.hooks.answers import ApprovalWish
from apps.firewall.runtime.hooks.before import BeforeOutcome, before_tool_call
from apps.firewall.runtime.hooks.handlers import AfterEvent, BeforeEvent, Hook, HookReport
from apps.firewall.runtime.hooks.rewrites import Rewrite, RewriteLostError, Rewrites, rewrites_between
from apps.firewall.runtime.hooks.rules import HookRules, hook_rules, runtime_rules

__all__ = [
    "AfterEvent",
    "ApprovalWish",
    "BeforeEvent",
    "BeforeOutcome",
    "Hook",
    "HookReport",
    "HookRules",
    "Rewrite",
    "RewriteLostError",
    "Rewrites",
    "after_tool_call",
    "before_tool_call",
    "hook_rules",
    "rewrites_between",
    "runtime_rules",
]
