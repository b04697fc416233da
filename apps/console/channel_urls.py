"""Paths of channel groups, of what applies to every agent, and of rules by sender in each of their scopes."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import global_policy as everybody
from apps.console.views import groups, sender_tables, senders


def _ruled(below: str, name: str) -> list[URLPattern | URLResolver]:
    """Return the pages of the rules by sender of one scope."""
    start = f"{below}senders/"
    return [
        path(f"{start}new/", senders.sender_new, name=f"{name}-sender-new"),
        path(f"{start}import/", sender_tables.sender_import, name=f"{name}-sender-import"),
        path(f"{start}export/", sender_tables.sender_export, name=f"{name}-sender-export"),
        path(f"{start}new/preview/", senders.sender_preview, name=f"{name}-sender-new-preview"),
        path(f"{start}<uuid:record_id>/", senders.sender, name=f"{name}-sender"),
        path(f"{start}<uuid:record_id>/preview/", senders.sender_preview, name=f"{name}-sender-preview"),
        path(f"{start}<uuid:record_id>/delete/", senders.sender_delete, name=f"{name}-sender-delete"),
    ]


of_groups: list[URLPattern | URLResolver] = [
    path("groups/", groups.groups, name="groups"),
    path("groups/<uuid:record_id>/", groups.group, name="group"),
    path("groups/<uuid:record_id>/preview/", groups.group_preview, name="group-preview"),
    path("groups/<uuid:record_id>/discard/", groups.group_discard, name="group-discard"),
    path("groups/<uuid:record_id>/delete/", groups.group_delete, name="group-delete"),
    path("groups/<uuid:record_id>/history/", groups.group_history, name="group-history"),
    *_ruled("groups/<uuid:group_id>/", "group"),
]

of_agents: list[URLPattern | URLResolver] = [
    path("agents/<path:key>/senders/", senders.senders, name="agent-senders"),
    *_ruled("agents/<path:key>/", "agent"),
]
"""A key may hold slashes: these come before an agent's other pages."""

of_everybody: list[URLPattern | URLResolver] = [
    path("global/", everybody.everybody, name="global"),
    path("global/preview/", everybody.everybody_preview, name="global-preview"),
    path("global/discard/", everybody.everybody_discard, name="global-discard"),
    path("global/history/", everybody.everybody_history, name="global-history"),
    path("global/providers/new/", everybody.provider_new, name="global-provider-new"),
    path("global/providers/<uuid:record_id>/", everybody.provider, name="global-provider"),
    path("global/providers/<uuid:record_id>/delete/", everybody.provider_delete, name="global-provider-delete"),
    path("global/senders/", senders.senders, name="global-senders"),
    *_ruled("global/", "global"),
]
