"""Rules by sender as a table: a dry run, taking it into the draft, and writing it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import Permission
from apps.console.gate import ConsoleRequest, gate
from apps.console.group_forms import SenderTableForm
from apps.console.views.agents import writing
from apps.console.views.senders import scope_asked
from apps.policies.document.sender_table import ROWS_LIMIT, write_table
from apps.policies.errors import DocumentInvalidError
from apps.policies.selectors import sender_rules
from apps.policies.services import SenderReport, senders_check, senders_import

ROWS_SHOWN = 200
KEPT_TEXT_LIMIT = 512 * 1024
ORDER = ("refused", "changed", "added", "unchanged")


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def sender_import(request: ConsoleRequest, /, **where: Any) -> HttpResponse:
    """Say what a table would do, or take the one that was tried into the draft."""
    scope = scope_asked(request, where)
    context: dict[str, Any] = {"scope": scope, "rows_limit": ROWS_LIMIT} | writing(request)
    form = SenderTableForm(request.POST, request.FILES) if request.method == "POST" else SenderTableForm()
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                if request.POST.get("do") == "apply" and form.cleaned_data["seen"] == form.digest:
                    senders_import(scope.environment, form.content, by=request.user, **scope.parents)
                    messages.success(request, _("Imported into the draft."))
                    return redirect(scope.url)
                report = senders_check(scope.environment, form.content, **scope.parents)
            except DocumentInvalidError as error:
                context["mistakes"] = error.details
            else:
                context |= _shown(report)
                context["is_other"] = request.POST.get("do") == "apply"
                status = 409 if context["is_other"] else 422 if report.counts["refused"] else 200
            form = _kept(form)
    return render(request, "console/senders/import.html", context | {"form": form}, status=status)


def _shown(report: SenderReport) -> dict[str, Any]:
    """Show the rows that need somebody's eyes first."""
    rows = sorted(report.rows, key=lambda row: (ORDER.index(row.outcome), not row.remark, row.line))
    return {
        "report": report,
        "counts": [(outcome, report.counts[outcome]) for outcome in ORDER],
        "shown": rows[:ROWS_SHOWN],
        "left_off": max(0, len(rows) - ROWS_SHOWN),
    }


def _kept(form: SenderTableForm) -> SenderTableForm:
    """Give the form back with what was sent; a small file moves into the text, for browsers forget files."""
    content = form.content
    text = content if isinstance(content, str) else content.decode("utf-8-sig", errors="replace")
    return SenderTableForm(initial={"text": text if len(text) <= KEPT_TEXT_LIMIT else "", "seen": form.digest})


@require_safe
@gate(Permission.POLICY_READ)
def sender_export(request: ConsoleRequest, /, **where: Any) -> HttpResponseBase:
    """Write the rules of a scope as a table that can be imported again."""
    scope = scope_asked(request, where)
    rules = sender_rules(scope.environment, **scope.parents).iterator(chunk_size=2000)
    answer = StreamingHttpResponse(write_table(rules), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="senders-{scope.kind}.csv"'
    return answer
