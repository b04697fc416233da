"""The tools that a run may use now. Contexts with the same tools share a catalogue, until another snapshot is live."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.bridge import CLIENT
from apps.firewall.runtime.deciding import with_client_tools
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.definition import OPEN_SCHEMA, Definition, schema_digest
from apps.firewall.tools.executors import HttpExecutor, McpExecutor
from apps.firewall.tools.injection import offered_schema
from apps.firewall.tools.search.controls import CONTROL_NAMES
from apps.firewall.tools.search.descriptors import SOURCES, Descriptor, Source
from apps.firewall.tools.search.index import SearchIndex
from apps.firewall.tools.search.selecting import Catalogue

KEPT: Final = 32


@dataclass(frozen=True)
class RunCatalogue:
    """What a run may use.

    Args:
        snapshot: the live one.
        names: permitted tools of the snapshot, in its order, those outside of the catalogue too.
        clients: permitted tools of the caller.
        tools: all of them, to be found by id and name.
        surfaces: what was worked out of how they are offered (`surface.py`).
    """

    snapshot: Snapshot
    names: tuple[str, ...]
    clients: tuple[ToolEntry, ...]
    tools: Catalogue
    surfaces: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def index(self) -> SearchIndex:
        """The words of all of it; takes a moment when it is made."""
        return SearchIndex(self.tools.descriptors)

    @cached_property
    def always_visible(self) -> tuple[str, ...]:
        """Core primitives, and tools whose author wants them shown in full; in the order of the snapshot."""
        described = {each.name for each in self.tools.descriptors}
        entries = ((name, self.snapshot.tool(name)) for name in self.names if name in described)
        return tuple(name for name, entry in entries if entry is not None and is_direct(entry))

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many tools there are of each source."""
        found = [each.source for each in self.tools.descriptors]
        return {source: found.count(source) for source in SOURCES if source in found}

    @cached_property
    def _names(self) -> dict[str, str]:
        """Name every tool of the snapshot by its id, those that the run may not use too."""
        entries = (self.snapshot.tool(name) for name in self.snapshot.tool_names)
        return {id_of(entry): entry.name for entry in entries if entry is not None}

    def name_behind(self, selector: str) -> str:
        """Name the tool that goes by an id, though the run may not use it: for the record, never for an answer."""
        return self._names.get(selector.strip(), selector)

    def client(self, name: str) -> ToolEntry | None:
        """Give a permitted tool of the caller."""
        return next((entry for entry in self.clients if entry.name == name), None)


class Catalogues:
    """Keeps the catalogues used last; one that is being made is made once."""

    def __init__(self, *, kept: int = KEPT) -> None:
        self._size = kept
        self._kept: OrderedDict[Any, RunCatalogue] = OrderedDict()
        self._making: dict[Any, asyncio.Task[RunCatalogue]] = {}

    async def get(
        self,
        snapshot: Snapshot,
        context: CallContext,
        *,
        offered: Sequence[Mapping[str, Any]] = (),
        withdrawn: frozenset[str] = frozenset(),
        is_wanted: Callable[[ToolEntry], bool] | None = None,
    ) -> RunCatalogue:
        """Give what a context may use of a snapshot, and of the tools that the caller offers.

        Args:
            withdrawn: names of tools whose calls are refused.
            is_wanted: leaves out those for which it says no; it must say the same each time.
        """
        clients = await self._clients(snapshot, offered, context)
        permitted = allowed_tools(snapshot, context)
        key = (snapshot.digest, permitted, withdrawn, is_wanted is None, _names(clients), schema_digest({"": offered}))
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept
        making = self._making.get(key)
        if making is None:
            wanted = _Wanted(permitted, withdrawn, is_wanted, clients)
            making = asyncio.create_task(asyncio.to_thread(_made_of, snapshot, wanted))
            self._making[key] = making
            making.add_done_callback(lambda task: self._made(key, task))
        return await asyncio.shield(making)

    async def _clients(
        self, snapshot: Snapshot, offered: Sequence[Mapping[str, Any]], context: CallContext
    ) -> tuple[ToolEntry, ...]:
        if not offered:
            return ()
        extended = await asyncio.to_thread(with_client_tools, snapshot, offered)
        permitted = frozenset(allowed_tools(extended, context))
        entries = (extended.tool(each["name"]) for each in offered if each["name"] in permitted)
        return tuple(entry for entry in entries if entry is not None and entry.source == CLIENT)

    def _made(self, key: Any, task: asyncio.Task[RunCatalogue]) -> None:
        self._making.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        self._kept[key] = task.result()
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


class _Wanted(NamedTuple):
    """Which tools a catalogue is made of."""

    permitted: tuple[str, ...]
    withdrawn: frozenset[str]
    is_wanted: Callable[[ToolEntry], bool] | None
    clients: tuple[ToolEntry, ...]


def _made_of(snapshot: Snapshot, wanted: _Wanted) -> RunCatalogue:
    entries = ((name, snapshot.tool(name)) for name in wanted.permitted if name not in wanted.withdrawn)
    is_wanted = wanted.is_wanted
    names = (name for name, entry in entries if entry is not None and (is_wanted is None or is_wanted(entry)))
    return made_catalogue(snapshot, tuple(names), wanted.clients)


def _names(entries: Iterable[ToolEntry]) -> tuple[str, ...]:
    return tuple(each.name for each in entries)


def made_catalogue(snapshot: Snapshot, names: tuple[str, ...], clients: tuple[ToolEntry, ...]) -> RunCatalogue:
    """Make a catalogue. A tool that cannot be described, or goes by a control's name, is not in it."""
    names = tuple(name for name in names if name not in CONTROL_NAMES)
    entries = (*(snapshot.tool(name) for name in names), *clients)
    tools = Catalogue(_descriptors(entries, release=snapshot.dialect))
    made = RunCatalogue(snapshot, names, clients, tools)
    made.index  # noqa: B018 - made here, in a thread
    return made


def is_direct(entry: ToolEntry) -> bool:
    """Say whether a model sees a tool in full whatever the mode: nobody from elsewhere can ask for that."""
    if not _is_trusted(entry):
        return False
    is_primitive = entry.name in BUILTINS and _source(entry) == "core"
    return is_primitive or definition_of(entry).catalog_mode == "direct_only"


def _descriptors(entries: Iterable[ToolEntry | None], *, release: str) -> Iterable[Descriptor]:
    for entry in entries:
        if entry is None:
            continue
        try:
            yield _descriptor(entry, definition_of(entry), release=release)
        except FirewallError:  # what cannot be described cannot be called either
            continue


def _descriptor(entry: ToolEntry, definition: Definition, *, release: str) -> Descriptor:
    return Descriptor(
        id=id_of(entry),
        name=entry.name,
        source=_source(entry),
        label=entry.label,
        description=entry.description,
        section=entry.section,
        parameters=offered_schema(definition, release=release) or OPEN_SCHEMA,
        output=definition.output,
        is_trusted=_is_trusted(entry),
    )


def id_of(entry: ToolEntry) -> str:
    """Name a tool by where it comes from."""
    source = _source(entry)
    return ":".join([source, *_place(entry, source)])


def _place(entry: ToolEntry, source: Source) -> tuple[str, ...]:
    """Name the plugin and the tool, or the MCP server and the tool as that names it."""
    executor = entry.executor or {}
    if source == "mcp" and executor.get("kind") == McpExecutor.kind:
        return str(executor.get("source")), str(executor.get("tool"))
    return (entry.name,) if source in ("core", "client") else (entry.plugin or entry.source, entry.name)


def _source(entry: ToolEntry) -> Source:
    if entry.source in ("mcp", "client"):
        return "mcp" if entry.source == "mcp" else "client"
    return "core" if entry.plugin is None else "plugin"


def _is_trusted(entry: ToolEntry) -> bool:
    """Say whether somebody here answers for a tool's words, and not an MCP server, a remote registry or the caller."""
    return _source(entry) in ("core", "plugin") and (entry.executor or {}).get("kind") != HttpExecutor.kind
