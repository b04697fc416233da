"""The palette: what somebody may go to or do, by a part of its name."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console import palette as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import is_part


@require_safe
@gate()
def palette(request: ConsoleRequest) -> HttpResponse:
    """The list for htmx; without scripts a page with a field to search by."""
    text = request.GET.get("q", "")[: shown.TEXT_LIMIT]
    context = {"options": shown.palette_of(request, text), "text": text}
    template = "components/_palette_list.html" if is_part(request) else "console/palette/palette.html"
    return render(request, template, context)
