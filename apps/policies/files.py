"""The policy of an environment as files that a repository keeps: one JSON document each, in a stable, readable form."""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from apps.policies.document.guards import write_guards_tree
from apps.policies.document.named import write_named_tree
from apps.policies.document.profiles import write_profiles_tree
from apps.policies.document.secrets import with_masks, with_notes
from apps.policies.document.writing import write_approvals_tree, write_tree
from apps.policies.models import Guardrail, PolicyTest
from apps.registry.models import Environment

DOCUMENT: Final = "openclaw.json"
APPROVALS: Final = "exec-approvals.json"
GUARDS: Final = "guards.json"
PROFILES: Final = "profiles.json"
TESTS: Final = "policy-tests.json"
GUARDRAILS: Final = "guardrails.json"
FILES: Final = (DOCUMENT, APPROVALS, GUARDS, PROFILES, TESTS, GUARDRAILS)
_SECRETS: Final = {"masked": with_masks, "notes": with_notes}


def draft_trees(environment: Environment) -> dict[str, Any]:
    """Write draft, policy tests and guardrails as documents by file, secrets sealed; exec approvals may be absent."""
    trees = {
        DOCUMENT: write_tree(environment),
        APPROVALS: write_approvals_tree(environment),
        GUARDS: write_guards_tree(environment),
        PROFILES: write_profiles_tree(environment),
        TESTS: write_named_tree(PolicyTest, PolicyTest.objects.filter(environment=environment)),
        GUARDRAILS: write_named_tree(Guardrail, Guardrail.objects.filter(environment=environment)),
    }
    return {name: tree for name, tree in trees.items() if tree is not None}


def files_export(environment: Environment, *, secrets: Literal["masked", "notes"] = "masked") -> dict[str, str]:
    """Write the files of an environment.

    Args:
        secrets: "masked" puts OpenClaw's placeholder, which an apply turns back; "notes" their length and short hash,
            which tell whether one differs from another.
    """
    return files_text(draft_trees(environment), secrets=secrets)


def files_text(trees: Mapping[str, Any], *, secrets: Literal["masked", "notes"]) -> dict[str, str]:
    """Write documents as text."""
    hide = _SECRETS[secrets]
    shown = {name: hide(tree) if name in {DOCUMENT, APPROVALS} else tree for name, tree in trees.items()}
    return {name: json.dumps(tree, ensure_ascii=False, indent=2) + "\n" for name, tree in shown.items()}
