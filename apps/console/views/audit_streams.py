"""Files of the ledger, and the systems that get its entries as they come: one page, and what is done there."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.audit.errors import StreamInvalidError
from apps.audit.exports import exports_of
from apps.audit.streaming.streams import (
    dead_letters,
    dead_letters_retry,
    stream_access,
    stream_add,
    stream_change,
    stream_pause,
    stream_remove,
    stream_test,
    streams_shown,
)
from apps.console.gate import ConsoleRequest, gate
from apps.console.stream_forms import StreamAddForm, StreamForm, stream_initial

SHOWN_EXPORTS = 20


@require_safe
@gate(Permission.AUDIT_READ)
def exports_and_streams(request: ConsoleRequest) -> HttpResponse:
    """What one asked for oneself, and every stream with its lag."""
    may_export = may(request.user, Permission.AUDIT_EXPORT)
    exports = exports_of(request.user, limit=SHOWN_EXPORTS) if may_export else []
    return render(
        request,
        "console/audit/exports.html",
        {"may_export": may_export, "exports": exports, "encoded": "span=all", **_streams(request)},
    )


@require_safe
@gate(Permission.AUDIT_READ)
def streams(request: ConsoleRequest) -> HttpResponse:
    """The streams alone; the page asks for them anew every few seconds."""
    return render(request, "console/audit/_streams.html", _streams(request))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.AUDIT_MANAGE)
def add(request: ConsoleRequest) -> HttpResponse:
    form = StreamAddForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            stream = stream_add(request.user, **form.cleaned_data)
        except StreamInvalidError as error:
            form.take_refusal(error)
        else:
            messages.success(request, _("%(name)s gets records from now on.") % {"name": stream.name})
            return redirect("audit-exports")
    status = 422 if form.errors else 200
    return render(request, "console/audit/stream.html", {"form": form, "stream": None}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.AUDIT_MANAGE)
def change(request: ConsoleRequest, stream_id: uuid.UUID) -> HttpResponse:
    stream = stream_access(request.user, stream_id, write=True)
    form = StreamForm(request.POST or None, initial=stream_initial(stream))
    if request.method == "POST" and form.is_valid():
        try:
            stream_change(request.user, stream, **form.cleaned_data)
        except StreamInvalidError as error:
            form.take_refusal(error)
        else:
            messages.success(request, _("Saved."))
            return redirect("audit-exports")
    context = {"form": form, "stream": stream, "letters": dead_letters(stream)}
    return render(request, "console/audit/stream.html", context, status=422 if form.errors else 200)


@require_POST
@gate(Permission.AUDIT_MANAGE)
def pause(request: ConsoleRequest, stream_id: uuid.UUID) -> HttpResponse:
    """Hold a stream, or with `resume` let it go on."""
    stream = stream_access(request.user, stream_id, write=True)
    stream_pause(request.user, stream, is_paused=request.POST.get("do") != "resume")
    return redirect("audit-exports")


@require_POST
@gate(Permission.AUDIT_MANAGE)
def remove(request: ConsoleRequest, stream_id: uuid.UUID) -> HttpResponse:
    stream = stream_access(request.user, stream_id, write=True)
    stream_remove(request.user, stream)
    messages.success(request, _("%(name)s gets no more records.") % {"name": stream.name})
    return redirect("audit-exports")


@require_POST
@gate(Permission.AUDIT_MANAGE)
def test(request: ConsoleRequest, stream_id: uuid.UUID) -> HttpResponse:
    """Send one record now, and say what the other side made of it."""
    stream = stream_access(request.user, stream_id, write=True)
    problem = stream_test(request.user, stream)
    if problem:
        messages.error(request, _("%(name)s did not take the record: %(why)s") % {"name": stream.name, "why": problem})
    else:
        messages.success(request, _("%(name)s took the record.") % {"name": stream.name})
    return redirect("audit-exports")


@require_POST
@gate(Permission.AUDIT_MANAGE)
def retry(request: ConsoleRequest, stream_id: uuid.UUID) -> HttpResponse:
    """Send again what the other side refused."""
    stream = stream_access(request.user, stream_id, write=True)
    taken, left = dead_letters_retry(request.user, stream)
    text = ngettext("%(count)d record was taken.", "%(count)d records were taken.", taken) % {"count": taken}
    if left:
        text += " " + ngettext("%(count)d stays.", "%(count)d stay.", left) % {"count": left}
    messages.info(request, text)
    return redirect("audit-export-stream", stream_id=stream_id)


def _streams(request: ConsoleRequest) -> dict[str, Any]:
    return {"states": streams_shown(timezone.now()), "may_manage": may(request.user, Permission.AUDIT_MANAGE)}
