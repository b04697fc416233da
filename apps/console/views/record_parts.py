"""What pages do alike whose forms change records at once, not the draft: save, remove, answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.contrib import messages
from django.utils.translation import gettext as _

from apps.console.forms import ConsoleForm
from apps.console.gate import ConsoleRequest
from apps.console.posted import version_seen
from apps.policies.errors import PolicyError
from apps.registry.errors import RecordChangedError, RegistryError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Saved(Generic[T]):
    """What became of a posted form: the record as it is now, or that somebody else was faster, or neither."""

    record: T | None = None
    is_conflict: bool = False


def record_save(request: ConsoleRequest, form: ConsoleForm, save: Callable[[], T], *, told: str) -> Saved[T]:
    """Save a posted form by a service and tell the person; the form takes what the service refuses."""
    if request.method != "POST" or not form.is_valid():
        return Saved()
    try:
        made = save()
    except RecordChangedError:
        return Saved(is_conflict=True)
    except (RegistryError, PolicyError) as error:
        form.take_refusal(error)
        return Saved()
    messages.success(request, told)
    return Saved(made)


def record_remove(request: ConsoleRequest, record: Any, remove: Callable[..., None]) -> None:
    """Remove a record in the version that the person saw, and tell them.

    Raises:
        RegistryError, PolicyError: the service refused.
    """
    remove(record, expected_version=version_seen(request), by=request.user)
    messages.success(request, _("Removed."))


def form_status(form: Any, *, conflict: bool = False) -> int:
    """Say with which status a form is shown."""
    return 409 if conflict else 422 if form.errors else 200
