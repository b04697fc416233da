"""A snapshot: everything that decides in one environment, unchangeable, known by its digest."""

import json
from collections.abc import Callable
from typing import Any, Final

from apps.firewall.engine.compile import Engine, compile_document
from apps.firewall.engine.content import ContentRules, read_filter
from apps.firewall.engine.dialect import UnknownDialectError, dialect_named
from apps.firewall.engine.digest import CanonicalError, canonical_json, digest_of, read_canonical
from apps.firewall.engine.document import FORMAT, read_tool, write_document
from apps.firewall.engine.exec_settings import ExecSettings
from apps.firewall.engine.grants import read_grant
from apps.firewall.engine.permissions import PermissionRules
from apps.firewall.engine.source import SnapshotSource, ToolEntry
from apps.firewall.errors import FirewallError


def _to_format_2(document: dict[str, Any]) -> dict[str, Any]:
    """Format 2 gave tools `traits` and `executor`; before, every tool that could run was the firewall's own."""
    return {**document, "format": 2}


def _to_format_3(document: dict[str, Any]) -> dict[str, Any]:
    """Format 3 gave grants of permissions and content filters; before, there were none."""
    return {**document, "format": 3}


UPGRADES: Final[tuple[Callable[[dict[str, Any]], dict[str, Any]], ...]] = (_to_format_2, _to_format_3)
"""Step n brings a document of format n + 1 to format n + 2; as long as the format's number less one."""


class SnapshotError(FirewallError):
    """A snapshot that cannot be built or used."""

    code = "snapshot_invalid"


class Snapshot:
    """One publication's policy. Equal digests are equal snapshots.

    Attributes:
        digest: SHA-256 of the canonical form, in hexadecimal.
        dialect: name of the release whose policy it speaks.
        environment: slug of its environment.
        tool_names: every tool in the order of the source.
        permissions: the grants.
        content: the filters.
    """

    __slots__ = (
        "_content",
        "_document",
        "_engine",
        "_tools",
        "content",
        "dialect",
        "digest",
        "environment",
        "permissions",
        "tool_names",
    )

    def __init__(self, document: dict[str, Any], content: bytes) -> None:
        self.digest = digest_of(content)
        self.dialect: str = document["dialect"]
        self.environment: str = document["environment"]
        self.tool_names: tuple[str, ...] = tuple(tool["name"] for tool in document["tools"])
        speaks = dialect_named(self.dialect)
        self.permissions = PermissionRules(speaks, map(read_grant, document.get("grants", ())))
        self.content = ContentRules(speaks, map(read_filter, document.get("filters", ())))
        self._content = content
        self._document: dict[str, Any] | None = document
        self._engine: Engine | None = None
        self._tools: dict[str, ToolEntry] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and other.digest == self.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Snapshot {self.digest[:12]} of {self.environment or 'no environment'}, {len(self.tool_names)} tools>"

    @property
    def document(self) -> dict[str, Any]:
        """The stored form, freshly read: changing it changes nothing here."""
        document: dict[str, Any] = json.loads(self._content)
        return document

    @property
    def engine(self) -> Engine:
        """The compiled form; made at the first use and kept."""
        engine = self._engine
        if engine is None:
            document = self.document if self._document is None else self._document
            engine = self._engine = compile_document(document)
            self._document = (
                None  # the compiled form and the bytes say it all; the parsed form is the largest of the three
            )
        return engine

    def to_bytes(self) -> bytes:
        """Return the canonical JSON, of which the digest is taken."""
        return self._content

    def tool(self, name: str) -> ToolEntry | None:
        """Return a tool by its name or one that means the same (`bash` for `exec`), or None."""
        if self._tools is None:
            self._tools = {tool["name"]: read_tool(tool) for tool in self.document["tools"]}
        known = self.engine.canonical_name(name)
        return None if known is None else self._tools[known]

    def exec_settings(self, agent_id: str) -> ExecSettings:
        """Return the settings of command execution that hold for an agent."""
        return self.engine.exec_settings(agent_id)


def build_snapshot(source: SnapshotSource) -> Snapshot:
    """Make the snapshot of a source.

    Raises:
        SnapshotError: the source has no canonical form, names a tool twice, or an unknown dialect.
    """
    document = write_document(source)
    _check(document)
    try:
        return Snapshot(document, canonical_json(document))
    except CanonicalError as exc:
        raise SnapshotError(f"the source has no canonical form: {exc.message}") from exc
    except FirewallError as exc:
        raise SnapshotError(f"the source cannot be used: {exc.message}") from exc


def load_snapshot(data: bytes, *, expected_digest: str | None = None) -> Snapshot:
    """Read a stored snapshot and make it ready to decide.

    Args:
        data: what `to_bytes` gave. Without an expected digest any JSON text of the document will do.
        expected_digest: hexadecimal SHA-256 that the bytes must have.
    Raises:
        SnapshotError: other bytes than expected, no snapshot, or a format of a later version.
    """
    if expected_digest is not None and digest_of(data) != expected_digest:
        raise SnapshotError(f"the snapshot is not the expected one: its digest is not `{expected_digest}`")
    document = _upgraded(_parsed(data, is_canonical=expected_digest is not None))
    _check(document)
    try:
        content = data if expected_digest is not None else canonical_json(document)
        snapshot = Snapshot(document, content)
        snapshot.engine  # noqa: B018 - a snapshot that cannot be compiled is refused here, not at the first call
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, FirewallError) as exc:
        raise SnapshotError(f"the snapshot is damaged: {exc}") from exc
    return snapshot


def _parsed(data: bytes, *, is_canonical: bool) -> dict[str, Any]:
    try:
        document = read_canonical(data) if is_canonical else read_canonical(canonical_json(json.loads(data)))
    except (ValueError, RecursionError, CanonicalError) as exc:
        raise SnapshotError(f"the snapshot is not JSON: {exc}") from exc
    if not isinstance(document, dict):
        raise SnapshotError("the snapshot is not an object")
    return document


def _upgraded(document: dict[str, Any]) -> dict[str, Any]:
    version = document.get("format")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= FORMAT:
        raise SnapshotError(f"unknown snapshot format `{version}`, this engine reads 1 to {FORMAT}")
    for upgrade in UPGRADES[version - 1 :]:
        document = upgrade(document)
    return document


def _check(document: dict[str, Any]) -> None:
    try:
        dialect_named(document["dialect"])
        names = [tool["name"] for tool in document["tools"]]
        if not isinstance(document["environment"], str):
            raise SnapshotError("the snapshot's environment is not a text")
    except UnknownDialectError as exc:
        raise SnapshotError(exc.message) from exc
    except (KeyError, TypeError) as exc:
        raise SnapshotError(f"the snapshot lacks a member: {exc}") from exc
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SnapshotError(f"tool named twice: `{'`, `'.join(twice)}`")
