"""The story of one session: calls, answers and changes of the policy in order, and the sessions that it started."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.audit.chain import storable_text
from apps.audit.keeping import preference_of, zone_of
from apps.audit.looks import session_record
from apps.audit.timeline import Moment, session_timeline
from apps.console.audit_list import KINDS, zone_text
from apps.console.calls import ShownCall
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen
from apps.sessions.selectors import session_with_key
from apps.sessions.tree import Branch, parent_of, tree_of

KEY_LETTERS = 512


@require_safe
@gate(Permission.AUDIT_READ)
def timeline(request: ConsoleRequest) -> HttpResponse:
    """One session by its key, with or without those that it started."""
    environment = environment_chosen(request)
    key = storable_text(request.GET.get("key", ""))[:KEY_LETTERS]
    if not key:
        raise Http404
    session = session_with_key(environment, key)
    tree = tree_of(session) if session is not None else None
    with_tree = bool(request.GET.get("tree")) and tree is not None
    keys = _keys(tree) if tree is not None and with_tree else _spellings(session, key)
    session_record(request.user, environment=environment.slug, session_key=key)
    told = session_timeline(
        environment=environment.slug,
        keys=keys,
        after=request.GET.get("after", ""),
        before=request.GET.get("before", ""),
    )
    zone = zone_of(preference_of(request.user))
    context = {
        "key": key,
        "session": session,
        "parent": parent_of(session) if session is not None else None,
        "tree": list(_levels(tree)) if tree is not None and tree.children else [],
        "with_tree": with_tree,
        "moments": [_shown(moment, environment.dialect) for moment in told.moments],
        "later": _url(key, with_tree, after=told.later) if told.later else "",
        "earlier": _url(key, with_tree, before=told.earlier) if told.earlier else "",
        "other": _url(key, not with_tree),
        "zone": zone_text(zone, timezone.now()),
        "kinds": KINDS,
    }
    with timezone.override(zone):
        return render(request, "console/audit/timeline.html", context)


def _shown(moment: Moment, dialect: str) -> dict[str, Any]:
    row = ShownCall(moment.call, dialect=dialect) if moment.call is not None else None
    return {"at": moment.at, "row": row, "change": moment.change}


def _spellings(session: Any, key: str) -> list[str]:
    return [key] if session is None else list(dict.fromkeys([key, session.key, *session.spellings]))


def _keys(tree: Branch) -> list[str]:
    return [key for branch, _level, _url in _levels(tree) for key in _spellings(branch.session, branch.session.key)]


def _levels(branch: Branch, level: int = 0) -> "list[tuple[Branch, int, str]]":
    """Lay a tree out as lines, each with how deep it stands."""
    lines = [(branch, level, _url(branch.session.key, with_tree=False))]
    for child in branch.children:
        lines += _levels(child, level + 1)
    return lines


def _url(key: str, with_tree: bool, **cursor: str | None) -> str:
    query = (
        {"key": key} | ({"tree": "1"} if with_tree else {}) | {name: value for name, value in cursor.items() if value}
    )
    return f"{reverse('audit-timeline')}?{urlencode(query)}"
