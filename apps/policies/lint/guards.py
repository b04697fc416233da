"""Grants of permissions and content filters: those that reach nobody or nothing, and tools that nobody may run."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.selectors import tokens
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.names import ANYTHING, fold, read_glob
from apps.firewall.engine.permissions import PermissionRules
from apps.firewall.engine.session_key import normalize_agent_id
from apps.policies.document.shapes import did_you_mean
from apps.policies.guards import engine_grant
from apps.policies.lint.draft import Draft
from apps.policies.lint.reach import Remark

SHOWN = 5


def guard_remarks(draft: Draft) -> Iterator[Remark]:
    """Review the grants and filters of a draft."""
    grants = draft.records("permission_grant")
    for grant in grants:
        yield from _agents(draft, grant)
        yield from _unasked(draft, grant)
    yield from _tokens([grant for grant in grants if grant.token])
    yield from _ungranted(draft)
    yield from _filtered_tools(draft)


def _agents(draft: Draft, grant: Any) -> Iterator[Remark]:
    if not grant.agent:
        return
    known = [normalize_agent_id(agent.key) for agent in draft.records("agent")]
    if "*" in grant.agent:
        if not any(read_glob(fold(grant.agent)).matches(name) for name in known):
            message = _("`%(agent)s` fits no agent, so nobody has this grant") % {"agent": grant.agent}
            yield grant, "grant_for_nobody", "warning", message
    elif normalize_agent_id(grant.agent) not in known:
        hint = did_you_mean(grant.agent, known)
        message = _("`%(agent)s` is no agent, so nobody has this grant%(hint)s") % {"agent": grant.agent, "hint": hint}
        yield grant, "grant_for_nobody", "warning", message


def _unasked(draft: Draft, grant: Any) -> Iterator[Remark]:
    """Find permissions that no tool asks for, and limits to a kind of resource that no such tool names."""
    asking = {permission: _asking(draft, permission) for permission in grant.permissions}
    for permission, tools in asking.items():
        if not tools:
            message = _("no tool asks for `%(permission)s`") % {"permission": permission}
            yield grant, "permission_unasked", "info", message
    served = {tool for tools in asking.values() for tool in tools}
    for kind in grant.resources:
        blind = sorted(tool for tool in served if kind not in draft.resource_kinds[tool])
        if blind:
            message = _("the limit keeps this grant from %(tools)s, which name no %(kind)s among their parameters") % {
                "tools": _listed(blind),
                "kind": kind,
            }
            yield grant, "limit_without_resource", "warning", message


def _asking(draft: Draft, pattern: str) -> list[str]:
    """List the tools that ask for a permission which fits a pattern."""
    rules = PermissionRules(draft.dialect, [Grant(key="", permissions=(pattern,))])
    return [tool for tool, asked in draft.permissions.items() if any(map(rules.giving, asked))]


def _tokens(grants: list[Any]) -> Iterator[Remark]:
    if not grants:
        return
    usable = {token.shown_id for token in tokens() if token.revoked_at is None}
    for grant in grants:
        if grant.token not in usable:
            message = _("`%(token)s` is no token that can be used, so nobody has this grant") % {"token": grant.token}
            yield grant, "grant_for_nobody", "warning", message


def _ungranted(draft: Draft) -> Iterator[Remark]:
    rules = PermissionRules(draft.dialect, map(engine_grant, draft.records("permission_grant")))
    lacking: dict[str, list[str]] = {}
    for tool, permissions in draft.permissions.items():
        for permission in permissions:
            if not rules.giving(permission):
                lacking.setdefault(permission, []).append(tool)
    for permission, tools in lacking.items():
        message = ngettext(
            "nobody has `%(permission)s`, which %(tools)s needs: it cannot run",
            "nobody has `%(permission)s`, which %(tools)s need: they cannot run",
            len(tools),
        ) % {"permission": permission, "tools": _listed(tools)}
        yield None, "permission_not_granted", "warning", message


def _filtered_tools(draft: Draft) -> Iterator[Remark]:
    for record in draft.records("content_filter"):
        for entry in record.tools:
            if fold(entry) != ANYTHING and not draft.candidates.entry_mask(entry):
                message = _("`%(entry)s` matches no tool") % {"entry": entry}
                yield record, "matches_nothing", "warning", message


def _listed(tools: list[str]) -> str:
    return ", ".join(f"`{tool}`" for tool in tools[:SHOWN]) + (", …" if len(tools) > SHOWN else "")
