"""What a change of a limit lets more calls do: limits act at once, so people read it before they save."""

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import dialect_named
from apps.limits.models import BreakerPolicy, Per, RateLimit
from apps.subjects import names_listed, names_lost


def rate_widens(before: RateLimit, after: RateLimit | None) -> list[str]:
    """Say, a sentence each, which calls run after a change that the rate would have refused.

    Args:
        after: the limit as it would be; None when it is removed.
    """
    if not before.is_enabled:
        return []
    if after is None or not after.is_enabled:
        text = _("There is no longer a rate limit on %(tools)s for %(agents)s. It was %(number)s calls a minute.")
        lists = {"tools": _all_or(before.tools, _("all tools")), "agents": _all_or(before.agents, _("all agents"))}
        return [text % {**lists, "number": before.per_minute}]
    found = []
    if after.per_minute > before.per_minute:
        text = _("%(before)s calls a minute become %(after)s.")
        found.append(text % {"before": before.per_minute, "after": after.per_minute})
    if after.per not in {before.per, Per.EVERYBODY}:
        text = _("Calls are counted separately, and each count may use the full rate: %(before)s becomes %(after)s.")
        found.append(text % {"before": before.get_per_display(), "after": after.get_per_display()})
    dialect = dialect_named(before.environment.dialect)
    lost_tools = names_lost(dialect, "tool", before.tools, after.tools)
    lost_agents = names_lost(dialect, "agent", before.agents, after.agents)
    if lost_tools:
        found.append(_("Tools it no longer limits: %(names)s.") % {"names": lost_tools})
    if lost_agents:
        found.append(_("Agents it no longer limits: %(names)s.") % {"names": lost_agents})
    return found


def breaker_widens(before: BreakerPolicy, after: BreakerPolicy) -> list[str]:
    """Say which calls run after a change of the breaker's rule that it would have refused."""
    if not before.is_enabled:
        return []
    if not after.is_enabled:
        return [_("Tools on other servers keep being called while they fail.")]
    found = []
    if after.failures > before.failures:
        text = _("A failing tool is left alone after %(after)s failures in a row; it was %(before)s.")
        found.append(text % {"before": before.failures, "after": after.failures})
    if after.pause_s < before.pause_s:
        text = _("A failing tool is left alone for %(after)s seconds; it was %(before)s.")
        found.append(text % {"before": before.pause_s, "after": after.pause_s})
    return found


def _all_or(names: list[str], everything: str) -> str:
    return everything if "*" in names else names_listed(names)
