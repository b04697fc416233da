"""Looks through a remote registry: a JSON document behind an address (docs/tools.md, "Remote registries")."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urljoin

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from apps.firewall.errors import FirewallError
from apps.firewall.tools.admission import admit_definition
from apps.firewall.tools.connections import SECRET, Connection
from apps.firewall.tools.connector import Answer, Connector, ConnectorError, Resolve, system_resolve
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.urls import check_url
from apps.firewall.tools.definition import Definition, schema_digest
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.discovery.found import Failure, Found, Look, Stage
from apps.firewall.tools.executors import HttpExecutor
from apps.firewall.tools.own_formats import with_packaged_formats
from apps.firewall.tools.remote_json import JsonRefusedError, plain_text, read_json

FORMAT: Final = 1
TOOLS_LIMIT: Final = 5_000
VERSIONS_SHOWN: Final = 50
ETAG_CHARACTERS: Final = 200
REMARK_CHARACTERS: Final = 500

HEALTH: Final = frozenset({"ok", "degraded", "down"})
STATUSES: Final = frozenset({"active", "deprecated", "withdrawn"})

BESIDE: Final = frozenset({"endpoint", "status", "health"})
"""Members of an entry beside those of a definition."""

Entry = Mapping[str, Any]


async def look_remote(connection: Connection, *, etag: str = "", resolve: Resolve = system_resolve) -> Look:
    """Ask a registry for its tools.

    Of a tool with several versions the newest one is taken that is not withdrawn and that the setting `versions` of
    the source (`{"name": "<2"}`, PEP 440) allows.

    Args:
        etag: of the last look; the registry then may say that nothing changed. One from before the source's settings
            were changed counts as none.
    """
    headers = dict(connection.headers) | {"Accept": "application/json"}
    mark = _mark(connection)
    known = etag.removeprefix(mark) if etag.startswith(mark) else ""
    if known:
        headers["If-None-Match"] = known
    try:
        answer = await Connector.of(connection, resolve).get(connection.url, headers=headers)
        if answer.status == 304 and known:
            return Look(etag=etag, is_unchanged=True)
        document = _document(answer)
    except (ConnectorError, _RegistryError) as exc:
        return Look(failure=Failure(stage="discover", code=exc.code, message=exc.message))
    about = {"registry": plain_text(document.get("name"), 200)}
    found = [_found(name, entries, connection, about) for name, entries in _by_name(document["tools"]).items()]
    return Look(found=tuple(found), etag=_etag(answer, mark))


class _RegistryError(FirewallError):
    """Why an answer is no list of tools."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class _BrokenError(FirewallError):
    """Why an entry is no tool to be called."""

    def __init__(self, stage: Stage, code: str, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(stage=stage, code=code, message=message)


def _document(answer: Answer) -> Mapping[str, Any]:
    if answer.status in {401, 403}:
        raise _RegistryError("registry_refused", f"the registry does not accept the token (status {answer.status})")
    if answer.status != 200:
        raise _RegistryError("registry_failed", f"the registry answers with status {answer.status}")
    try:
        document = read_json(answer.body)
    except JsonRefusedError as exc:
        raise _RegistryError("registry_unreadable", f"the registry's answer cannot be read: {exc.message}") from exc
    if not isinstance(document, dict) or not isinstance(document.get("tools"), list):
        raise _RegistryError("registry_unreadable", "the registry's answer has no list `tools`")
    if document.get("format") != FORMAT:
        raise _RegistryError("registry_unreadable", f"the registry's answer is not of format {FORMAT}")
    if len(document["tools"]) > TOOLS_LIMIT:
        raise _RegistryError("registry_unreadable", f"the registry lists more than {TOOLS_LIMIT} tools")
    return document


def _mark(connection: Connection) -> str:
    """Identify the settings: with others, the same document may bring other tools."""
    return f"{schema_digest(connection.settings)[:16]}:"


def _etag(answer: Answer, mark: str) -> str:
    etag = answer.headers.get("etag", "")
    is_kept = etag and len(mark + etag) <= ETAG_CHARACTERS and etag.isascii() and etag.isprintable()
    return mark + etag if is_kept else ""


def _by_name(entries: Sequence[Any]) -> dict[str, list[Any]]:
    """Put the versions of a tool together; what has no name stands for itself, by its place."""
    named: dict[str, list[Any]] = {}
    for position, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, Mapping) else None
        key = name if isinstance(name, str) and name else f"tools[{position}]"
        named.setdefault(plain_text(key, 128), []).append(entry)
    return named


def _found(name: str, entries: list[Any], connection: Connection, about: Mapping[str, Any]) -> Found:
    facts = dict(about) | {"versions": [_version(entry) for entry in entries[:VERSIONS_SHOWN]]}
    try:
        entry = _chosen(entries, _wanted(name, connection))
    except _BrokenError as exc:
        return Found(key=name, failure=exc.failure, facts=facts)
    facts |= _facts(entry)
    try:
        definition = _definition(entry)
    except _BrokenError as exc:
        return Found(key=name, failure=exc.failure, facts=facts)
    try:
        executor = HttpExecutor(url=_endpoint(entry, connection), source=connection.source)
    except _BrokenError as exc:
        return Found(key=name, definition=definition, failure=exc.failure, facts=facts)
    return Found(key=name, definition=definition, executor=executor, failure=_illness(facts), facts=facts)


def _wanted(name: str, connection: Connection) -> object:
    versions = connection.settings.get("versions")
    return versions.get(name, "") if isinstance(versions, Mapping) else ""


def _chosen(entries: list[Any], wanted: object) -> Entry:
    offered = [entry for entry in entries if isinstance(entry, Mapping)]
    if not offered:
        raise _BrokenError("discover", "definition_invalid", "the entry is no object")
    standing = [entry for entry in offered if entry.get("status") != "withdrawn"]
    if not standing:
        raise _BrokenError("verify", "withdrawn", "the registry has withdrawn every version of the tool")
    fitting = [entry for entry in standing if _fits(_version(entry), wanted)] if wanted else standing
    if not fitting:
        raise _BrokenError("verify", "version_not_offered", f"no version of the tool fits `{wanted}`")
    return max(fitting, key=lambda entry: _rank(_version(entry)))


def _version(entry: Any) -> str:
    return plain_text(entry.get("version"), 64) if isinstance(entry, Mapping) else ""


def _rank(version: str) -> tuple[bool, bool, Version]:
    """Order versions: finished ones over drafts, drafts over what is no version at all."""
    try:
        read = Version(version)
    except InvalidVersion:
        return (False, False, Version("0"))
    return (not read.is_prerelease, True, read)


def _fits(version: str, wanted: object) -> bool:
    if not isinstance(wanted, str):
        return False
    if version == wanted:
        return True
    try:
        return Version(version) in SpecifierSet(wanted)
    except (InvalidVersion, InvalidSpecifier):
        return False


def _facts(entry: Entry) -> dict[str, Any]:
    health = entry.get("health")
    health = health if isinstance(health, Mapping) else {}
    status, state = entry.get("status"), health.get("status")
    return {
        "status": status if isinstance(status, str) and status in STATUSES else "active",
        "health": state if isinstance(state, str) and state in HEALTH else "",
        "health_message": plain_text(health.get("message"), REMARK_CHARACTERS),
    }


def _definition(entry: Entry) -> Definition:
    try:
        definition = with_packaged_formats(admit_definition(entry, beside=BESIDE))
    except DefinitionInvalidError as exc:
        mistakes = "; ".join(f"`{each['path']}` {each['message']}" for each in exc.details[:3])
        raise _BrokenError("verify", exc.code, plain_text(f"{exc.message}: {mistakes}", REMARK_CHARACTERS)) from exc
    if _names_secret(definition.config):
        # our secrets would go wherever the registry says
        raise _BrokenError("verify", "secret_not_allowed", "the definition asks for a secret of this installation")
    return definition


def _names_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return SECRET in value or any(_names_secret(each) for each in value.values())
    return isinstance(value, list | tuple) and any(_names_secret(each) for each in value)


def _endpoint(entry: Entry, connection: Connection) -> str:
    endpoint = entry.get("endpoint")
    if not isinstance(endpoint, str) or not endpoint:
        raise _BrokenError("verify", "endpoint_missing", "the entry names no `endpoint` to call")
    try:
        url = urljoin(connection.url, endpoint)
        check_url(url, connection.rules)
    except UrlRefusedError as exc:
        raise _BrokenError("verify", "endpoint_refused", f"the tool's address may not be used: {exc.message}") from exc
    except ValueError as exc:
        raise _BrokenError("verify", "endpoint_refused", f"the tool's address cannot be read: {exc}") from exc
    return url


def _illness(facts: Mapping[str, Any]) -> Failure | None:
    if facts["health"] != "down":
        return None
    cause = f": {facts['health_message']}" if facts["health_message"] else ""
    return Failure(stage="initialise", code="unhealthy", message=f"the registry says that the tool is down{cause}")
