"""The document of policy tests: `{"<name>": {"tool", "context", "verdict", "layer", "params", "enabled"}}`.

Members that say nothing are left out; one that is switched off says `"enabled": false`.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings
from apps.policies.document.shapes import did_you_mean, mapping
from apps.policies.models import PolicyTest

FIELDS: Final = {
    "tool": "tool",
    "context": "context",
    "params": "params",
    "verdict": "verdict",
    "layer": "layer",
    "enabled": "is_enabled",
}
"""Members of an entry, and the fields of the record that hold them."""


def write_tests_tree(tests: Iterable[PolicyTest]) -> dict[str, Any]:
    """Write policy tests in the order of their names, whatever the database sorts by."""
    return {test.name: _written(test) for test in sorted(tests, key=lambda test: test.name)}


def parse_tests(tree: dict[str, Any], findings: Findings) -> list[PolicyTest]:
    """Read policy tests, not stored and of no environment yet; each is held against the rules of its record."""
    found = [_test(name, entry, findings) for name, entry in tree.items()]
    return [test for test in found if test is not None]


def _test(name: str, entry: Any, findings: Findings) -> PolicyTest | None:
    if not mapping(entry, (name,), findings):
        return None
    unknown = [member for member in entry if member not in FIELDS]
    for member in unknown:
        message = _("is not part of this document") + did_you_mean(member, FIELDS)
        findings.error((name, member), "unknown_key", message)
    test = PolicyTest(name=name, **{FIELDS[member]: value for member, value in entry.items() if member in FIELDS})
    try:
        test.clean_fields(exclude=["environment", "made_by"])
        test.clean()
    except ValidationError as exc:
        members = {field: member for member, field in FIELDS.items()}
        for field, errors in exc.error_dict.items():
            for error in errors:
                place = (name, members[field]) if field in members else (name,)
                findings.error(place, error.code or "invalid", " ".join(error.messages))
        return None
    return None if unknown else test


def _written(test: PolicyTest) -> dict[str, Any]:
    entry: dict[str, Any] = {"tool": test.tool, "verdict": test.verdict}
    if test.layer:
        entry["layer"] = test.layer
    if test.context:
        entry["context"] = test.context
    if test.params is not None:
        entry["params"] = test.params
    return entry if test.is_enabled else entry | {"enabled": False}
