"""What pages of one record of the draft do alike: find it, save its form, take it out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, require
from apps.console import agents as fields
from apps.console import guards as shown
from apps.console.gate import ConsoleRequest
from apps.console.policy_forms import DraftForm
from apps.console.posted import version_seen
from apps.console.undoing import tell_saved
from apps.console.views.agents import environment_chosen, writing
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import record_get
from apps.policies.services import record_delete, record_update


@dataclass(frozen=True, slots=True)
class Saving:
    """What became of a posted form: `status` of the answer that shows it again, or that it is saved."""

    status: int = 200
    conflict: fields.Conflict | None = None
    is_saved: bool = False


SHOWN: Final = Saving()
"""Nothing was posted, or nothing that is to be saved."""


def draft_asked(request: ConsoleRequest, kind: str, record_id: UUID) -> Any:
    """Find the record of a page in the draft.

    Raises:
        Http404: there is none in the chosen environment.
    """
    found = record_get(environment_chosen(request), kind, record_id)
    if found is None:
        raise Http404
    return found


class NewForm(Protocol):
    """A form for a record that is not there yet: `changes` are its fields, `key` among them."""

    def is_valid(self) -> bool: ...
    def changes(self) -> dict[str, Any]: ...
    def take_refusal(self, error: Any, /) -> None: ...


def draft_add(request: ConsoleRequest, form: NewForm, create: Callable[..., Any]) -> Any | None:
    """Add what a posted form says to the draft and return the record; the form takes its mistakes.

    Raises:
        PermissionDeniedError: the person may not change policy.
    """
    if request.method != "POST":
        return None
    require(request.user, Permission.POLICY_WRITE)
    if not form.is_valid():
        return None
    wanted = form.changes()
    try:
        record = create(environment_chosen(request), wanted.pop("key"), by=request.user, **wanted)
    except RecordInvalidError as error:
        form.take_refusal(error)
        return None
    tell_saved(request, _("Added to the draft."), record)
    return record


def draft_save(request: ConsoleRequest, record: Any, form: DraftForm) -> Saving:
    """Save a posted form to the draft; where both sides changed a field, the person has said whose counts.

    Raises:
        PermissionDeniedError: the person may not change policy.
    """
    if request.method != "POST":
        return SHOWN
    require(request.user, Permission.POLICY_WRITE)
    if not form.is_valid():
        return Saving(status=422)
    changes = form.changes()
    wanted = {name: each for name, each in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
    try:
        saved = record_update(record, wanted, by=request.user, expected_version=form.cleaned_data["version"] or 0)
    except ConflictError as error:
        return Saving(status=409, conflict=shown.conflict_of(error, form))
    except RecordInvalidError as error:
        form.take_refusal(error)
        return Saving(status=422)
    tell_saved(request, _("Saved to the draft."), saved, was=record)
    return Saving(is_saved=True)


def draft_set_back(request: ConsoleRequest, record: Any, wanted: dict[str, Any]) -> None:
    """Give a record the values that are live."""
    saved = record_update(record, wanted, by=request.user, expected_version=record.version)
    tell_saved(request, _("As it is live again."), saved, was=record)


def draft_remove(request: ConsoleRequest, record: Any) -> None:
    """Take a record out of the draft, in the version that the person saw."""
    record_delete(record, by=request.user, expected_version=version_seen(request))
    tell_saved(request, _("Removed from the draft."), record)


def draft_context(request: ConsoleRequest, record: Any, form: DraftForm, saving: Saving) -> dict[str, Any]:
    """Give what the page of a record shows around its form."""
    conflict = saving.conflict
    return {
        "record": record,
        "form": form,
        "version": conflict.version if conflict else form["version"].value() or 0,
        "conflict": conflict,
        "mistakes": fields.mistakes_of(form) if saving.status == 422 else [],
        **writing(request),
    }
