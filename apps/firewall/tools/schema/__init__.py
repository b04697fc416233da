"""FITS schemas to providers: what OpenClaw makes of a parameter schema before a model provider receives it.

Here live the passes over one schema (references, OpenAPI keywords, the object at the root, array items, Gemini,
keywords a model refuses, what is left that an endpoint refuses), the limits around them, and the list of what they
changed and why. No provider's wire format lives here, no definition, no validation of params. May import errors and the
validator of schemas themselves.
"""

from apps.firewall.tools.schema.acceptance import Family, Refusal, refusals
from apps.firewall.tools.schema.changes import Change, ChangeCount, ChangeKind, count_changes
from apps.firewall.tools.schema.limits import SchemaRefusedError
from apps.firewall.tools.schema.normalize import Normalized, clean_for_gemini, normalize_schema, normalized
from apps.firewall.tools.schema.releases import ModelCompat, UnknownReleaseError, read_compat

__all__ = [
    "Change",
    "ChangeCount",
    "ChangeKind",
    "Family",
    "ModelCompat",
    "Normalized",
    "Refusal",
    "SchemaRefusedError",
    "UnknownReleaseError",
    "clean_for_gemini",
    "count_changes",
    "normalize_schema",
    "normalized",
    "read_compat",
    "refusals",
]
