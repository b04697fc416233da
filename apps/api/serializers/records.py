"""The kinds of policy records that programs read and write: path, serializer, and what makes one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.accounts.access import Principal
from apps.firewall.identifiers import read_id, show_id
from apps.policies.errors import RecordGoneError
from apps.policies.kinds import KINDS, editable_fields
from apps.policies.selectors import record_get
from apps.policies.services import records as services
from apps.registry.models import Environment

Create = Callable[[Environment, Mapping[str, Any], Principal], Any]


@extend_schema_field({"type": "string", "pattern": "^rec_"})
class RecordIdField(serializers.Field[UUID, str, str, Any]):
    """An identifier `rec_…`."""

    def to_representation(self, value: UUID) -> str:
        return show_id("rec", value)

    def to_internal_value(self, data: str) -> UUID:
        try:
            return read_id("rec", str(data))
        except ValueError as exc:
            raise serializers.ValidationError(str(exc), code="invalid_id") from exc


@extend_schema_field({"type": "string", "pattern": "^rec_|^[0-9a-fA-F-]{32,36}$"})
class RecordReferenceField(RecordIdField):
    """A record that the caller names: as every answer shows it (`rec_…`), or its plain UUID. Shown as the UUID."""

    def to_representation(self, value: UUID) -> str:
        return str(value)

    def to_internal_value(self, data: str) -> UUID:
        try:
            return UUID(str(data))
        except ValueError:
            return super().to_internal_value(data)


NO_PARENTS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class RecordKind:
    """One kind of record.

    Attributes:
        path: plural, below /api/v1/.
        kind: the room's word for it.
        parents: fields that name the record it belongs to, with that record's kind.
        create: makes one from validated values; None where programs cannot add one.
        changes: the serializer of a change, with the version that was seen.
    """

    path: str
    kind: str
    title: str
    parents: Mapping[str, str]
    create: Create | None
    serializer: type[serializers.ModelSerializer[Any]]
    changes: type[serializers.ModelSerializer[Any]]


def record_of(environment: Environment, kind: str, record_id: UUID) -> Any:
    """Find a record of an environment.

    Raises:
        RecordGoneError: there is none.
    """
    found = record_get(environment, kind, record_id)
    if found is None:
        raise RecordGoneError(f"no such {kind}")
    return found


def records_of(environment: Environment, kind: str) -> QuerySet[Any]:
    """Give the records of one kind, to be paged in the order of the document."""
    return KINDS[kind]._default_manager.filter(environment=environment)


def _parent(environment: Environment, kind: str, value: UUID | None) -> Any:
    return None if value is None else record_of(environment, kind, value)


def _agent(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    return services.agent_create(environment, values["key"], by=by, **_rest(values, "key"))


def _profile(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    return services.profile_create(environment, values["key"], by=by, **_rest(values, "key"))


def _provider(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    agent = _parent(environment, "agent", values.get("agent"))
    rest = _rest(values, "key", "agent")
    return services.provider_policy_create(environment, values["key"], by=by, agent=agent, **rest)


def _exec(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    agent = _parent(environment, "agent", values.get("agent"))
    return services.exec_settings_create(environment, by=by, agent=agent, **_rest(values, "agent"))


def _channel(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    return services.channel_create(environment, values["key"], by=by, **_rest(values, "key"))


def _account(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    channel = _parent(environment, "channel", values["channel"])
    return services.account_create(channel, values["key"], by=by, **_rest(values, "key", "channel"))


def _group(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    return services.group_create(
        _parent(environment, "channel", values["channel"]),
        values["key"],
        by=by,
        kind=values.get("kind", "groups"),
        account=_parent(environment, "account", values.get("account")),
        parent=_parent(environment, "group", values.get("parent")),
        **_rest(values, "key", "kind", "channel", "account", "parent"),
    )


def _sender(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    agent = _parent(environment, "agent", values.get("agent"))
    group = _parent(environment, "group", values.get("group"))
    rest = _rest(values, "key", "agent", "group")
    return services.sender_rule_create(environment, values.get("key", ""), by=by, agent=agent, group=group, **rest)


def _permission_grant(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    return services.permission_grant_create(environment, values["key"], by=by, **_rest(values, "key"))


def _content_filter(environment: Environment, values: Mapping[str, Any], by: Principal) -> Any:
    return services.content_filter_create(environment, values["key"], by=by, **_rest(values, "key"))


def _rest(values: Mapping[str, Any], *taken: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in taken}


def _serializer(name: str, model: type[Any], parents: Mapping[str, str]) -> type[serializers.ModelSerializer[Any]]:
    """Make the serializer of a kind: identifier, version, its parents, and every field that people may change.

    Shapes only: DRF's validators of columns are left out, for the room names every mistake by its own rules.
    """
    editable = sorted(editable_fields(model) - {"key"})
    keyed = [field for field in ("key", "kind") if field in {column.name for column in model._meta.fields}]
    meta = {
        "model": model,
        "fields": ["id", "version", *parents, *keyed, *editable],
        "read_only_fields": ["version"],
        "extra_kwargs": {field: {"required": False, "validators": []} for field in editable},
        "validators": [],
    }
    members: dict[str, Any] = {"Meta": type("Meta", (), meta), "id": RecordIdField(read_only=True)}
    for field in parents:
        is_needed = field == "channel"
        members[field] = RecordIdField(source=f"{field}_id", required=is_needed, allow_null=not is_needed)
    return type(name, (serializers.ModelSerializer,), members)


def _kind(
    path: str, kind: str, title: str, create: Create | None, parents: Mapping[str, str] = NO_PARENTS
) -> RecordKind:
    name = "".join(part.capitalize() for part in kind.split("_")) + "Record"
    serializer = _serializer(name, KINDS[kind], parents)
    changes = type(f"{name}Change", (serializer,), {"version": serializers.IntegerField(min_value=1)})
    return RecordKind(path, kind, title, parents, create, serializer, changes)


RECORD_KINDS: tuple[RecordKind, ...] = (
    _kind("global-policy", "global", "the global policy", None),
    _kind("profiles", "profile", "profiles", _profile),
    _kind("agents", "agent", "agents", _agent),
    _kind("provider-policies", "provider", "policies by provider", _provider, {"agent": "agent"}),
    _kind("exec-settings", "exec", "settings of the exec tool", _exec, {"agent": "agent"}),
    _kind("channels", "channel", "channels", _channel),
    _kind("accounts", "account", "accounts of channels", _account, {"channel": "channel"}),
    _kind(
        "groups", "group", "groups of channels", _group, {"channel": "channel", "account": "account", "parent": "group"}
    ),
    _kind("sender-rules", "sender", "rules by sender", _sender, {"agent": "agent", "group": "group"}),
    _kind("permission-grants", "permission_grant", "grants of permissions", _permission_grant),
    _kind("content-filters", "content_filter", "filters of content", _content_filter),
    _kind("exec-allowlist", "allowlist", "commands that need no asking", None, {"approvals_agent": "approvals_agent"}),
)
_PATHS = {each.kind: each.path for each in RECORD_KINDS}


def url_of(kind: str, record: UUID) -> str:
    """Give the path of a record; empty for a kind that has none of its own."""
    path = _PATHS.get(kind)
    return "" if path is None else reverse(f"api-{path}-detail", args=[record])
