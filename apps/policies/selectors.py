"""Reads of policies."""

from typing import Any, Literal

from apps.policies.document.secrets import with_masks, with_notes, with_secrets
from apps.policies.document.writing import write_approvals_tree, write_tree
from apps.registry.models import Environment

Secrets = Literal["masked", "open", "notes"]
_SECRETS = {"masked": with_masks, "open": with_secrets, "notes": with_notes}


def document_export(environment: Environment, *, secrets: Secrets = "masked") -> dict[str, Any]:
    """Write the draft as `openclaw.json` in the current form of its release.

    Args:
        secrets: "masked" puts OpenClaw's placeholder, which a later import turns back; "notes" their length and short
            hash; "open" the values themselves.
    """
    tree: dict[str, Any] = _SECRETS[secrets](write_tree(environment))
    return tree


def approvals_export(environment: Environment, *, secrets: Secrets = "masked") -> dict[str, Any] | None:
    """Write the draft's exec approvals document; None when there is none."""
    tree: dict[str, Any] | None = _SECRETS[secrets](write_approvals_tree(environment))
    return tree
