"""What pages do alike whose forms change records at once, not the draft: save, remove, answer."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from apps.console.forms import ConsoleForm
from apps.console.gate import ConsoleRequest
from apps.console.posted import version_seen
from apps.policies.errors import PolicyError
from apps.registry.errors import RecordChangedError, RegistryError

T = TypeVar("T")
CONFIRMED: Final = "widens"
UNSENT: Final = frozenset({"csrfmiddlewaretoken", CONFIRMED})


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


def wider_page(request: ConsoleRequest, widens: Sequence[str], *, back: str, record: Any = None) -> HttpResponse | None:
    """Ask before a change is saved that lets more happen and holds at once; None once exactly that was confirmed.

    Args:
        record: what changes; an older version of it is not asked about, since the service refuses it.
        widens: what more happens, a sentence each, as it is now.
        back: the page to go to when it is not to be.
    """
    digest = hashlib.sha256("\n".join(widens).encode()).hexdigest()
    is_stale = "version" in request.POST and record is not None and version_seen(request) != record.version
    if not widens or is_stale or request.POST.get(CONFIRMED) == digest:
        return None
    posted = [(name, value) for name in request.POST if name not in UNSENT for value in request.POST.getlist(name)]
    context = {"widens": widens, "digest": digest, "posted": posted, "back": back}
    return render(request, "components/confirm_wider.html", context)


def as_changed(record: T, values: Mapping[str, Any]) -> T:
    """Give a record as it would be, without saving it."""
    wanted = copy(record)
    for name, value in values.items():
        setattr(wanted, name, value)
    return wanted
