"""What a look at a source brings home: tools, and what kept others from being tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.executors import ToolExecutor

Stage: TypeAlias = Literal["discover", "verify", "load", "initialise", "ready"]
"""How far a tool came: seen, its definition checked, its code loaded, its own set-up run, fit to be called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a tool, or a whole source, did not come further; one sentence for people, a stable code for programs."""

    stage: Stage
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One tool of a source.

    Args:
        key: what the source calls it: a file, an entry point, a name on a server.
        plugin: id of the OpenClaw plugin that declares it, "" for none.
        is_optional: offered only where an allow list names it or its plugin.
        failure: None when it is ready.
        code: the files that its executor's `code` is the digest of, as text by path.
        facts: what else the source says of it, for people: health, origin, versions.
    """

    key: str
    definition: Definition | None = None
    executor: ToolExecutor | None = None
    plugin: str = ""
    is_optional: bool = False
    failure: Failure | None = None
    code: Mapping[str, str] = field(default_factory=dict, repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at a source.

    Args:
        failure: the source as a whole could not be looked through; nothing known about it changes then.
        etag: to be sent with the next look.
        is_unchanged: the source says that nothing changed since the etag; `found` is empty then.
    """

    found: tuple[Found, ...] = ()
    failure: Failure | None = None
    etag: str = ""
    is_unchanged: bool = False
