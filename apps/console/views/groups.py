"""Channel groups: the list, one group with its rules and the ladder of a sender, a new one."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import groups as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.group_forms import GroupForm, GroupNewForm
from apps.console.policy_forms import LISTS
from apps.console.senders import Scope
from apps.console.undoing import writer_of
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.draft_parts import (
    SHOWN,
    Saving,
    draft_add,
    draft_context,
    draft_remove,
    draft_save,
    draft_set_back,
)
from apps.console.views.sender_parts import Sides, page_asked, rules_context, sides_of, tried
from apps.console.vocabulary import vocabulary_of
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.simulate import engine_with_group
from apps.policies.channels import channel_counts, group_find, groups_inside, path_of
from apps.policies.lint.reach import is_undecided
from apps.policies.selectors import live_snapshot
from apps.policies.services import group_place


def group_asked(request: ConsoleRequest, record_id: UUID) -> "shown.GroupRecord":
    """Find the group of a page in the draft.

    Raises:
        Http404: there is none in the chosen environment.
    """
    record = group_find(environment_chosen(request), record_id)
    if record is None:
        raise Http404
    return record


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def groups(request: ConsoleRequest) -> HttpResponse:
    """The groups by channel; POST adds one."""
    environment = environment_chosen(request)
    form = GroupNewForm(request.POST if request.method == "POST" else None)
    added = draft_add(request, form, group_place)
    if added is not None:
        return redirect("group", added.pk)
    channels = channel_counts(environment)
    context = {"channels": channels, "form": form} | _list(request, None) | writing(request)
    return render(request, "console/groups/groups.html", context, status=422 if form.errors else 200)


def _list(request: ConsoleRequest, record: "shown.GroupRecord | None") -> dict[str, Any]:
    """What stands beside every group: the others."""
    query, number = page_asked(request, "groups")
    holding = None if record is None or query else record.pk
    rows, page = shown.group_rows(environment_chosen(request), query=query, number=number, holding=holding)
    return {"rows": rows, "page": page, "query": query}


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def group(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """One group; POST saves what it says to everybody to the draft."""
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
    record = group_asked(request, record_id)
    form = GroupForm(request.POST if request.method == "POST" else None, record=record)
    saving = draft_save(request, record, form)
    if saving.is_saved:
        return redirect("group", record.pk)
    return _page(request, record, form, saving)


def _page(request: ConsoleRequest, record: "shown.GroupRecord", form: GroupForm, saving: Saving) -> HttpResponse:
    draft, live = sides = sides_of(request)
    known = shown.live_group(live, record)
    context = draft_context(request, record, form, saving) | _parts(request, record, form, sides)
    context |= _list(request, record) | rules_context(request, Scope(environment_chosen(request), group=record))
    context |= {
        "tab": "group",
        "label": shown.label_of(record),
        "path": ".".join(("channels", *path_of(record))),
        "inside": list(groups_inside(record)) if record.kind in shown.SPACES else [],
        "changed": 0 if known is None else shown.lists_changed(record, shown.live_block(live, record)),
        "is_new": known is None and live is not None,
        "is_undecided": is_undecided(dialect_named(record.environment.dialect), record.channel.key, record.kind),
        "vocabulary": vocabulary_of(draft, frozenset()),
    }
    return render(request, "console/groups/group.html", context, status=saving.status)


def _parts(request: ConsoleRequest, record: "shown.GroupRecord", form: GroupForm, sides: Sides) -> dict[str, Any]:
    """What changes while a form is typed: its lists beside what is live, the ladder, what is left."""
    environment, values = environment_chosen(request), form.values()
    draft, live = sides
    scope = Scope(environment, group=record)
    engine = engine_with_group(draft.engine, path_of(record), shown.typed_block(values))
    return {
        "fields": shown.list_fields(
            environment,
            draft,
            values,
            shown.live_block(live, record),
            has_live=shown.live_group(live, record) is not None,
        ),
        "key_remarks": shown.key_remarks(record, values["key"]),
        "says": values["has_tools"],
        **tried(request, scope, sides, engine),
    }


@require_POST
@gate(Permission.POLICY_READ)
def group_preview(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Which rule would win, and what would be left, with the values of the form; nothing is stored."""
    record = group_asked(request, record_id)
    form = GroupForm(request.POST if "key" in request.POST else None, record=record)
    if is_part(request):
        return render(request, "console/groups/_preview.html", _parts(request, record, form, sides_of(request)))
    return _page(request, record, form, SHOWN)


@require_POST
@gate(Permission.POLICY_WRITE)
def group_discard(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Set what a group says to everybody back to what is live."""
    record = group_asked(request, record_id)
    live = live_snapshot(environment_chosen(request))
    if shown.live_group(live, record) is None:
        raise Http404
    block = shown.live_block(live, record)
    wanted: dict[str, Any] = {"has_tools": block is not None}
    wanted |= {name: None if getattr(block, name, None) is None else list(getattr(block, name)) for name in LISTS}
    draft_set_back(request, record, wanted)
    return redirect("group", record.pk)


@require_POST
@gate(Permission.POLICY_WRITE)
def group_delete(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Take a group, its rules and what lies inside it out of the draft."""
    draft_remove(request, group_asked(request, record_id))
    return redirect("groups")


@require_safe
@gate(Permission.POLICY_READ)
def group_history(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Who changed what of a group and its rules, and when."""
    record = group_asked(request, record_id)
    context = {
        "record": record,
        "tab": "history",
        "label": shown.label_of(record),
        "entries": shown.history_of(record, by=writer_of(request)),
    }
    return render(request, "console/groups/history.html", context | writing(request))
