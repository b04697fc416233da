"""JUDGES how a tool is written: what a model will misread, what a provider will strip or refuse.

`lint_definition` runs every check; codes are stable, texts are not. A finding stops no call; an error
keeps a tool from being offered (`apps/registry/findings.py`).
"""

from collections.abc import Callable, Iterator
from typing import Final

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint.findings import RULES, Finding
from apps.firewall.tools.lint.metadata import check_metadata
from apps.firewall.tools.lint.naming import check_name
from apps.firewall.tools.lint.params import check_params_schema
from apps.firewall.tools.lint.providers import check_providers
from apps.firewall.tools.lint.wording import check_description

__all__ = ["RULES", "Finding", "lint_definition"]

CHECKS: Final[tuple[Callable[[Definition], Iterator[Finding]], ...]] = (
    check_name,
    check_description,
    check_params_schema,
    check_providers,
    check_metadata,
)


def lint_definition(definition: Definition) -> tuple[Finding, ...]:
    """Return what is to be said of a definition, in the order of its members."""
    return tuple(finding for check in CHECKS for finding in check(definition))
