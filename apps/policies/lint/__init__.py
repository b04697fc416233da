"""REVIEWS the draft: names that nothing has, rules that never count, blocks that say less than they seem to.

`names` entries of lists against what exists; `reach` rules that another one hides; `scopes` what concerns a whole
agent or environment; `layers` what one layer takes from another; `addresses` keys of senders, groups and providers
that nothing has; `commands` the allowlists of exec; `run` puts them together.
"""

from apps.policies.lint.findings import LintFinding
from apps.policies.lint.run import blocking_findings, lint, lint_commands, reviewer_register, with_outside

__all__ = ["LintFinding", "blocking_findings", "lint", "lint_commands", "reviewer_register", "with_outside"]
