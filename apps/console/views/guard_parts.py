"""What the pages of grants and of filters do alike: find a record of the draft, save its form, take it out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, require
from apps.console import guards as shown
from apps.console.gate import ConsoleRequest
from apps.console.views.agents import environment_chosen
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import record_get
from apps.policies.services import record_delete, record_update

if TYPE_CHECKING:
    from apps.console.agents import Conflict
    from apps.console.guard_forms import FilterForm, GrantForm


@dataclass(frozen=True, slots=True)
class Saving:
    """What became of a posted form: `status` of the answer that shows it again, or that it is saved."""

    status: int = 200
    conflict: "Conflict | None" = None
    is_saved: bool = False


def guard_asked(request: ConsoleRequest, kind: str, record_id: UUID) -> Any:
    """Find the record of a page in the draft.

    Raises:
        Http404: there is none in the chosen environment.
    """
    found = record_get(environment_chosen(request), kind, record_id)
    if found is None:
        raise Http404
    return found


def guard_save(request: ConsoleRequest, record: Any, form: "GrantForm | FilterForm") -> Saving:
    """Save a posted form to the draft; where both sides changed a field, the person has said whose counts.

    Raises:
        PermissionDeniedError: the person may not change policy.
    """
    if request.method != "POST":
        return Saving()
    require(request.user, Permission.POLICY_WRITE)
    if not form.is_valid():
        return Saving(status=422)
    changes = form.changes()
    wanted = {name: each for name, each in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
    try:
        record_update(record, wanted, by=request.user, expected_version=form.cleaned_data["version"] or 0)
    except ConflictError as error:
        return Saving(status=409, conflict=shown.conflict_of(error, form))
    except RecordInvalidError as error:
        form.take_errors(error)
        return Saving(status=422)
    messages.success(request, _("Saved to the draft."))
    return Saving(is_saved=True)


def guard_remove(request: ConsoleRequest, record: Any) -> None:
    """Take a record out of the draft, in the version that the person saw."""
    version = request.POST.get("version", "")
    record_delete(record, by=request.user, expected_version=int(version) if version.isdigit() else 0)
    messages.success(request, _("Removed from the draft."))
