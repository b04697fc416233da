"""Allowlists of the exec tool: entries that match nothing, or too much."""

import re
from collections.abc import Iterator

from django.utils.translation import gettext as _

from apps.policies.lint.draft import Draft
from apps.policies.lint.reach import Remark


def allowlist_remarks(draft: Draft) -> Iterator[Remark]:
    """Review the exec approvals document."""
    for entry in draft.records("allowlist"):
        if entry.pattern.strip() == "*":
            yield entry, "allows_every_command", "warning", _("the pattern `*` lets every command run")
        if entry.arg_pattern is None:
            continue
        try:
            re.compile(entry.arg_pattern)
        except re.error as exc:
            yield (
                entry,
                "bad_pattern",
                "warning",
                _("the argument pattern cannot be read, so it matches nothing: %(exc)s") % {"exc": exc},
            )
            continue
        if not (entry.arg_pattern.startswith("^") and entry.arg_pattern.endswith("$")):
            message = _("the argument pattern is not anchored with `^` and `$`: further arguments pass")
            yield entry, "unanchored_pattern", "warning", message
