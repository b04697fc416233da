"""How a source of tools is reached: its address or command, its secrets in clear, and where it may lead.

Records hold settings with `{"$secret": "name"}` and sealed secrets; a `Connection` is what both make together. It lives
for one look or one call and is never stored or logged.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from apps.firewall.errors import FirewallError
from apps.firewall.redaction.names import is_secret_name
from apps.firewall.tools.signing import ALGORITHMS, Signing, signing_problem

Problem: TypeAlias = dict[str, str]

SECRET: Final = "$secret"  # noqa: S105 (the member that names a secret)
HIDDEN: Final = "***"
HIDDEN_LETTERS: Final = 6
DEFAULT_PORTS: Final = (80, 443)
OUR_HEADERS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding", "upgrade"}
)


class SourceUnknownError(FirewallError):
    """No source of this key exists in the environment, or it is switched off."""

    code = "source_unknown"


class ConnectionInvalidError(FirewallError):
    """Settings that make no connection; `details` lists every mistake as `{"path", "code", "message"}`."""

    code = "connection_invalid"

    def __init__(self, message: str, details: list[Problem]) -> None:
        super().__init__(message)
        self.details = details


class SecretMissingError(FirewallError):
    """Settings name a secret that the source does not hold."""

    code = "secret_missing"


class Secrets(Mapping[str, str]):
    """Texts by name that never show themselves: neither in `repr`, nor in a log, nor as JSON."""

    __slots__ = ("_texts",)

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = dict(texts or {})

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self._texts))})"

    def __reduce__(self) -> Any:
        raise TypeError("secrets are not pickled")


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRules:
    """Where a connection may lead.

    Args:
        domains_allowed: names, or `*.example.com` for all below one; empty allows every name that is not denied.
        domains_denied: the same, and it wins.
        networks_allowed: ranges such as `10.1.0.0/16` that may be reached although they are not public.
        ports: that may be used.
        schemes: `https`, and `http` where a token in clear does no harm.
    """

    domains_allowed: tuple[str, ...] = ()
    domains_denied: tuple[str, ...] = ()
    networks_allowed: tuple[str, ...] = ()
    ports: tuple[int, ...] = DEFAULT_PORTS
    schemes: tuple[str, ...] = ("https", "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One source as it is reached now.

    Args:
        source: its key.
        kind: as records name it: `remote`, `mcp_http`, `mcp_stdio`, …
        url: where a registry or a server answers; empty for the others.
        headers: sent with each request, the token among them.
        command, env, cwd: of a server that is a process of its own; `cwd` is absolute or empty.
        secrets: of the source, for configs of tools that name them.
        ca: certificates in PEM, the only ones to trust; empty trusts those of the system.
        settings: all of them as the record has them, secrets by name.
        closed: folders that no process of a source may read, nor a folder around them.
    """

    source: str
    kind: str
    url: str = ""
    headers: Secrets = field(default_factory=Secrets)
    command: tuple[str, ...] = ()
    env: Secrets = field(default_factory=Secrets)
    cwd: str = ""
    secrets: Secrets = field(default_factory=Secrets)
    signing: Signing | None = None
    rules: AddressRules = field(default_factory=AddressRules)
    ca: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    closed: tuple[str, ...] = ()

    @property
    def sealed_texts(self) -> tuple[str, ...]:
        """Everything that is kept sealed for the source."""
        return (*self.secrets.values(), *self.env.values(), *self.headers.values())


class Connections(Protocol):
    """Where executors get connections from; the registry fills it."""

    async def connection(self, environment: str, source: str) -> Connection:
        """Give the connection of a source as it is set now.

        Raises:
            SourceUnknownError, ConnectionInvalidError, SecretMissingError.
        """


def fill_secrets(document: Any, secrets: Mapping[str, str]) -> Any:
    """Copy a JSON document with each `{"$secret": "name"}` replaced by the text of that name.

    Raises:
        SecretMissingError: there is no such secret.
    """
    if isinstance(document, Mapping):
        name = document.get(SECRET)
        if len(document) == 1 and isinstance(name, str):
            if name not in secrets:
                raise SecretMissingError(f"the secret `{name}` is not set")
            return secrets[name]
        return {member: fill_secrets(value, secrets) for member, value in document.items()}
    if isinstance(document, list | tuple):
        return [fill_secrets(each, secrets) for each in document]
    return document


def secret_texts(secrets: Mapping[str, str]) -> tuple[str, ...]:
    """Give the texts among a source's sealed ones that are secrets: `headers.Accept` and `env.LOG_LEVEL` are not."""
    return tuple(
        text
        for name, text in secrets.items()
        if not name.startswith(("headers.", "env.")) or is_secret_name(name.partition(".")[2])
    )


def hidden(text: str, secrets: Iterable[str], *, least: int = HIDDEN_LETTERS) -> str:
    """Take the secrets of a source out of what it says: it may say them back, and it is shown and recorded.

    Args:
        secrets: texts; of a header such as `Bearer …` its last word counts, too.
        least: letters of a text that is taken out; shorter ones stay.
    """
    for secret in secrets:
        for part in (secret, secret.rpartition(" ")[2]):
            text = text.replace(part, HIDDEN) if len(part) >= least else text
    return text


def read_connection(*, source: str, kind: str, settings: Mapping[str, Any], secrets: Mapping[str, str]) -> Connection:
    """Make a connection of a record's settings and its unsealed secrets.

    Args:
        settings: any of `url`, `headers`, `auth_token`, `command` (a list, the program first), `env`, `cwd`, `ca`,
            `signing` (`algorithm`, `key`, `key_id`), `allow_domains`, `deny_domains`, `allow_networks`, `ports`,
            `schemes`; members of other names are left to whoever knows the kind. Where no ports are given, that of
            the URL is allowed besides the usual ones.
    Raises:
        ConnectionInvalidError: with every mistake.
        SecretMissingError: a named secret is not there.
    """
    reader = _Reader(fill_secrets(settings, secrets))
    token = reader.text("auth_token")
    headers = reader.texts("headers") | ({"Authorization": f"Bearer {token}"} if token else {})
    connection = Connection(
        source=source,
        kind=kind,
        url=reader.text("url"),
        headers=Secrets(reader.sendable(headers)),
        command=reader.listed("command"),
        env=Secrets(reader.texts("env")),
        cwd=reader.text("cwd"),
        secrets=Secrets(secrets),
        signing=reader.signing(),
        rules=reader.rules(),
        ca=reader.text("ca"),
        settings=settings,
    )
    if reader.problems:
        raise ConnectionInvalidError(f"the settings of the source `{source}` cannot be used", reader.problems)
    return connection


class _Reader:
    """Takes members of settings by type and collects what is wrong with them."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.problems: list[Problem] = []

    def wrong(self, path: str, message: str, code: str = "bad_type") -> None:
        self.problems.append({"path": path, "code": code, "message": message})

    def text(self, name: str) -> str:
        value = self.settings.get(name) or ""
        if not isinstance(value, str):
            self.wrong(name, "must be a text")
            return ""
        return value

    def texts(self, name: str) -> dict[str, str]:
        value = self.settings.get(name) or {}
        if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in [*value, *value.values()]):
            self.wrong(name, "must be an object of texts")
            return {}
        return dict(value)

    def listed(self, name: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        value = self.settings.get(name)
        if value is None:
            return tuple(default)
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) and each for each in value):
            self.wrong(name, "must be a list of texts")
            return ()
        return tuple(value)

    def sendable(self, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
                self.wrong("headers", f"`{name}` is no name of a header", "bad_value")
            if name.lower() in OUR_HEADERS or name.lower().startswith("openclaw-"):
                self.wrong(f"headers.{name}", "is set by the connection itself", "bad_value")
            if not (value.isascii() and value.isprintable()):  # the value stays unsaid: it may be a secret
                where = "auth_token" if name == "Authorization" else f"headers.{name}"
                self.wrong(where, "must be printable ASCII", "bad_value")
        return headers

    def signing(self) -> Signing | None:
        value = self.settings.get("signing")
        if value is None:
            return None
        if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value.values()):
            self.wrong("signing", "must be an object of texts")
            return None
        if value.get("algorithm") not in ALGORITHMS:
            self.wrong("signing.algorithm", f"must be one of {', '.join(ALGORITHMS)}", "bad_value")
            return None
        if not value.get("key"):
            self.wrong("signing.key", "is required", "required_field_missing")
            return None
        signing = Signing(algorithm=value["algorithm"], key=value["key"], key_id=value.get("key_id", ""))
        problem = signing_problem(signing)
        if problem is not None:
            self.wrong("signing", problem, "bad_value")
        return signing

    def _own_port(self) -> tuple[int, ...]:
        try:
            port = urlsplit(self.text("url")).port
        except ValueError:  # the connector says what is wrong with it
            return ()
        return (port,) if port else ()

    def rules(self) -> AddressRules:
        networks = self.listed("allow_networks")
        for position, network in enumerate(networks):
            try:
                ipaddress.ip_network(network)
            except ValueError as exc:
                self.wrong(f"allow_networks[{position}]", str(exc), "bad_value")
        ports = self.settings.get("ports") or (*DEFAULT_PORTS, *self._own_port())
        if not isinstance(ports, list | tuple) or not all(type(each) is int and 0 < each < 65536 for each in ports):
            self.wrong("ports", "must be a list of numbers from 1 to 65535")
            ports = DEFAULT_PORTS
        schemes = self.listed("schemes", ("https", "http"))
        if not set(schemes) <= {"https", "http"}:
            self.wrong("schemes", "must be of https and http", "bad_value")
        return AddressRules(
            domains_allowed=self.listed("allow_domains"),
            domains_denied=self.listed("deny_domains"),
            networks_allowed=networks,
            ports=tuple(ports),
            schemes=schemes,
        )
