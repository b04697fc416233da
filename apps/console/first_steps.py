"""The first steps after the first start: which are done, which is next, and the commands that connect a gateway."""

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.conf import settings
from django.core.cache import cache
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, may
from apps.console.forms import ConsoleForm
from apps.gateway.first_steps import Progress, progress_of
from apps.registry.models import RELEASES

if TYPE_CHECKING:
    from apps.console.gate import ConsoleRequest

COMPLETE_S: Final = 600
WAYS: Final = (("program", _("A program of mine, over REST")), ("openclaw", _("An OpenClaw Gateway")))


@dataclass(frozen=True, slots=True)
class Kind:
    """One step, in the order in which they are taken."""

    key: str
    label: Promise
    why: Promise


KINDS: Final = (
    Kind("release", _("Release"), _("Which OpenClaw the policy is read as.")),
    Kind("policy", _("Policy"), _("Import yours, look at the demo, or begin empty.")),
    Kind("publish", _("Publish"), _("Nothing is allowed before something is live.")),
    Kind("connect", _("Connect"), _("A token for a program, or a gateway.")),
    Kind("call", _("First call"), _("See that it arrives here.")),
    Kind("people", _("People"), _("Who answers, who reads.")),
)
KEYS: Final = tuple(kind.key for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Step:
    """A step as the page shows it; `state` is `done`, `skipped` or `open`."""

    kind: Kind
    number: int
    state: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """All steps, and what the records say."""

    steps: tuple[Step, ...]
    progress: Progress

    @property
    def current(self) -> Step | None:
        return next((step for step in self.steps if step.is_current), None)

    @property
    def done(self) -> int:
        return sum(step.state != "open" for step in self.steps)

    @property
    def is_complete(self) -> bool:
        return self.done == len(self.steps)


class ReleaseForm(ConsoleForm):
    """The release of OpenClaw that an environment speaks."""

    dialect = forms.ChoiceField(label=_("Release of OpenClaw"), choices=RELEASES)


class ConnectForm(ConsoleForm):
    """What is to call here."""

    way = forms.ChoiceField(label=_("What connects"), choices=WAYS)
    name = forms.CharField(label=_("Name"), max_length=100)


def first_steps(request: "ConsoleRequest", *, wanted: str = "") -> FirstSteps:
    """Read the steps; the current one is what was asked for, else the first that is neither done nor put aside."""
    progress = progress_of(request.environment, request.user)
    skipped = set(request.user.skipped_steps)
    states = {key: "done" if key in progress.done else "skipped" if key in skipped else "open" for key in KEYS}
    first_open = next((key for key in KEYS if states[key] == "open"), "")
    current = wanted if wanted in states else first_open
    steps = tuple(
        Step(kind, number, states[kind.key], kind.key == current) for number, kind in enumerate(KINDS, start=1)
    )
    return FirstSteps(steps, progress)


def steps_left(request: "ConsoleRequest") -> FirstSteps | None:
    """The steps while some are left, for who may take them; what is complete is not asked for again for a while."""
    if not may(request.user, Permission.POLICY_WRITE) or not request.environment:
        return None
    key = f"first-steps:{request.environment.pk}:{request.user.pk}"
    if cache.get(key):
        return None
    found = first_steps(request)
    if found.is_complete:
        cache.set(key, True, COMPLETE_S)
        return None
    return found


def call_command(secret: str, agent: str) -> str:
    """Write the command that makes a first call with a token."""
    body: dict[str, Any] = {
        "agent": agent,
        "session": f"agent:{agent}:main",
        "tool": "session_status",  # works in an empty workspace, too
        "params": {},
    }
    return (
        f"curl -sS {settings.PUBLIC_URL}/api/v1/calls \\\n"
        f"  -H {shlex.quote(f'Authorization: Bearer {secret}')} -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(json.dumps(body, ensure_ascii=False))}"
    )
