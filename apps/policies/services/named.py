"""Records that have a name in their environment become those that files hold."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from apps.accounts.access import actor_of
from apps.policies.actors import By
from apps.policies.models import Guardrail, PolicyTest
from apps.registry.models import Environment
from apps.registry.services.changing import write_fields

N = TypeVar("N", PolicyTest, Guardrail)


def named_reconcile(
    model: type[N], environment: Environment, wanted: Sequence[N], *, fields: Callable[[N], Mapping[str, Any]], by: By
) -> dict[str, list[str]]:
    """Make the records of an environment those that are wanted, in the current transaction; nothing is recorded.

    Args:
        wanted: not stored, each valid by itself.
        fields: what is kept of one of them, its name among it.
    Returns:
        The names of those that were `created`, `changed`, `deleted`.
    """
    stored = {record.name: record for record in model._default_manager.filter(environment=environment)}
    told: dict[str, list[str]] = {"created": [], "changed": [], "deleted": []}
    for name in sorted(stored.keys() - {record.name for record in wanted}):
        stored.pop(name).delete()
        told["deleted"].append(name)
    for record in wanted:
        known, kept = stored.get(record.name), fields(record)
        if known is None:
            model(environment=environment, made_by=actor_of(by), **kept).save(force_insert=True)
            told["created"].append(record.name)
        elif write_fields(known, kept):
            told["changed"].append(record.name)
    return told
