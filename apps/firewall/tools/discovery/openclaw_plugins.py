"""Looks for OpenClaw plugins in folders: what their manifests, `openclaw.plugin.json`, say of their tools.

A manifest names tools and says which are optional; what they take and do only the plugin's code knows, which OpenClaw
runs and we never do. Such a tool takes any parameters here: it is known by name, for policies, approvals and records.
A `tools` list with whole definitions is read too, should a manifest have one.

Source: OpenClaw's documentation, "Plugin manifest", `contracts.tools` and `toolMetadata`.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import json5

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import DefinitionInvalidError, read_definition
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.firewall.tools.remote_json import plain_text

MANIFEST: Final = "openclaw.plugin.json"
DEPTH: Final = 4
FOLDERS_LIMIT: Final = 20_000
MANIFEST_LIMIT_BYTES: Final = 256 * 1024
LOOSE_LIMIT_BYTES: Final = 32 * 1024  # what reads JSON5 takes seconds for more
TOOLS_LIMIT: Final = 500
TEXT_LETTERS: Final = 1_000
SECTION: Final = "plugins"


class ManifestRefusedError(FirewallError):
    """A manifest, or a folder of plugins, that cannot be used."""

    code = "manifest_invalid"


async def look_openclaw_plugins(connection: Connection) -> Look:
    """Look through folders for plugins.

    Args:
        connection: its settings hold `scan_directories`, absolute paths of folders that hold plugins, at most `DEPTH`
            levels below; `node_modules` below a plugin is left out, links are not followed.
    """
    folders = connection.settings.get("scan_directories") or ()
    return await asyncio.to_thread(_look, [each for each in folders if isinstance(each, str)])


def _look(folders: Sequence[str]) -> Look:
    found: list[Found] = []
    seen: set[str] = set()
    try:
        for path in (path for folder in folders for path in _manifests(folder)):
            found.extend(_of_manifest(path, seen))
    except ManifestRefusedError as exc:
        return Look(failure=Failure(stage="discover", code="folder_refused", message=exc.message))
    return Look(found=tuple(found))


def _manifests(folder: str) -> Iterator[Path]:
    root = Path(folder)
    if not root.is_absolute() or not root.is_dir():
        raise ManifestRefusedError(f"`{folder}` is no folder")
    for count, (where, folders, files) in enumerate(os.walk(root)):
        if count > FOLDERS_LIMIT:
            raise ManifestRefusedError(f"`{folder}` holds more than {FOLDERS_LIMIT} folders")
        if MANIFEST in files:
            yield Path(where, MANIFEST)
            folders.clear()  # what lies below belongs to the plugin
        elif len(Path(where).relative_to(root).parts) >= DEPTH:
            folders.clear()
        folders[:] = sorted(each for each in folders if not each.startswith("."))


def _of_manifest(path: Path, seen: set[str]) -> list[Found]:
    place = str(path)
    try:
        manifest = _read(path)
        plugin = _plugin_id(manifest, seen)
    except ManifestRefusedError as exc:
        failure = Failure(stage="verify", code=exc.code, message=exc.message)
        return [Found(key=place, failure=failure, facts={"file": place})]
    facts = {
        "file": place,
        "plugin_name": plain_text(manifest.get("name"), 200),
        "plugin_description": plain_text(manifest.get("description"), TEXT_LETTERS),
        "plugin_version": plain_text(manifest.get("version"), 64),
    }
    facts = {name: text for name, text in facts.items() if text}
    return [_found(each, plugin, manifest, facts) for each in _declared(manifest)]


def _read(path: Path) -> Mapping[str, Any]:
    """Read a manifest; OpenClaw takes comments, trailing commas and bare keys in it."""
    try:
        with path.open("rb") as file:
            content = file.read(MANIFEST_LIMIT_BYTES + 1)
    except OSError as exc:
        raise ManifestRefusedError(f"it cannot be read: {(exc.strerror or 'unknown').lower()}") from exc
    if len(content) > MANIFEST_LIMIT_BYTES:
        raise ManifestRefusedError(f"it has more than {MANIFEST_LIMIT_BYTES} bytes")
    try:
        text = content.decode()
        try:
            manifest = json.loads(text)
        except ValueError:
            if len(content) > LOOSE_LIMIT_BYTES:
                raise
            manifest = json5.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ManifestRefusedError(f"it is no JSON5: {plain_text(str(exc), 200)}") from exc
    if not isinstance(manifest, dict):
        raise ManifestRefusedError("it holds no object")
    return manifest


def _plugin_id(manifest: Mapping[str, Any], seen: set[str]) -> str:
    plugin = manifest.get("id")
    if not isinstance(plugin, str) or not plugin.strip() or plain_text(plugin, 128) != plugin:
        raise ManifestRefusedError("`id` must be a text of 1 to 128 letters")
    if not isinstance(manifest.get("configSchema"), dict):
        raise ManifestRefusedError("`configSchema` is required: OpenClaw does not load the plugin without")
    if plugin.lower() in seen:
        raise ManifestRefusedError(f"another plugin has the id `{plugin}` already")
    seen.add(plugin.lower())
    return plugin


def _declared(manifest: Mapping[str, Any]) -> list[Any]:
    """List what a manifest declares, each tool once: a name, or an object with one."""
    contracts = manifest.get("contracts")
    names = contracts.get("tools") if isinstance(contracts, Mapping) else None
    whole = manifest.get("tools")
    declared: dict[str, Any] = {}
    for entry in [*(names if isinstance(names, list) else ()), *(whole if isinstance(whole, list) else ())]:
        name = entry.get("name") if isinstance(entry, Mapping) else entry
        declared[str(name)] = entry
    return list(declared.values())[:TOOLS_LIMIT]


def _found(entry: Any, plugin: str, manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> Found:
    name = entry.get("name") if isinstance(entry, Mapping) else entry
    key = f"{facts['file']}:{plain_text(name, 128) or 'a tool without a name'}"
    metadata = _metadata(manifest, name)
    is_optional = metadata.get("optional") is True or (isinstance(entry, Mapping) and entry.get("optional") is True)
    try:
        definition = _definition(entry, metadata)
    except DefinitionInvalidError as exc:
        details = "; ".join(f"{each['path']}: {each['message']}" for each in exc.details[:5])
        failure = Failure(stage="verify", code=exc.code, message=details or exc.message)
        return Found(key=key, plugin=plugin, is_optional=is_optional, failure=failure, facts=facts)
    return Found(key=key, definition=definition, plugin=plugin, is_optional=is_optional, facts=facts)


def _definition(entry: Any, metadata: Mapping[str, Any]) -> Definition:
    document = dict(entry) if isinstance(entry, Mapping) else {"name": entry}
    if isinstance(document.get("name"), str):
        document["name"] = document["name"].strip().lower()
    tags = [tag for name, tag in _HINTS.items() if metadata.get(name) is True]
    return read_definition({"section": SECTION, "tags": tags, "idempotent": "replay-safe" in tags, **document})


_HINTS: Final[Mapping[str, str]] = {"replaySafe": "replay-safe", "sideEffecting": "side-effecting"}
"""What the manifest says of how a tool behaves -> our tag for it."""


def _metadata(manifest: Mapping[str, Any], name: Any) -> Mapping[str, Any]:
    every = manifest.get("toolMetadata")
    found = every.get(name) if isinstance(every, Mapping) and isinstance(name, str) else None
    return found if isinstance(found, Mapping) else {}
