"""The exec approvals document: tree -> rows. Unknown words are mistakes here, for OpenClaw drops them silently."""

from typing import Any

from django.utils.translation import gettext as _

from apps.policies.document import members as m
from apps.policies.document.findings import Findings, Path
from apps.policies.document.rows import Row, kept_template
from apps.policies.document.shapes import mapping, wrong_type
from apps.policies.models import AllowlistEntry, ExecApprovals, ExecApprovalsAgent

VERSION = 1


def parse_approvals(tree: dict[str, Any], findings: Findings) -> list[Row]:
    """Take an exec approvals document apart; the tree is used up.

    Source: integration notes, "Exec approvals document".
    """
    if tree.get("version", VERSION) != VERSION:
        findings.error(("version",), "unknown_version", _("must be %(version)s") % {"version": VERSION})
    row = Row(ExecApprovals, (), (), m.take(tree, m.APPROVALS, (), findings))
    row.values["position"] = 0
    rows = [row]
    agents = m.take_map(tree, ("agents",), (), findings)
    for position, (key, agent) in enumerate(agents.items()):
        path: Path = ("agents", key)
        if not key.strip() or len(key) > 128:
            findings.error(path, "blank_key", _("an agent's id must have 1 to 128 characters"))
        elif mapping(agent, path, findings):
            rows += _agent(key, agent, position, findings)
    row.values["extra"] = kept_template(tree, m.APPROVALS, row.values)
    return rows


def _agent(key: str, tree: dict[str, Any], position: int, findings: Findings) -> list[Row]:
    path: Path = ("agents", key)
    row = Row(ExecApprovalsAgent, (key,), path, m.take(tree, m.APPROVAL_WORDS, path, findings))
    row.values |= {"position": position, "key": key}
    rows = [row, *_allowlist(key, tree, path, findings)]
    row.values["extra"] = kept_template(tree, m.APPROVAL_WORDS, row.values)
    return rows


def _allowlist(agent: str, tree: dict[str, Any], path: Path, findings: Findings) -> list[Row]:
    listed = tree.get("allowlist")
    if "allowlist" not in tree or listed == []:
        return []
    tree["allowlist"] = None
    if not isinstance(listed, list):
        wrong_type(listed, _("a list of entries"), (*path, "allowlist"), findings)
        return []
    rows = []
    for position, entry in enumerate(listed):
        place = (*path, "allowlist", position)
        if not mapping(entry, place, findings):
            continue
        if "pattern" not in entry:
            findings.error(place, "missing_key", _("an entry needs a `pattern`"))
        elif entry["pattern"] == "":
            findings.error((*place, "pattern"), "blank_pattern", _("a pattern is empty"))
        row = Row(AllowlistEntry, ((agent,), position), place, m.take(entry, m.ALLOWLIST, place, findings))
        row.values["position"] = position
        row.refs = {"approvals_agent": (agent,)}
        row.values["extra"] = kept_template(entry, m.ALLOWLIST, row.values)
        rows.append(row)
    return rows
