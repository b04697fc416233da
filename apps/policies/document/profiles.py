"""The document of an environment's own profiles, which `openclaw.json` names and has no place for.

`{"<key>": {"label": "…", "description": "…", "allow": […], "deny": […]}}`; members that say nothing may be left out.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import dialect_named
from apps.policies.document.findings import Findings
from apps.policies.document.guards import entry_row
from apps.policies.document.rows import Row
from apps.policies.document.shapes import Shape, names, text
from apps.policies.models import Profile
from apps.registry.models import Environment

MEMBERS: Final[Mapping[str, Shape]] = {"label": text(), "description": text(2000), "allow": names, "deny": names}


def write_profiles_tree(environment: Environment) -> dict[str, Any]:
    """Write the profiles of the draft; an empty list is written, an absent one is not."""
    records = Profile.objects.filter(environment=environment)
    return {record.key: _written(record) for record in records}


def parse_profiles(tree: dict[str, Any], dialect: str, findings: Findings) -> list[Row]:
    """Take the document apart, and hold each profile against the rules of its record."""
    rows: list[Row] = []
    built_in = dialect_named(dialect).profiles
    for position, (key, entry) in enumerate(tree.items()):
        if key in built_in:
            findings.error((key,), "reserved", _("is a built-in profile"))
            continue
        row = entry_row(Profile, MEMBERS, key, entry, (key,), findings)
        if row is not None:
            row.values["position"] = position
            rows.append(row)
    return rows


def _written(record: Profile) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in MEMBERS}
    return {name: value for name, value in values.items() if value not in ("", None)}
