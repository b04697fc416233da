"""Makes the draft equal to rows: what is the same stays untouched, so that the change log tells what changed."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.policies.document.bulk import insert_all
from apps.policies.document.rows import NaturalKey, Row
from apps.policies.fields import OrderedJSONField
from apps.policies.models import (
    DRAFT_MODELS,
    Agent,
    AllowlistEntry,
    Channel,
    ChannelAccount,
    ChannelGroup,
    ContentFilter,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecSettings,
    GlobalPolicy,
    PermissionGrant,
    Profile,
    ProviderPolicy,
    SenderRule,
)
from apps.policies.models.base import PolicyRecord
from apps.registry.models import Environment

DOCUMENT_MODELS: tuple[type[PolicyRecord], ...] = (
    GlobalPolicy,
    Agent,
    ProviderPolicy,
    Channel,
    ChannelAccount,
    ChannelGroup,
    SenderRule,
    ExecSettings,
)
APPROVALS_MODELS: tuple[type[PolicyRecord], ...] = (ExecApprovals, ExecApprovalsAgent, AllowlistEntry)
NATURAL: dict[type[PolicyRecord], tuple[str, ...]] = {
    Profile: ("key",),
    GlobalPolicy: (),
    Agent: ("key",),
    ProviderPolicy: ("agent", "key"),
    Channel: ("key",),
    ChannelAccount: ("channel", "key"),
    ChannelGroup: ("channel", "account", "parent", "kind", "key"),
    SenderRule: ("agent", "group", "key"),
    ExecSettings: ("agent",),
    ExecApprovals: (),
    ExecApprovalsAgent: ("key",),
    AllowlistEntry: ("approvals_agent", "position"),
    PermissionGrant: ("key",),
    ContentFilter: ("key",),
}
"""The fields that make a natural key; the name of a parent stands for the parent's natural key."""

BATCH = 2000


class Reconciler:
    """Brings the records of some models of one environment to a wanted state, in the current transaction."""

    def __init__(self, environment: Environment, models: tuple[type[PolicyRecord], ...]) -> None:
        self.environment = environment
        self.models = tuple(model for model in DRAFT_MODELS if model in models)
        self.stored: dict[type[PolicyRecord], dict[NaturalKey, Any]] = {}
        self.counts = {"created": 0, "changed": 0, "deleted": 0, "unchanged": 0}

    def run(self, rows: Iterable[Row]) -> dict[str, int]:
        """Delete, create and change records.

        Returns:
            How many were `created`, `changed`, `deleted`, `unchanged`.
        """
        wanted: dict[type[PolicyRecord], dict[NaturalKey, Row]] = {model: {} for model in self.models}
        for row in rows:
            wanted[row.model][row.key] = row
        for model in self.models:
            self.stored[model] = self._read(model)
        for model in reversed(self.models):
            self._delete(model, wanted[model])
        for model in self.models:
            self._write(model, wanted[model])
        return self.counts

    def _read(self, model: type[PolicyRecord]) -> dict[NaturalKey, Any]:
        records = list(model._default_manager.filter(environment=self.environment).order_by("pk"))
        parents = {name: self._keys_of(name) for name in NATURAL[model] if name in PARENTS}
        if "parent" in parents:
            return self._read_nested(records, parents)
        return {natural_key(record, NATURAL[model], parents): record for record in records}

    def _read_nested(self, records: list[Any], parents: dict[str, dict[Any, NaturalKey]]) -> dict[NaturalKey, Any]:
        """Outer groups first: the natural key of an inner one holds theirs."""
        stored: dict[NaturalKey, Any] = {}
        for is_inner in (False, True):
            for record in records:
                if (record.parent_id is not None) is is_inner:
                    key = natural_key(record, NATURAL[ChannelGroup], parents)
                    stored[key] = record
                    parents["parent"][record.pk] = key
        return stored

    def _keys_of(self, parent: str) -> dict[Any, NaturalKey]:
        return {record.pk: key for key, record in self.stored.get(PARENTS[parent], {}).items()}

    def _delete(self, model: type[PolicyRecord], wanted: dict[NaturalKey, Row]) -> None:
        stored = self.stored[model]
        gone = [key for key in stored if key not in wanted]
        ids = [stored.pop(key).pk for key in gone]
        for start in range(0, len(ids), BATCH):
            model._default_manager.filter(pk__in=ids[start : start + BATCH]).delete()
        self.counts["deleted"] += len(ids)

    def _write(self, model: type[PolicyRecord], wanted: dict[NaturalKey, Row]) -> None:
        stored = self.stored[model]
        created, changed, fields = [], [], {"version"}
        for key, row in wanted.items():
            record = stored.get(key)
            if record is None:
                stored[key] = record = model(environment=self.environment, **row.values, **self._parents(row))
                created.append(record)
                continue
            names = [name for name, value in row.values.items() if not same(model, name, getattr(record, name), value)]
            if not names:
                self.counts["unchanged"] += 1
                continue
            for name in names:
                setattr(record, name, row.values[name])
            record.version += 1
            fields |= set(names)
            changed.append(record)
        insert_all(model, created)
        if changed:
            model._default_manager.bulk_update(changed, sorted(fields), batch_size=BATCH)
        self.counts["created"] += len(created)
        self.counts["changed"] += len(changed)

    def _parents(self, row: Row) -> dict[str, Any]:
        return {
            f"{name}_id": None if key is None else self.stored[PARENTS[name]][key].pk for name, key in row.refs.items()
        }


def labels_reconcile(environment: Environment, wanted: Mapping[str, list[str]]) -> int:
    """Give every agent the labels that a document says, in the current transaction; return how many it changed.

    An id of which there is no agent is passed over: labels may be written before the agent is.
    """
    changed = [
        agent
        for agent in Agent.objects.filter(environment=environment).order_by("pk")
        if agent.labels != wanted.get(agent.key, [])
    ]
    for agent in changed:
        agent.labels = wanted.get(agent.key, [])
        agent.version += 1
    if changed:
        Agent.objects.bulk_update(changed, ["labels", "version"], batch_size=BATCH)
    return len(changed)


PARENTS: dict[str, type[PolicyRecord]] = {
    "agent": Agent,
    "channel": Channel,
    "account": ChannelAccount,
    "parent": ChannelGroup,
    "group": ChannelGroup,
    "approvals_agent": ExecApprovalsAgent,
}


def natural_key(record: Any, fields: Iterable[str], parents: dict[str, dict[Any, NaturalKey]]) -> NaturalKey:
    parts = []
    for name in fields:
        if name in PARENTS:
            pk = getattr(record, f"{name}_id")
            parts.append(None if pk is None else parents[name][pk])
        else:
            parts.append(getattr(record, name))
    return tuple(parts)


def same(model: type[PolicyRecord], name: str, stored: Any, wanted: Any) -> bool:
    """Compare values; in what is kept as it is, the order of keys counts, too."""
    if isinstance(model._meta.get_field(name), OrderedJSONField):
        return repr(stored) == repr(wanted)
    return bool(stored == wanted)
