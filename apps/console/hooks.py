"""What the pages of hooks show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from django.utils.translation import gettext_lazy

from apps.console.tool_words import Word
from apps.registry.selectors import hook_failures, hooks_failures, hooks_of

if TYPE_CHECKING:
    from apps.registry.models import Environment, Hook, HookFailure, Plugin

    HookRecord: TypeAlias = Hook

FAILURES_SHOWN: Final = 50
PLUGIN_FAILURES_SHOWN: Final = 10

KINDS: Final[Mapping[str, Word]] = {
    "python_hook": Word(
        gettext_lazy("Python plugin"),
        "package",
        note=gettext_lazy("An installed package, in a confined process of its own."),
    ),
    "webhook": Word(
        gettext_lazy("Webhook"), "world", note=gettext_lazy("A server that gets signed requests and signs its answers.")
    ),
}
MOMENTS: Final[Mapping[str, Word]] = {
    "before_tool_call": Word(gettext_lazy("Before a call"), "shield-check"),
    "after_tool_call": Word(gettext_lazy("After a call"), "eye"),
}
FAILURES: Final[Mapping[str, Word]] = {
    "raised": Word(gettext_lazy("Raised an error"), "alert-triangle", "deny"),
    "hung": Word(gettext_lazy("Was not done in time"), "clock-x", "deny"),
    "wrong_answer": Word(gettext_lazy("Wrong answer"), "braces", "deny"),
    "huge_answer": Word(gettext_lazy("Answer too large"), "braces", "deny"),
    "slow": Word(gettext_lazy("Server too slow"), "clock-x", "deny"),
    "bad_signature": Word(gettext_lazy("Signature missing or wrong"), "key", "deny"),
    "unreachable": Word(gettext_lazy("Server not reached"), "link-off", "deny"),
    "ended": Word(gettext_lazy("Process ended"), "circle-x", "deny"),
    "overloaded": Word(gettext_lazy("Too much at once"), "alert-circle", "deny"),
}
OTHER: Final = Word(gettext_lazy("Failed"), "alert-circle", "deny")


@dataclass(frozen=True, slots=True)
class ShownHook:
    """A hook as a list shows it."""

    record: "Hook"
    kind: Word
    moment: Word


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A failure of a hook; `shown_call_id` is empty where none of a call."""

    record: "HookFailure"
    word: Word


def hook_rows(environment: "Environment", plugin: "Plugin | None" = None) -> list[ShownHook]:
    """List hooks, those before calls first, each as it is asked."""
    return [hook_shown(each) for each in hooks_of(environment, plugin=plugin)]


def hook_shown(hook: "Hook") -> ShownHook:
    return ShownHook(hook, KINDS[hook.kind], MOMENTS[hook.event])


def failures_shown(environment: "Environment", plugin: "Plugin | None" = None) -> list[ShownFailure]:
    """List the newest failures of the hooks of an environment, or of one plugin."""
    limit = FAILURES_SHOWN if plugin is None else PLUGIN_FAILURES_SHOWN
    return [_failure(each) for each in hooks_failures(environment, plugin=plugin, limit=limit)]


def failures_of(hook: "Hook") -> list[ShownFailure]:
    """List the newest failures of one hook."""
    return [_failure(each) for each in hook_failures(hook, limit=FAILURES_SHOWN).select_related("hook")]


def _failure(record: "HookFailure") -> ShownFailure:
    return ShownFailure(record, FAILURES.get(record.kind, OTHER))
