"""What the model of a run is offered: which schemas, which controls, which directory; and what that costs."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import orjson

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.deciding import CONTROL_ENTRIES
from apps.firewall.runtime.sessions import held_to_parent
from apps.firewall.tools.model_calls import ToolChoice
from apps.firewall.tools.presenting import schema_rules
from apps.firewall.tools.providers import PROVIDERS, Provider
from apps.firewall.tools.search.controls import controls_of
from apps.firewall.tools.search.directory import Directory, directory
from apps.firewall.tools.search.settings import BLOCK, ToolSearchSettings, is_local_model, read_tool_search
from apps.gateway.lifecycle import Gateway
from apps.gateway.listings import Listing, listing_of
from apps.gateway.tool_runs.catalogues import RunCatalogue
from apps.runs.models import ToolRun
from apps.runs.services import Offer

Shown: TypeAlias = Literal["direct", "tools", "directory", "code"]
DIRECT: Final = "direct"
KEPT: Final = 64
"""Surfaces of one catalogue that are remembered."""

LIKELY: Final = 3
IN_FULL: Final = 5
IN_FULL_BYTES: Final = 8_000
"""Most schemas, and bytes of them, that are shown beside those that always are: required first, then likely ones."""

NO_ISOLATION: Final = "no_isolation"
NOTHING: Final = Listing(encoded=b"[]", wire_names={}, left_out=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What a run is offered now.

    Args:
        catalogue: None where nothing was published.
        mode: in force; `direct` shows every tool.
        why: the code of what chose it.
        listing: the tools that the model is told of, controls last.
        visible: names of those that it may call by themselves.
        told: the directory for its prompt; None in the other modes.
        direct_bytes, surface_bytes: of the tools' part of a request, and of the directory.
    """

    catalogue: RunCatalogue | None
    settings: ToolSearchSettings
    mode: Shown
    why: str
    listing: Listing = NOTHING
    visible: frozenset[str] = frozenset()
    told: Directory | None = None
    direct_bytes: int = 0
    surface_bytes: int = 0

    @property
    def is_search(self) -> bool:
        return self.mode != DIRECT

    def offer(self) -> Offer:
        """Say it for the record."""
        catalogue = self.catalogue
        return Offer(
            snapshot_digest="" if catalogue is None else catalogue.snapshot.digest,
            asked_mode=self.settings.mode,
            mode=self.mode,
            why=self.why,
            sources={} if catalogue is None else catalogue.counts,
            catalogue_size=0 if catalogue is None else len(catalogue.tools.descriptors),
            direct_bytes=self.direct_bytes,
            surface_bytes=self.surface_bytes,
            directory_characters=0 if self.told is None else len(self.told.text),
            visible=len(self.visible),
        )


async def catalogue_of(current: Gateway, run: ToolRun) -> RunCatalogue | None:
    """Give what a run may use now; None where nothing was published."""
    snapshot = current.snapshots.live(run.environment.slug)
    if snapshot is None:
        return None
    said = CallContext.from_json(run.context)
    context = await held_to_parent(current.spawns, snapshot, run.environment.slug, run.agent, said)
    return await current.catalogues.get(
        snapshot,
        context,
        offered=run.client_tools,
        withdrawn=current.tool_states.withdrawn(run.environment.slug),
        is_wanted=current.desk.runs if run.only_runnable else None,
    )


def settings_of(snapshot: Snapshot, run: ToolRun) -> ToolSearchSettings:
    """Read how the environment wants catalogues offered to the model of a run."""
    block = snapshot.engine.settings.get(BLOCK)
    return read_tool_search(block, snapshot.dialect, is_local=is_local_model(run.provider, run.model))


async def surface_of(current: Gateway, run: ToolRun) -> Surface:
    """Work out what a run is offered now: the same snapshot and tools give the same bytes, whatever it did before."""
    catalogue = await catalogue_of(current, run)
    if catalogue is None:
        return Surface(catalogue=None, settings=ToolSearchSettings(mode="off"), mode=DIRECT, why="no_publication")
    key = (
        run.form,
        run.provider,
        run.model,
        tuple(run.required),
        run.task,
        run.takes_code,
        bool(current.code.problem()),
    )
    known: Surface | None = catalogue.surfaces.get(key)
    if known is not None:
        return known
    if len(catalogue.surfaces) >= KEPT:
        catalogue.surfaces.clear()
    made = catalogue.surfaces[key] = await _surface(current, run, catalogue)
    return made


async def _surface(current: Gateway, run: ToolRun, catalogue: RunCatalogue) -> Surface:
    settings = settings_of(catalogue.snapshot, run)
    form = PROVIDERS[run.form]
    whole = await _listing(current, run, catalogue, catalogue.names, catalogue.clients)
    direct_bytes = _bytes(form, whole)
    shown = _visible(catalogue, run)
    hidden = len(catalogue.tools.descriptors) > len(set(shown))
    mode, why = _mode(current, settings, run, hidden=hidden)
    if mode == DIRECT:
        return _direct(catalogue, settings, why, whole, direct_bytes)
    clients = catalogue.clients if mode == "directory" else _required_clients(catalogue, run)
    names = (*shown, *_in_full(catalogue, run, shown, guesses=mode == "directory"))
    listing = await _listing(current, run, catalogue, names, clients) + _controls(mode, run.form, catalogue.snapshot)
    visible = frozenset((*names, *(each.name for each in clients)))
    told = await _directory(catalogue, visible) if mode == "directory" else None
    surface_bytes = _bytes(form, listing) + (0 if told is None else len(told.text.encode()))
    if not settings.is_explicit and surface_bytes >= direct_bytes:
        return _direct(catalogue, settings, "small_catalogue", whole, direct_bytes)
    return Surface(
        catalogue=catalogue,
        settings=settings,
        mode=mode,
        why=why,
        listing=listing,
        visible=visible,
        told=told,
        direct_bytes=direct_bytes,
        surface_bytes=surface_bytes,
    )


def _mode(current: Gateway, settings: ToolSearchSettings, run: ToolRun, *, hidden: bool) -> tuple[Shown, str]:
    if settings.mode == "off":
        return DIRECT, "off"
    if not hidden:
        return DIRECT, "nothing_hidden"
    if settings.mode == "code" and not run.takes_code:
        return "tools", "no_code_for_model"
    if settings.mode == "code" and current.code.problem():
        return "tools", NO_ISOLATION
    return settings.mode, "configured" if settings.is_explicit else "default"


def _direct(
    catalogue: RunCatalogue, settings: ToolSearchSettings, why: str, whole: Listing, direct_bytes: int
) -> Surface:
    return Surface(
        catalogue=catalogue,
        settings=settings,
        mode=DIRECT,
        why=why,
        listing=whole,
        visible=frozenset((*catalogue.names, *(each.name for each in catalogue.clients))),
        direct_bytes=direct_bytes,
        surface_bytes=direct_bytes,
    )


def _visible(catalogue: RunCatalogue, run: ToolRun) -> tuple[str, ...]:
    """Name the tools of the snapshot that are shown whatever the mode."""
    return (*catalogue.always_visible, *_fitting(catalogue, run, _required(catalogue, run)))


def _required(catalogue: RunCatalogue, run: ToolRun) -> tuple[str, ...]:
    permitted = frozenset(catalogue.names) - frozenset(catalogue.always_visible)
    return tuple(name for name in dict.fromkeys(run.required) if name in permitted)


def _required_clients(catalogue: RunCatalogue, run: ToolRun) -> tuple[ToolEntry, ...]:
    return tuple(each for each in catalogue.clients if each.name in run.required)


def _in_full(catalogue: RunCatalogue, run: ToolRun, shown: Sequence[str], *, guesses: bool) -> tuple[str, ...]:
    """Guess which tools the run's task is likely to need: the same task and catalogue give the same guess."""
    if not guesses or not run.task:
        return ()
    hits = catalogue.index.search(run.task, limit=LIKELY)
    names = frozenset(catalogue.names) - frozenset(shown)
    likely = [hit.descriptor.name for hit in hits if hit.descriptor.is_trusted and hit.descriptor.name in names]
    taken = len(shown) - len(catalogue.always_visible)
    return _fitting(catalogue, run, likely, taken=taken)


def _fitting(catalogue: RunCatalogue, run: ToolRun, names: Sequence[str], *, taken: int = 0) -> tuple[str, ...]:
    """Keep of some tools, in their order, as many as a request has room for in full."""
    kept: list[str] = []
    left = IN_FULL_BYTES
    for name in names[: IN_FULL - taken]:
        entry = catalogue.snapshot.tool(name)
        if entry is None:
            continue
        size = len(_made([entry], run, catalogue.snapshot).encoded)
        if size > left:
            break
        kept.append(name)
        left -= size
    return tuple(kept)


async def _listing(
    current: Gateway, run: ToolRun, catalogue: RunCatalogue, names: Sequence[str], clients: Iterable[ToolEntry]
) -> Listing:
    form = PROVIDERS[run.form]
    own = await current.listings.get(
        catalogue.snapshot, tuple(names), form, provider=run.provider, model=run.model or ""
    )
    return own + _made(clients, run, catalogue.snapshot)


def _made(entries: Iterable[ToolEntry], run: ToolRun, snapshot: Snapshot) -> Listing:
    form = PROVIDERS[run.form]
    rules = schema_rules(form, provider=run.provider, model=run.model or "", release=snapshot.dialect)
    return listing_of(entries, form, rules=rules, release=snapshot.dialect)


def _controls(mode: Shown, form: str, snapshot: Snapshot) -> Listing:
    return NOTHING if mode == DIRECT else _listed_controls(mode, form, snapshot.dialect)


@lru_cache(maxsize=64)
def _listed_controls(mode: Literal["tools", "directory", "code"], form: str, release: str) -> Listing:
    entries = (CONTROL_ENTRIES[each.name] for each in controls_of(mode))
    return listing_of(entries, PROVIDERS[form], rules=schema_rules(PROVIDERS[form], release=release), release=release)


async def _directory(catalogue: RunCatalogue, visible: frozenset[str]) -> Directory:
    hidden = [each for each in catalogue.tools.descriptors if each.name not in visible]
    return await asyncio.to_thread(directory, hidden)


def _bytes(form: Provider, listing: Listing) -> int:
    """Say how long the tools' part of a request is."""
    if not listing.wire_names:
        return 0
    return len(orjson.dumps(form.request_json(listing.fragment, ToolChoice("auto"))))
