"""Documents of what an environment keeps beside its draft, by name: policy tests and guardrails.

`{"<name>": {…}}`; an entry leaves out what says nothing, and what is switched off says `"enabled": false`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings
from apps.policies.document.shapes import did_you_mean, mapping
from apps.policies.models import Guardrail, PolicyTest

N = TypeVar("N", PolicyTest, Guardrail)

MEMBERS: Final[Mapping[type[PolicyTest] | type[Guardrail], Mapping[str, str]]] = {
    PolicyTest: {
        "tool": "tool",
        "verdict": "verdict",
        "layer": "layer",
        "context": "context",
        "params": "params",
        "enabled": "is_enabled",
    },
    Guardrail: {"description": "description", "form": "form", "severity": "severity", "enabled": "is_enabled"},
}
"""Members of an entry in their order, and the fields of the record that hold them."""


def write_named_tree(model: type[N], records: Iterable[N]) -> dict[str, Any]:
    """Write records in the order of their names, whatever the database sorts by."""
    return {record.name: _written(model, record) for record in sorted(records, key=lambda record: record.name)}


def parse_named(model: type[N], tree: dict[str, Any], findings: Findings) -> list[N]:
    """Read records, not stored and of no environment yet; each is held against its own rules."""
    found = [_record(model, name, entry, findings) for name, entry in tree.items()]
    return [record for record in found if record is not None]


def _record(model: type[N], name: str, entry: Any, findings: Findings) -> N | None:
    if not mapping(entry, (name,), findings):
        return None
    known = MEMBERS[model]
    unknown = [member for member in entry if member not in known]
    for member in unknown:
        message = _("is not part of this document") + did_you_mean(member, known)
        findings.error((name, member), "unknown_key", message)
    record = model(name=name, **{known[member]: value for member, value in entry.items() if member in known})
    try:
        record.clean_fields(exclude=["environment", "made_by"])
        record.clean()
    except ValidationError as exc:
        members = {field: member for member, field in known.items()}
        for field, errors in exc.error_dict.items():
            for error in errors:
                place = (name, members[field]) if field in members else (name,)
                findings.error(place, error.code or "invalid", " ".join(error.messages))
        return None
    return None if unknown else record


def _written(model: type[N], record: N) -> dict[str, Any]:
    """Write the members of a record that differ from what an entry means that leaves them out."""
    silent = model()
    values = {member: (getattr(record, name), getattr(silent, name)) for member, name in MEMBERS[model].items()}
    return {member: value for member, (value, default) in values.items() if value != default}
