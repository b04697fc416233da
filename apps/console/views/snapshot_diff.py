"""Any two snapshots of an environment side by side: records, tools, and who gains and loses what."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console.blast import blast_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.snapshot_diff import block_changes
from apps.console.tool_changes import tool_changes
from apps.firewall.engine.diff_blocks import block_differences
from apps.firewall.engine.diff_guards import tool_differences
from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.policies.errors import SnapshotUntrustedError
from apps.policies.selectors import draft_snapshot, publication_snapshot, publications

DRAFT = "draft"
SHOWN_BLOCKS = 40
SHOWN_TOOLS = 20


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two is: a publication, or the draft."""

    key: str
    environment: Any
    publication: Any = None

    def __str__(self) -> str:
        return str(self.name)

    @property
    def name(self) -> Promise | str:
        return _("the draft") if self.publication is None else str(self.publication)

    @property
    def pk(self) -> Any:
        return None if self.publication is None else self.publication.pk

    def snapshot(self) -> Snapshot:
        """Raises SnapshotError or SnapshotUntrustedError: there is none to compare."""
        return draft_snapshot(self.environment) if self.publication is None else publication_snapshot(self.publication)


@require_safe
@gate(Permission.POLICY_READ)
def snapshot_diff(request: ConsoleRequest) -> HttpResponse:
    """Records and tools that differ between `a` and `b`, each the number of a publication or `draft`."""
    if not request.environment:
        return redirect("start")
    if not request.GET.get("a") and not request.GET.get("b"):
        return redirect("snapshots")
    old, new = _sides(request)
    context = _links(old, new)
    try:
        context |= _differences(request, old.snapshot(), new.snapshot())
    except (SnapshotError, SnapshotUntrustedError) as error:
        context["error"] = error
    return render(request, "console/snapshots/diff.html", context)


@require_safe
@gate(Permission.POLICY_READ)
def snapshot_diff_blast(request: ConsoleRequest) -> HttpResponse:
    """Who gains and loses what from `a` to `b`: a fragment, or a page where no script asked for it."""
    if not request.environment:
        return redirect("start")
    old, new = _sides(request)
    context: dict[str, Any] = {"from_publication": old, "to_publication": new.publication, "to_draft": False}
    try:
        context["blast"] = blast_of(old.snapshot(), new.snapshot())
    except (SnapshotError, SnapshotUntrustedError) as error:
        context["error"] = error
    template = "console/publish/_blast.html" if request.htmx else "console/publish/blast.html"
    return render(request, template, context)


def diff_url(old: str | int, new: str | int, *, name: str = "snapshot-diff") -> str:
    """Return the address of a difference."""
    return f"{reverse(name)}?{urlencode({'a': old, 'b': new})}"


def _sides(request: ConsoleRequest) -> tuple[Side, Side]:
    return _side(request, "a"), _side(request, "b")


def _side(request: ConsoleRequest, name: str) -> Side:
    """Find one of the two; what is no publication of this environment is a 404."""
    wanted = request.GET.get(name, "")
    if wanted == DRAFT:
        return Side(DRAFT, request.environment)
    found: Any = request.environment
    if not wanted.isdecimal():
        raise Http404
    publication = publications(found).filter(number=int(wanted[:9])).first()
    if publication is None:
        raise Http404
    return Side(str(publication.number), found, publication)


def _links(old: Side, new: Side) -> dict[str, Any]:
    return {
        "old": old,
        "new": new,
        "swapped_url": diff_url(new.key, old.key),
        "all_url": diff_url(old.key, new.key) + "&all",
        "blast_url": diff_url(old.key, new.key, name="snapshot-diff-blast"),
    }


def _differences(request: ConsoleRequest, old: Snapshot, new: Snapshot) -> dict[str, Any]:
    is_all = "all" in request.GET
    blocks = block_differences(old, new)
    tools = tool_changes(tool_differences(old.document["tools"], new.document["tools"])) if old != new else []
    shown_blocks, shown_tools = (len(blocks), len(tools)) if is_all else (SHOWN_BLOCKS, SHOWN_TOOLS)
    return {
        "is_same": old == new,
        "blocks": block_changes(blocks[:shown_blocks]),
        "block_count": len(blocks),
        "blocks_left": max(0, len(blocks) - shown_blocks),
        "tool_changes": tools,
        "shown_tools": tools[:shown_tools],
        "tools_left": max(0, len(tools) - shown_tools),
    }
