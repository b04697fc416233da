"""Tools listed in a YAML file, with the folders to scan and the strategy of loading beside them.

    tools:
      - name: weather_get
        module: my_tools.weather
        class: WeatherTool
        enabled: true
        config: {units: metric, api_key: "${WEATHER_KEY}"}
    tool_discovery:
      scan_directories: [/opt/openclaw/tools]
      patterns: ["tool_*.py", "*_tool.py"]
      auto_load: true
    tool_loading:
      strategy: lazy

`${NAME}` alone stands for a variable that the installation allows, or else for the secret NAME of the source; within a
longer text only for an allowed variable; `$${` is a plain `${`. Nothing else of the server's environment can be named.
"""

import asyncio
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import yaml

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import SECRET, Connection, Problem, SecretMissingError, fill_secrets
from apps.firewall.tools.discovery.described import found_in
from apps.firewall.tools.discovery.folder import PATTERNS, PatternRefusedError, places_in, unloaded
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.firewall.tools.loading import Loading, LoadingInvalidError, read_loading
from apps.firewall.tools.python_tools import FolderRefusedError, HostError, Place, PythonTools

FILE_LIMIT_BYTES: Final = 1024 * 1024
TOOLS_LIMIT: Final = 2000
_VARIABLE: Final = re.compile(r"\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class ToolFileInvalidError(FirewallError):
    """A tool file that cannot be used; `details` lists every mistake as `{"path", "code", "message"}`."""

    code = "tool_file_invalid"

    def __init__(self, message: str, details: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.details = list(details)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """One entry of `tools`; `attribute` is what the file calls `class`: a class, a decorated function or a factory."""

    name: str
    module: str
    attribute: str = ""
    enabled: bool = True
    config: Mapping[str, Any] = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFile:
    """What a tool file says; `remote_registry` is `{"url", "auth_token", "sync_interval"}` or empty."""

    tools: tuple[ListedTool, ...] = ()
    scan_directories: tuple[str, ...] = ()
    patterns: tuple[str, ...] = PATTERNS
    auto_load: bool = True
    remote_registry: Mapping[str, Any] = field(default_factory=dict)
    loading: Loading = field(default_factory=Loading)


async def look_tool_file(
    connection: Connection, *, python: PythonTools, variables: Mapping[str, str] | None = None
) -> Look:
    """Look through a tool file and the folders that it names.

    Args:
        connection: its settings hold `path`; its secrets are what `${NAME}` may stand for.
        variables: name -> text of the variables that the installation allows.
    """
    try:
        path, text = await asyncio.to_thread(_read, connection.settings.get("path"), python)
        listed = read_tool_file(text, folder=path.parent, variables=variables or {})
        folders = tuple(python.check_folder(each) for each in listed.scan_directories)
        scanned = await asyncio.to_thread(places_in, folders, listed.patterns, python) if folders else []
        found = await _found(listed, folders, scanned, connection, python)
    except (ToolFileInvalidError, FolderRefusedError, PatternRefusedError, HostError) as exc:
        details = "; ".join(f"{each['path']}: {each['message']}" for each in getattr(exc, "details", ())[:10])
        message = f"{exc.message}: {details}" if details else exc.message
        return Look(failure=Failure(stage="discover", code=exc.code, message=message[:1000]))
    return Look(found=found)


def read_tool_file(text: str, *, folder: Path, variables: Mapping[str, str]) -> ToolFile:
    """Read a tool file.

    Args:
        folder: that relative `scan_directories` start from.
    Raises:
        ToolFileInvalidError: with every mistake.
    """
    try:
        document = yaml.load(text, Loader=_Loader) or {}  # noqa: S506 - a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise ToolFileInvalidError(f"it is no YAML: {_yaml_problem(exc)}") from exc
    reader = _Reader(variables)
    made = reader.whole(document, folder)
    if reader.problems:
        count = len(reader.problems)
        raise ToolFileInvalidError(f"the file has {count} mistake{'s' * (count != 1)}", reader.problems)
    return made


def _yaml_problem(exc: Exception) -> str:
    """Say what is wrong and where, without the line itself: it may be a file that nobody meant to show."""
    if not isinstance(exc, yaml.MarkedYAMLError):
        return str(exc)[:200] if isinstance(exc, yaml.YAMLError) else type(exc).__name__
    mark = exc.problem_mark
    place = "" if mark is None else f" (line {mark.line + 1}, column {mark.column + 1})"
    return f"{' '.join(str(exc.problem).split())[:200]}{place}"


async def _found(
    listed: ToolFile, folders: Sequence[str], scanned: Sequence[Place], connection: Connection, python: PythonTools
) -> tuple[Found, ...]:
    loading = listed.loading
    found: list[Found] = []
    places: list[Place] = []
    for tool in listed.tools:
        made = _place(tool, loading, folders, connection.secrets)
        (places if isinstance(made, Place) else found).append(made)  # type: ignore[arg-type]
    if listed.auto_load:
        places += scanned
    else:
        found += unloaded(scanned, _failure("load", "auto_load_off", "the file says `auto_load: false`"))
    if listed.remote_registry:
        message = "a file opens no address: make the registry a source of its own"
        found.append(Found(key="remote_registry", failure=_failure("discover", "source_of_its_own", message)))
    keep = loading.max_cache_size if loading.cache_loaded and not loading.is_eager else 0
    described = python.describe(places, is_eager=loading.is_eager, keep=keep)
    trusts_code = bool(connection.settings.get("trust_code"))
    checked = await found_in(described, source=connection.source, trusts_code=trusts_code)
    found += [_with_profiles(each, loading) for each in checked]
    return tuple(found)


def _place(tool: ListedTool, loading: Loading, folders: Sequence[str], secrets: Mapping[str, str]) -> Place | Found:
    if not tool.enabled:
        return Found(key=tool.name, failure=_failure("load", "not_enabled", "the file says `enabled: false`"))
    if not loading.knows(tool.name):
        return Found(key=tool.name, failure=_failure("load", "not_in_a_profile", "no profile of the file names it"))
    try:
        config = fill_secrets(tool.config, secrets)
    except SecretMissingError as exc:
        return Found(key=tool.name, failure=_failure("verify", exc.code, exc.message))
    return Place(
        key=tool.name,
        name=tool.name,
        module=tool.module,
        attribute=tool.attribute,
        folder=next((each for each in folders if _holds(each, tool.module)), ""),
        config=config,
        stored_config=tool.config,
        dependencies=tool.dependencies,
        facts={"module": tool.module},
    )


def _holds(folder: str, module: str) -> bool:
    first = Path(folder, module.partition(".")[0])
    return first.is_dir() or first.with_suffix(".py").is_file()


def _with_profiles(found: Found, loading: Loading) -> Found:
    if found.definition is None or loading.strategy != "on-demand":
        return found
    profiles = loading.profiles_of(found.definition.name)
    if not profiles:
        return replace(found, failure=_failure("load", "not_in_a_profile", "no profile of the file names it"))
    return replace(found, facts={**found.facts, "profiles": list(profiles)})


def _failure(stage: Any, code: str, message: str) -> Failure:
    return Failure(stage=stage, code=code, message=message)


def _read(path: Any, python: PythonTools) -> tuple[Path, str]:
    if not isinstance(path, str) or not path.startswith("/"):
        raise ToolFileInvalidError(f"`{path}` is no absolute path")
    if python.is_closed(path):
        raise FolderRefusedError(f"`{path}` lies in the folder of keys and records")
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):  # a pipe would be waited for
            raise ToolFileInvalidError(f"`{path}` is no file")
        with Path(path).open("rb") as file:
            content = file.read(FILE_LIMIT_BYTES + 1)
        text = content.decode("utf-8")
    except OSError as exc:
        raise ToolFileInvalidError(f"`{path}` cannot be read: {(exc.strerror or 'unknown').lower()}") from exc
    except UnicodeDecodeError as exc:
        raise ToolFileInvalidError(f"`{path}` is not text in UTF-8") from exc
    if len(content) > FILE_LIMIT_BYTES:
        raise ToolFileInvalidError(f"`{path}` has more than {FILE_LIMIT_BYTES} bytes")
    return Path(os.path.realpath(path)), text


class _Loader(yaml.SafeLoader):
    """Plain YAML: no aliases, which can make a small file huge, and no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not used here")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        made = super().construct_mapping(node, deep=deep)
        if len(made) != len(node.value):
            raise yaml.YAMLError(f"a key stands twice in the object at line {node.start_mark.line + 1}")
        return made


class _Reader:
    """Takes a document apart and collects what is wrong with it."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.problems: list[Problem] = []

    def wrong(self, path: str, message: str, code: str = "bad_type") -> None:
        self.problems.append({"path": path, "code": code, "message": message})

    def whole(self, document: Any, folder: Path) -> ToolFile:
        members = self.members(document, "", {"tools", "tool_discovery", "tool_loading"})
        tools = members.get("tools") or []
        if not isinstance(tools, list) or len(tools) > TOOLS_LIMIT:
            self.wrong("tools", f"must be a list of at most {TOOLS_LIMIT}")
            tools = []
        read = [self.tool(each, f"tools[{position}]") for position, each in enumerate(tools)]
        names = [tool.name for tool in read]
        for position, name in enumerate(names):
            if name and name in names[:position]:
                self.wrong(f"tools[{position}].name", f"`{name}` stands twice", "name_taken")
        return replace(
            self.discovery(members.get("tool_discovery"), folder), tools=tuple(read), loading=self.loading(members)
        )

    def tool(self, document: Any, path: str) -> ListedTool:
        members = self.members(
            document, path, {"name", "module", "class", "enabled", "config", "dependencies"}, ("name", "module")
        )
        config = members.get("config") or {}
        if not isinstance(config, Mapping):
            self.wrong(f"{path}.config", "must be an object")
            config = {}
        return ListedTool(
            name=self.text(members, "name", path),
            module=self.text(members, "module", path),
            attribute=self.text(members, "class", path),
            enabled=self.flag(members, "enabled", path),
            config=self.filled(config, f"{path}.config"),
            dependencies=self.texts(members, "dependencies", path),
        )

    def discovery(self, document: Any, folder: Path) -> ToolFile:
        path = "tool_discovery"
        members = self.members(document or {}, path, {"scan_directories", "auto_load", "patterns", "remote_registry"})
        registry = self.members(
            members.get("remote_registry") or {}, f"{path}.remote_registry", {"url", "auth_token", "sync_interval"}
        )
        return ToolFile(
            scan_directories=tuple(str(folder / each) for each in self.texts(members, "scan_directories", path)),
            patterns=self.texts(members, "patterns", path) or PATTERNS,
            auto_load=self.flag(members, "auto_load", path),
            remote_registry=self.filled(registry, f"{path}.remote_registry"),
        )

    def loading(self, members: Mapping[str, Any]) -> Loading:
        try:
            return read_loading(members.get("tool_loading"))
        except LoadingInvalidError as exc:
            self.wrong(f"tool_loading.{exc.path}".rstrip("."), exc.message, "bad_value")
            return Loading()

    def members(self, document: Any, path: str, known: set[str], required: Sequence[str] = ()) -> dict[str, Any]:
        if not isinstance(document, Mapping):
            self.wrong(path, "must be an object")
            return {}
        before = f"{path}." if path else ""
        for name in document:
            if name not in known:
                self.wrong(f"{before}{name}", "is not known here", "unknown_field")
        for name in required:
            if document.get(name) is None:
                self.wrong(f"{before}{name}", "is required", "required_field_missing")
        return {str(name): value for name, value in document.items() if value is not None}

    def text(self, members: Mapping[str, Any], name: str, path: str) -> str:
        value = members.get(name, "")
        if not isinstance(value, str):
            self.wrong(f"{path}.{name}", "must be a text")
            return ""
        return value

    def flag(self, members: Mapping[str, Any], name: str, path: str) -> bool:
        value = members.get(name, True)
        if not isinstance(value, bool):
            self.wrong(f"{path}.{name}", "must be true or false")
            return False
        return value

    def texts(self, members: Mapping[str, Any], name: str, path: str) -> tuple[str, ...]:
        value = members.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            self.wrong(f"{path}.{name}", "must be a list of texts")
            return ()
        return tuple(value)

    def filled(self, value: Any, path: str) -> Any:
        """Copy a document with its variables in place of their names."""
        if isinstance(value, Mapping):
            return {str(name): self.filled(each, f"{path}.{name}") for name, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each, f"{path}[{position}]") for position, each in enumerate(value)]
        if isinstance(value, str):
            return self.filled_text(value, path)
        if value is None or isinstance(value, bool | int | float):
            return value
        self.wrong(path, "must be text, number, true or false; put a date in quotes")
        return None

    def filled_text(self, text: str, path: str) -> Any:
        alone = _VARIABLE.fullmatch(text)
        if alone and not text.startswith("$$") and alone[1] not in self.variables:
            return {SECRET: alone[1]}

        def value_of(match: re.Match[str]) -> str:
            if match[0].startswith("$$"):
                return match[0][1:]
            if match[1] not in self.variables:
                message = f"`${{{match[1]}}}` within a text must be a variable that the installation allows"
                self.wrong(path, message, "variable_unknown")
            return self.variables.get(match[1], "")

        return _VARIABLE.sub(value_of, text)
