"""What a discovery source is told, by its kind: one table of settings, checked with paths; secrets sealed apart.

A setting that may hold a secret never stays in clear: what is given as plain text is sealed, and `{"$secret": "name"}`
stands in its place.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.firewall.redaction.masks import mask_of
from apps.firewall.tools.connections import (
    SECRET,
    Connection,
    ConnectionInvalidError,
    Problem,
    SecretMissingError,
    fill_secrets,
    read_connection,
)
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.hosts import address_problems
from apps.keys.installation import mask_key
from apps.keys.seal import seal, unseal
from apps.registry.config_settings import is_reference, sealed_config
from apps.registry.databases import database_places
from apps.registry.errors import SourceInvalidError
from apps.registry.models import DiscoverySource, Hook, HookKind, SourceKind
from apps.registry.setting_shapes import SHAPES, setting_problem

SECRET_LIMIT: Final = 16_000
DEFAULT_GROUP: Final = "openclaw.tools"
PURPOSE: Final = "registry.source_secrets"


Sealed = DiscoverySource | Hook
"""A record with settings, and with the secrets that they name sealed apart."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a kind of source.

    Args:
        name: the member of `settings`.
        shape: `text`, `url`, `path`, `paths`, `texts`, `number`, `numbers`, `flag`, `named` (texts by name), `counts`
            (whole numbers by name), `signing` or `config` (a JSON object).
        label, hint: for people.
        is_required: the source cannot be looked through without it.
        is_secret: its text, or each of its texts, is kept sealed.
        default: what holds when it is absent.
    """

    name: str
    shape: str
    label: Any
    hint: Any = ""
    is_required: bool = False
    is_secret: bool = False
    default: Any = None


_PATH = Setting("path", "path", gettext_lazy("File"), gettext_lazy("Absolute path of the YAML file"), is_required=True)
_SCAN = Setting("scan_directories", "paths", gettext_lazy("Folders"), gettext_lazy("Absolute paths"), is_required=True)
_TRUST = Setting(
    "trust_code",
    "flag",
    gettext_lazy("Trust the code of this place"),
    gettext_lazy("Changed code runs with the next call, and nobody is asked; otherwise its digest is pinned"),
    default=False,
)
_PATTERNS = Setting(
    "patterns", "texts", gettext_lazy("Patterns"), gettext_lazy("Names of files"), default=["tool_*.py", "*_tool.py"]
)
_GROUP = Setting("group", "text", gettext_lazy("Entry point group"), default=DEFAULT_GROUP)
_INSTALLED = Setting(
    "scan_directories", "paths", gettext_lazy("Folders"), gettext_lazy("That pip install --target has filled")
)
_VERSIONS = Setting("versions", "named", gettext_lazy("Versions"), gettext_lazy("By the name of the tool, such as <2"))
_USAGE = Setting("usage_url", "url", gettext_lazy("Address for usage figures"))
_START = Setting("start_timeout_ms", "number", gettext_lazy("Time to start (ms)"))
_LIMITS = Setting("limits", "counts", gettext_lazy("Limits of the process"))
_URL = Setting("url", "url", gettext_lazy("Address"), is_required=True)
_TOKEN = Setting("auth_token", "text", gettext_lazy("Token"), is_secret=True)
_HEADERS = Setting("headers", "named", gettext_lazy("Headers"), is_secret=True)
_CA = Setting("ca", "text", gettext_lazy("Certificates"), gettext_lazy("PEM; the only ones to trust"))
_COMMAND = Setting("command", "texts", gettext_lazy("Command"), gettext_lazy("The program first"), is_required=True)
_ENV = Setting("env", "named", gettext_lazy("Environment variables"), is_secret=True)
_CWD = Setting("cwd", "path", gettext_lazy("Folder the command starts in"))
_NETWORK = Setting("network", "flag", gettext_lazy("May use the network"), default=False)
_PATHS = Setting("paths", "paths", gettext_lazy("Folders the command may use"))
_SIGNING = Setting("signing", "signing", gettext_lazy("Signature of requests"), is_secret=True)
_ENTRY = Setting("entry_point", "text", gettext_lazy("Entry point"), gettext_lazy("package:name"), is_required=True)
_CONFIG = Setting(
    "config",
    "config",
    gettext_lazy("Config of the plugin"),
    gettext_lazy("A JSON object; texts under names such as token or password are sealed"),
)
_ANSWER_KEY = Setting(
    "answer_key", "text", gettext_lazy("Public key of answers"), gettext_lazy("Where requests are signed with Ed25519")
)
_ADDRESSES: Final = (
    Setting("allow_domains", "texts", gettext_lazy("Allowed domains")),
    Setting("deny_domains", "texts", gettext_lazy("Denied domains")),
    Setting("allow_networks", "texts", gettext_lazy("Allowed private networks"), gettext_lazy("Such as 10.1.0.0/16")),
    Setting("ports", "numbers", gettext_lazy("Ports")),
    Setting("schemes", "texts", gettext_lazy("Schemes")),
)
_READ_FOLDERS = Setting(
    "read_folders", "paths", gettext_lazy("Folders to read"), gettext_lazy("Absolute paths, besides each workspace")
)
_WRITE_FOLDERS = Setting(
    "write_folders", "paths", gettext_lazy("Folders to read and write"), gettext_lazy("Absolute paths")
)
_DENIED_FILES = Setting(
    "deny_patterns", "texts", gettext_lazy("Denied files"), gettext_lazy("Patterns such as *.pem, .git or private/*")
)
_COMMANDS = Setting(
    "commands", "texts", gettext_lazy("Allowed commands"), gettext_lazy("Names; empty allows what the policy allows")
)
_DENIED_COMMANDS = Setting("deny_commands", "texts", gettext_lazy("Denied commands"), gettext_lazy("Names"))
_DENIED_LINES = Setting(
    "deny_patterns", "texts", gettext_lazy("Denied patterns"), gettext_lazy("Regular expressions, of the whole command")
)
_BROWSER_MEMORY = Setting(
    "memory_mb",
    "number",
    gettext_lazy("Memory of a browser (MB)"),
    gettext_lazy("1,024 when empty, 512 at least; more than other tools may have"),
)
_BROWSER_CA = Setting(
    "ca", "text", gettext_lazy("Certificates"), gettext_lazy("PEM; trusted beside those that the browser knows")
)
_HOST = Setting("host", "text", gettext_lazy("Mail server"), is_required=True)
_PORT = Setting("port", "number", gettext_lazy("Port"), gettext_lazy("587, or 465 with tls, when empty"))
_SECURITY = Setting(
    "security", "text", gettext_lazy("Encryption"), gettext_lazy("starttls, tls or none"), default="starttls"
)
_USERNAME = Setting("username", "text", gettext_lazy("User name"))
_PASSWORD = Setting("password", "text", gettext_lazy("Password"), is_secret=True)
_SENDER = Setting(
    "sender", "text", gettext_lazy("Sender address"), gettext_lazy("Address without a name"), is_required=True
)
_RECIPIENTS = Setting(
    "recipients",
    "texts",
    gettext_lazy("Allowed recipients"),
    gettext_lazy("Addresses, or patterns such as *@example.com"),
    is_required=True,
)
_DRY_RUN = Setting("dry_run", "flag", gettext_lazy("Only show mails, send none"), default=False)
_DATABASES = Setting(
    "databases",
    "named",
    gettext_lazy("Databases"),
    gettext_lazy("postgresql://… by name; use logins that may only read"),
    is_required=True,
    is_secret=True,
)
_ROW_LIMIT = Setting("row_limit", "number", gettext_lazy("Rows at most"), gettext_lazy("1,000 when empty"))
_TIMEOUT = Setting("timeout_ms", "number", gettext_lazy("Time limit (ms)"), gettext_lazy("10,000 when empty"))

_PERMISSIONS = Setting(
    "permissions",
    "flag",
    gettext_lazy("Calls need grants of permissions"),
    gettext_lazy("For the path, the domain or the database that they name"),
    default=False,
)

SETTINGS: Final[Mapping[str, tuple[Setting, ...]]] = {
    SourceKind.FILE: (_PATH, _TRUST),
    SourceKind.FOLDER: (_SCAN, _PATTERNS, _TRUST),
    SourceKind.ENTRY_POINTS: (_GROUP, _INSTALLED, _TRUST),
    SourceKind.REMOTE: (_URL, _TOKEN, _HEADERS, _SIGNING, _VERSIONS, _USAGE, _CA, *_ADDRESSES),
    SourceKind.MCP_STDIO: (_COMMAND, _ENV, _CWD, _PATHS, _NETWORK, _LIMITS, _START),
    SourceKind.MCP_HTTP: (_URL, _TOKEN, _HEADERS, _CA, *_ADDRESSES, _START),
    SourceKind.OPENCLAW_PLUGINS: (_SCAN,),
    SourceKind.OWN_FILES: (_READ_FOLDERS, _WRITE_FOLDERS, _DENIED_FILES, _PERMISSIONS),
    SourceKind.OWN_SHELL: (_COMMANDS, _DENIED_COMMANDS, _DENIED_LINES, _PERMISSIONS),
    SourceKind.OWN_HTTP: (_CA, *_ADDRESSES, _PERMISSIONS),
    SourceKind.OWN_BROWSER: (*_ADDRESSES[:2], _BROWSER_MEMORY, *_ADDRESSES[2:], _BROWSER_CA, _PERMISSIONS),
    SourceKind.OWN_EMAIL: (
        *(_HOST, _PORT, _SECURITY, _USERNAME, _PASSWORD, _SENDER, _RECIPIENTS, _DRY_RUN, _CA),
        *_ADDRESSES[:3],
        _PERMISSIONS,
    ),
    SourceKind.OWN_DATABASES: (_DATABASES, _ROW_LIMIT, _TIMEOUT, *_ADDRESSES[:3], _PERMISSIONS),
    HookKind.PYTHON: (_ENTRY, _CONFIG, _INSTALLED, _NETWORK),
    HookKind.WEBHOOK: (
        _URL,
        replace(_SIGNING, is_required=True),
        _ANSWER_KEY,
        _TOKEN,
        _HEADERS,
        _CA,
        *_ADDRESSES,
    ),
}
"""Kind of source or of hook -> its settings."""


@dataclass(frozen=True, slots=True)
class SecretShown:
    """What people see of a secret: its name, length and keyed hash."""

    name: str
    length: int
    hash: str


def checked_settings(
    kind: str, settings: Mapping[str, Any], secrets: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Check settings and take the secrets out of them.

    Args:
        secrets: texts by the names that `{"$secret": "name"}` uses.
    Returns:
        The settings as they are stored, and the secrets: those that they name, and those meant for configs of tools.
    Raises:
        SourceInvalidError: every mistake, `settings.` before its path.
    """
    known = {setting.name: setting for setting in SETTINGS[kind]}
    problems = [
        setting_problem(name, "unknown_field", _("this kind of source has no such setting"))
        for name in settings
        if name not in known
    ]
    stored: dict[str, Any] = {}
    kept = dict(secrets)
    for setting in known.values():
        value = settings.get(setting.name)
        if _is_empty(value):
            if setting.is_required:
                problems.append(setting_problem(setting.name, "required_field_missing", _("is required")))
            continue
        if setting.is_secret:
            value = _sealed_apart(value, setting.name, kept)
        if setting.shape == "config":
            value = sealed_config(value, setting.name, kept)
            missing = [name for name in _references(value) if name not in kept]
            unknown = _("names a secret that is not there: %(name)s")
            problems += [setting_problem(setting.name, "secret_missing", unknown % {"name": each}) for each in missing]
        found = [] if is_reference(value) else SHAPES[setting.shape](value, setting.name)
        problems += found
        stored[setting.name] = value
    problems += _secret_problems(kept)
    if not problems:
        problems += _connection_problems(kind, stored, kept)
    if problems:
        raise SourceInvalidError(_("the settings of the source cannot be used: see details"), _in_settings(problems))
    named = {*_references(stored), *(name for name in kept if name.partition(".")[0] not in known)}
    return stored, {name: text for name, text in kept.items() if name in named}


def seal_secrets(secrets: Mapping[str, str]) -> bytes:
    """Seal texts by name; nothing for none."""
    return seal(json.dumps(dict(secrets)).encode(), purpose=PURPOSE) if secrets else b""


def source_secrets(source: Sealed) -> dict[str, str]:
    """Open the secrets of a source. Hand them to a connection, to nothing else.

    Raises:
        UnsealError: another key than the one they were sealed with.
    """
    sealed = bytes(source.secrets or b"")
    texts: dict[str, str] = json.loads(unseal(sealed, purpose=PURPOSE)) if sealed else {}
    return texts


def secrets_shown(source: Sealed) -> tuple[SecretShown, ...]:
    """Tell which secrets a source has, by length and keyed hash."""
    key = mask_key()
    return tuple(
        SecretShown(name, len(text), mask_of(text, key=key)[1]) for name, text in sorted(source_secrets(source).items())
    )


def source_connection(source: Sealed) -> Connection:
    """Make the connection of a source as it is set now; keys and records of this installation are closed to it.

    Raises:
        ConnectionInvalidError, SecretMissingError, UnsealError.
    """
    connection = read_connection(
        source=source.key, kind=source.kind, settings=source.settings, secrets=source_secrets(source)
    )
    return replace(connection, closed=(str(settings.VAR_DIR), str(settings.KEYS_DIR)))


def setting_of(source: Sealed, name: str) -> Any:
    """Give one setting, or what holds when it is absent."""
    default = next((setting.default for setting in SETTINGS[source.kind] if setting.name == name), None)
    return source.settings.get(name, default)


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value == [] or value == {}


def _sealed_apart(value: Any, name: str, kept: dict[str, str]) -> Any:
    """Put a reference where a secret stood; of the signature only the key is one."""
    if isinstance(value, str):
        kept[name] = value
        return {SECRET: name}
    if not isinstance(value, Mapping) or is_reference(value):
        return value
    return {
        member: _sealed_apart(each, f"{name}.{member}", kept)
        if isinstance(each, str) and (name != "signing" or member == "key")
        else each
        for member, each in value.items()
    }


def _references(value: Any) -> list[str]:
    if is_reference(value):
        return [value[SECRET]]
    if isinstance(value, Mapping):
        return [name for each in value.values() for name in _references(each)]
    if isinstance(value, list):
        return [name for each in value for name in _references(each)]
    return []


def _secret_problems(secrets: Mapping[str, str]) -> list[Problem]:
    return [
        setting_problem(
            f"secrets.{name}", "bad_value", _("must be a text of 1 to %(limit)s letters") % {"limit": SECRET_LIMIT}
        )
        for name, text in secrets.items()
        if not isinstance(text, str) or not 0 < len(text) <= SECRET_LIMIT
    ]


def _connection_problems(kind: str, settings: Mapping[str, Any], secrets: Mapping[str, str]) -> list[Problem]:
    try:
        connection = read_connection(source="", kind=kind, settings=settings, secrets=secrets)
        hosts = list(_hosts_of(fill_secrets(settings, secrets)))
    except ConnectionInvalidError as exc:
        return exc.details
    except SecretMissingError as exc:
        return [setting_problem("secrets", exc.code, exc.message)]
    except UrlRefusedError as exc:
        return [setting_problem("databases", exc.code, exc.message)]
    return address_problems(connection, hosts)


def _hosts_of(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List the hosts that settings name besides addresses of HTTP, each with its setting."""
    if isinstance(settings.get("host"), str):
        yield "host", settings["host"]
    databases = settings.get("databases")
    for name, dsn in (databases if isinstance(databases, Mapping) else {}).items():
        for place in database_places(str(dsn)):
            if not (place.host or place.address) or place.host.startswith(("/", "@")):
                raise UrlRefusedError(f"the address of `{name}` must name a host: no socket of this machine is reached")
            yield from ((f"databases.{name}", each) for each in (place.host, place.address) if each)


def _in_settings(problems: list[Problem]) -> list[Problem]:
    return [
        {**each, "path": each["path"] if each["path"].startswith("secrets") else f"settings.{each['path']}"}
        for each in problems
    ]
