"""What concerns a whole agent, or the draft as a whole."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.names import fold
from apps.firewall.engine.policy import Policy, profile_policy
from apps.firewall.engine.sandbox_policy import resolve_sandbox_policy
from apps.firewall.engine.warn import MCP_PLUGIN
from apps.policies.document.findings import show_path
from apps.policies.document.shapes import suggestion
from apps.policies.document.unread import unread_keys_of
from apps.policies.lint.draft import Draft
from apps.policies.lint.findings import LintFinding
from apps.policies.lint.reach import Remark
from apps.policies.profiles import known_profiles

SANDBOX_OFF = "off"


def draft_remarks(draft: Draft) -> Iterator[Remark]:
    """Find what keeps the draft from being published, sandboxes that hide MCP tools, and optional tools held back."""
    has_agents = bool(draft.records("agent"))
    if draft.policy is None:
        yield None, "no_draft", "error", _("the environment has no policy yet: import one, or start an empty one")
        if not has_agents:
            yield None, "no_agent", "error", _("there is no agent whose calls could be decided")
    elif not has_agents:
        message = _("no agent is listed: calls are decided for `main`, which has no rules of its own, as in OpenClaw")
        yield draft.policy, "implicit_agent", "info", message
    yield from _profiles(draft)
    yield from _sandboxes(draft)
    yield from _optional_tools(draft)


def unread_findings(draft: Draft) -> Iterator[LintFinding]:
    """Find what the draft keeps of `openclaw.json` that its release does not read."""
    for kind in ("global", "agent", "exec", "channel", "account", "group"):
        for record in draft.records(kind):
            place = () if kind == "global" else draft.places.of(record)
            for unread in unread_keys_of(record.extra, draft.dialect, place) if record.extra else ():
                path, entry = show_path(unread.path), str(unread.path[-1])
                yield LintFinding(unread.code, "warning", path, record.pk, kind, entry, unread.message)


def _profiles(draft: Draft) -> Iterator[Remark]:
    known = known_profiles(draft.environment)
    for kind in ("global", "agent", "provider"):
        for record in draft.records(kind):
            if record.profile and record.profile not in known:
                close = suggestion(record.profile, known)
                hint = _(", did you mean `%(close)s`?") % {"close": close} if close else ""
                yield (
                    record,
                    "unknown_profile",
                    "error",
                    _("`%(profile)s` is no profile%(hint)s") % {"profile": record.profile, "hint": hint},
                )


def _sandboxes(draft: Draft) -> Iterator[Remark]:
    universe = draft.candidates.universe
    mcp = universe.mask_of_names(
        name
        for name, plugin in zip(universe.normals, universe.plugins, strict=True)
        if plugin == MCP_PLUGIN or "__" in name
    )
    if not mcp or draft.policy is None:
        return
    common = _sandbox(draft.policy)
    defaults = _mode(draft.policy.extra, "agents", "defaults", "sandbox")
    for agent in draft.records("agent"):
        mode = _mode(agent.extra, "sandbox") or defaults or SANDBOX_OFF
        if mode == SANDBOX_OFF:
            continue
        policy = resolve_sandbox_policy(draft.dialect, _sandbox(agent), common)
        passed = draft.candidates.rules(policy.policy, examined=False).mask
        hidden = universe.names_of(mcp & ~passed)
        if hidden:
            shown = ", ".join(f"`{name}`" for name in hidden[:3]) + (", …" if len(hidden) > 3 else "")
            message = _(
                "the sandbox hides %(count)s MCP tools: %(shown)s; add `bundle-mcp` to `sandbox.tools.alsoAllow`"
            ) % {"count": len(hidden), "shown": shown}
            yield agent, "mcp_hidden_by_sandbox", "warning", message


_WIDE: Final = ("global", "agent", "provider")
"""Records whose lists bring optional tools."""
_NARROW: Final[Mapping[str, tuple[str, ...]]] = {
    "group": ("allow", "also_allow"),
    "sender": ("allow", "also_allow"),
    "agent": ("sandbox_allow", "sandbox_also_allow"),
    "global": ("sandbox_allow", "sandbox_also_allow", "subagent_allow", "subagent_also_allow"),
}
"""Lists that bring optional tools in OpenClaw, and none here."""


def _optional_tools(draft: Draft) -> Iterator[Remark]:
    """Find lists that name optional tools which no list brings that could."""
    universe = draft.candidates.universe
    if not universe.optional:
        return
    wide = [record for kind in _WIDE for record in draft.records(kind)]
    named = {fold(name) for record in wide for name in (*(record.allow or ()), *(record.also_allow or ()))}
    for profile in {record.profile for record in wide if record.profile}:
        policy = profile_policy(draft.dialect, profile)
        named |= set(map(fold, (policy.allow or ()) if policy is not None else ()))
    held = universe.optional & ~universe.named_optional(frozenset(named))
    for kind, columns in _NARROW.items():
        for record in draft.records(kind):
            names = frozenset(fold(name) for column in columns for name in getattr(record, column) or ())
            hidden = universe.names_of(universe.named_optional(names) & held)
            if hidden:
                shown = ", ".join(f"`{name}`" for name in hidden[:3]) + (", …" if len(hidden) > 3 else "")
                message = _(
                    "names optional tools, which only lists of the installation, of agents and of providers bring "
                    "here: %(shown)s. Name them there, too"
                )
                yield record, "optional_held_back", "warning", message % {"shown": shown}


def _sandbox(record: Any) -> Policy:
    def names(column: str) -> tuple[str, ...] | None:
        listed = getattr(record, column)
        return None if listed is None else tuple(listed)

    return Policy(names("sandbox_allow"), names("sandbox_deny"), names("sandbox_also_allow"))


def _mode(value: Any, *path: str) -> str | None:
    for step in (*path, "mode"):
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None
