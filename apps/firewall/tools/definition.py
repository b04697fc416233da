"""What a tool is before it runs."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]

ExecutionMode: TypeAlias = Literal["parallel", "sequential"]
Backoff: TypeAlias = Literal["fixed", "exponential"]
ExtraParams: TypeAlias = Literal["keep", "drop", "refuse"]
SandboxLevel: TypeAlias = Literal["none", "process", "filesystem", "isolated", "container"]
ResourceKind: TypeAlias = Literal["path", "domain", "database"]
CatalogMode: TypeAlias = Literal["searchable", "direct_only"]

OPEN_SCHEMA: Final[JsonObject] = {"type": "object", "additionalProperties": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How often a tool may be called. Tokens are estimated as a quarter of the code points of params and result."""

    requests_per_minute: int | None = None
    tokens_per_request: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """What happens after a failure that may pass: the pause doubles with `exponential`, jitter takes up to half off."""

    max_retries: int = 0
    backoff: Backoff = "exponential"
    delay_ms: int = 500
    jitter: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """How long an equal call has an equal answer; `key` names the params that make calls equal, all when empty."""

    ttl_ms: int
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxNeeds:
    """What a tool needs of its sandbox; None leaves the installation's own limit.

    Args:
        level: it is held to at least (`sandbox/levels.py`); `container` is an old name of `isolated`.
        paths: absolute folders that it writes, beside its workspace.
    """

    level: SandboxLevel = "process"
    memory_bytes: int | None = None
    cpu_ms: int | None = None
    wall_ms: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None
    network: bool = False
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One call as its author shows it; `result` is None when only the call is shown."""

    parameters: JsonObject
    description: str = ""
    result: Any = None


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
        output: a JSON Schema of the result; None when the author promises nothing.
        version: of the tool, as its author counts.
        dependencies: Python requirements as in PEP 508, `pymysql>=1.0`.
        permissions: what the tool does, such as `db:read`; a call needs all of them granted.
        resources: kind -> the params that name one (`request.url`, in lists too), which grants may be limited to.
        timeout_ms: after which a call is ended; None for the executor's own limit.
        result_limit: characters of a result that callers get; None for the installation's own limit.
        sensitive: names of params that are masked everywhere but on their way to the tool, and of fields of its result.
        context_mappings: param -> fact of the caller that fills it, such as `sender.id` (`tools/injection.py`).
        extra_params: what happens to params that the schema does not name; None goes by the schema.
        config: settings that the tool is given; `{"$secret": "name"}` stands for a secret of its source.
        successor: the tool that takes the place of a deprecated one.
        catalog_mode: `direct_only` keeps it visible where others are only found by tool search.
        formats: formats of the author's own that the schema names, each with what a text must be; filled in by looks.
    """

    name: str
    label: str = ""
    description: str = ""
    section: str = ""
    parameters: JsonObject = field(default_factory=lambda: dict(OPEN_SCHEMA))
    owner_only: bool = False
    output: JsonObject | None = None
    version: str = ""
    author: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    resources: Mapping[ResourceKind, str | tuple[str, ...]] = field(default_factory=dict)
    rate_limit: RateLimit | None = None
    timeout_ms: int | None = None
    retry: RetryPolicy | None = None
    result_limit: int | None = None
    examples: tuple[Example, ...] = ()
    sensitive: tuple[str, ...] = ()
    context_mappings: Mapping[str, str] = field(default_factory=dict)
    execution_mode: ExecutionMode = "parallel"
    idempotent: bool = False
    cache: CachePolicy | None = None
    sandbox: SandboxNeeds | None = None
    extra_params: ExtraParams | None = None
    config: JsonObject = field(default_factory=dict)
    successor: str = ""
    catalog_mode: CatalogMode = "searchable"
    formats: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def schema_digest(self) -> str:
        """Identify the parameters: SHA-256 in hex, the same for any order of keys."""
        return schema_digest(self.parameters)

    @cached_property
    def digest(self) -> str:
        """Identify the whole definition: SHA-256 in hex, the same for any order of keys."""
        from apps.firewall.tools.definition_json import definition_json

        return schema_digest(definition_json(self))


def schema_digest(schema: JsonObject) -> str:
    """Identify a JSON document by the SHA-256 of its canonical text; reordered keys are no change."""
    text = json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
