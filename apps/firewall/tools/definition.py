"""What a tool is before it runs."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Definition:
    """One tool as its author describes it.

    Args:
        name: the policy name, in normal form.
        label: the name people read.
        description: what a model is told.
        section: where the catalogue lists it: `fs`, `runtime`, `web`, …
        parameters: a JSON Schema (2020-12) with an object at its root.
        owner_only: offered to the owner's own conversations only.
    """

    name: str
    label: str
    description: str
    section: str
    parameters: JsonObject
    owner_only: bool = False

    @cached_property
    def schema_digest(self) -> str:
        """Identify the parameters: SHA-256 in hex, the same for any order of keys."""
        return schema_digest(self.parameters)


def schema_digest(schema: JsonObject) -> str:
    """Identify a JSON Schema by the SHA-256 of its canonical text; reordered keys are no change."""
    text = json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
