"""How environments take hooks that fail."""

from typing import Any

from apps.accounts.access import Permission, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.registry.models import Environment, HookPolicy
from apps.registry.services.changing import By, change, check_version, write_fields


def hook_policy_save(
    environment: Environment, *, is_strict: bool, expected_version: int | None = None, by: By = None
) -> HookPolicy:
    """Say whether a hook that fails stops the call under release 2026.2, too, from the next call on.

    Raises:
        PermissionDeniedError: it takes the right to publish.
        RecordChangedError.
    """
    fields: dict[str, Any] = {"is_strict": is_strict}
    with change(by, permission=Permission.PUBLISH):
        HookPolicy.objects.get_or_create(environment=environment)
        policy = HookPolicy.objects.select_for_update().get(environment=environment)
        check_version(policy, expected_version, fields)
        if write_fields(policy, fields):
            announce("hook.policy_changed", id=environment.pk, environment=environment.slug)
            entry_record(
                EntryDraft(
                    kind=EntryKind.HOOK_CHANGE,
                    actor=actor_of(by),
                    environment=environment.slug,
                    status="changed",
                    changes={"action": "changed", "version": policy.version, **fields},
                )
            )
    return policy
