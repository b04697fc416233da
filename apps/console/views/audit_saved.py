"""What a person keeps for the list of calls: saved searches, columns, the time zone."""

import uuid

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.access import Permission
from apps.audit.keeping import filter_remove, filter_save, preference_save
from apps.console.audit_list import url_of
from apps.console.gate import ConsoleRequest, gate


@require_POST
@gate(Permission.AUDIT_READ)
def save(request: ConsoleRequest) -> HttpResponse:
    query = request.POST.get("query", "")
    is_shared = "is_shared" in request.POST
    filter_save(request.user, name=request.POST.get("name", ""), query=query, is_shared=is_shared)
    messages.success(request, _("The search is saved."))
    return redirect(url_of(QueryDict(query)))


@require_POST
@gate(Permission.AUDIT_READ)
def remove(request: ConsoleRequest, filter_id: uuid.UUID) -> HttpResponse:
    filter_remove(request.user, filter_id)
    messages.success(request, _("The saved search is gone."))
    return redirect("audit")


@require_POST
@gate(Permission.AUDIT_READ)
def display(request: ConsoleRequest) -> HttpResponse:
    """Choose columns and the time zone; none of the columns is the usual ones."""
    preference_save(
        request.user, columns=request.POST.getlist("columns"), time_zone=request.POST.get("time_zone", "").strip()
    )
    return redirect(url_of(QueryDict(request.POST.get("query", ""))))
