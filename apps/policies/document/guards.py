"""The guards document: grants, content filters and labels of agents, which `openclaw.json` has no place for.

`{"permissionGrants": {"<key>": {…}}, "contentFilters": {"<key>": {…}}, "agentLabels": {"<id>": ["…"]}}`; members of the
first two have the names of the records' fields, and those that say nothing may be left out.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings, Path
from apps.policies.document.rows import Row
from apps.policies.document.shapes import Shape, did_you_mean, flag, mapping, mapping_of, names, text
from apps.policies.models import Agent, ContentFilter, PermissionGrant
from apps.policies.models.base import PolicyRecord
from apps.policies.places import GUARDS
from apps.registry.models import Environment

GUARD_MODELS: Final[tuple[type[PolicyRecord], ...]] = (PermissionGrant, ContentFilter)
LABELS: Final = "agentLabels"
MEMBERS: Final[Mapping[type[PolicyRecord], Mapping[str, Shape]]] = {
    PermissionGrant: {
        "permissions": names,
        "agent": text(),
        "token": text(),
        "sender": text(),
        "owner": flag,
        "role": text(),
        "session": text(),
        "resources": mapping_of(names),
    },
    ContentFilter: {"tools": names, "pattern": text(), "where": text(), "action": text(), "message": text()},
}


def write_guards_tree(environment: Environment) -> dict[str, Any]:
    """Write the guards document from the draft; a kind of which there is none is left out."""
    tree = {}
    for model in GUARD_MODELS:
        records: Any = model._default_manager.filter(environment=environment)
        written = {record.key: _written(record) for record in records}
        if written:
            tree[GUARDS[model]] = written
    labels = {agent.key: agent.labels for agent in Agent.objects.filter(environment=environment).exclude(labels=[])}
    return tree | ({LABELS: labels} if labels else {})


def parse_guards(tree: dict[str, Any], findings: Findings) -> list[Row]:
    """Take a guards document apart, and hold each entry against the rules of its record."""
    models = {name: model for model, name in GUARDS.items()}
    rows: list[Row] = []
    for name, entries in tree.items():
        model = models.get(name)
        if name == LABELS:
            continue
        if model is None:
            hint = did_you_mean(name, (*models, LABELS))
            findings.error((name,), "unknown_key", _("is not part of this document") + hint)
        elif mapping(entries, (name,), findings):
            for position, (key, entry) in enumerate(entries.items()):
                row = entry_row(model, MEMBERS[model], key, entry, (name, key), findings)
                if row is not None:
                    row.values["position"] = position
                    rows.append(row)
    return rows


def parse_labels(tree: dict[str, Any], findings: Findings) -> dict[str, list[str]]:
    """Take the labels of agents out of a guards document, and hold them against the rules of the record."""
    entries = tree.get(LABELS, {})
    if not mapping_of(names)(entries, (LABELS,), findings):
        return {}
    for key, labels in entries.items():
        agent = Agent(key=key, labels=labels)
        try:
            agent.clean_fields(exclude=[field.name for field in Agent._meta.fields if field.name != "labels"])
            agent.clean()
        except ValidationError as exc:
            findings.error((LABELS, key), "invalid", " ".join(exc.messages))
    return dict(entries)


def _written(record: Any) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in MEMBERS[type(record)]}
    return {name: value for name, value in values.items() if value not in ("", False, [], {})}


def entry_row(
    model: type[PolicyRecord], known: Mapping[str, Shape], key: str, entry: Any, path: Path, findings: Findings
) -> Row | None:
    """Read an entry whose members have the names of its record's fields; None where it has mistakes.

    Args:
        known: the members that it may have, with their shapes.
    """
    if not mapping(entry, path, findings):
        return None
    for name in entry:
        if name not in known:
            message = _("is not part of this document") + did_you_mean(name, known)
            findings.error((*path, name), "unknown_key", message)
    good = [name for name, shape in known.items() if name in entry and shape(entry[name], (*path, name), findings)]
    if len(good) < len(entry):
        return None
    # What an entry leaves out is as if it had never been said, also where the stored record says something.
    record = model(**{"key": key, **{name: entry[name] for name in good}})
    try:
        record.clean_fields(exclude=["environment"])
        record.clean()
    except ValidationError as exc:
        for field, errors in exc.error_dict.items():
            for error in errors:
                place = path if field in {"key", "__all__"} else (*path, field)
                findings.error(place, error.code or "invalid", " ".join(error.messages))
        return None
    values = {name: getattr(record, name) for name in ("key", "extra", *known)}
    return Row(model, (key,), path, values)
