"""What a change of a hook lets run: hooks act at once, so people read it before they save."""

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.runtime.hooks import runtime_rules
from apps.registry.models import Environment, Hook, HookMoment, HookPolicy
from apps.subjects import names_lost

EVERYTHING = ["*"]


def hook_widens(before: Hook, after: Hook | None) -> list[str]:
    """Say, a sentence each, which calls run after a change that the hook might have stopped.

    What a hook answers is its own matter: where it is reached, and how it is set up, is not judged.

    Args:
        after: the hook as it would be; None when it is removed.
    """
    if before.event != HookMoment.BEFORE or not (before.is_enabled and before.plugin.is_enabled):
        return []
    if after is None or not after.is_enabled:
        return [_("Calls that it would block, change or have a person asked about run from now on.")]
    dialect = dialect_named(before.environment.dialect)
    lost = names_lost(dialect, "tool", before.tools or EVERYTHING, after.tools or EVERYTHING)
    return [_("Tools that it is not asked about any more: %(names)s.") % {"names": lost}] if lost else []


def hook_policy_widens(environment: Environment, before: HookPolicy, *, is_strict: bool) -> list[str]:
    """Say whether calls run after a change that a failing hook would have stopped."""
    release = environment.dialect
    if (
        is_strict
        or not before.is_strict
        or runtime_rules(release, is_strict=True) == runtime_rules(release, is_strict=False)
    ):
        return []
    return [_("A call runs when a hook that should be asked about it fails.")]
