"""What the model of an agent would find now: asked by a person, kept nowhere."""

import time
from dataclasses import dataclass
from functools import lru_cache

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.tools.search.index import Hit
from apps.firewall.tools.search.queries import SearchRequest, candidate, found_by, read_queries
from apps.firewall.tools.search.settings import BLOCK, ToolSearchSettings, is_local_model, read_tool_search
from apps.gateway.tool_runs.catalogues import RunCatalogue, made_catalogue
from apps.gateway.tool_runs.controls import reranker
from apps.gateway.wiring import executors
from apps.registry.models import Environment
from apps.registry.standing import standings


@dataclass(frozen=True, slots=True)
class Found:
    """One tool that was found, as the model reads of it.

    Args:
        signature: of its parameters; `unknown` where nobody here answers for its words.
    """

    hit: Hit
    signature: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What one query finds.

    Args:
        size: of the catalogue that was searched.
        settings: in force for a model of the context.
        took_ms: for the search alone.
    """

    size: int
    settings: ToolSearchSettings
    found: tuple[Found, ...]
    took_ms: float


def search_try(environment: Environment, snapshot: Snapshot, context: CallContext, query: str) -> Trial:
    """Search what an agent may use now, as a run of it would.

    Raises:
        SearchRequestError: the query cannot be read.
    """
    block = snapshot.engine.settings.get(BLOCK)
    is_local = is_local_model(context.provider or "", context.model_id or "")
    settings = read_tool_search(block, snapshot.dialect, is_local=is_local)
    asked: SearchRequest = read_queries({"query": query}, settings)
    catalogue = _catalogue(snapshot, _usable(environment, snapshot, context))
    begun = time.perf_counter()
    (hits,) = found_by(catalogue.index, asked, rerank=reranker()) or [[]]
    took_ms = (time.perf_counter() - begun) * 1000
    found = tuple(Found(hit, candidate(hit.descriptor)["input"]) for hit in hits)
    return Trial(len(catalogue.tools.descriptors), settings, found, took_ms)


def _usable(environment: Environment, snapshot: Snapshot, context: CallContext) -> tuple[str, ...]:
    """Name the tools that policy permits, nothing withdrew, and something here runs."""
    withdrawn = {name for name, each in standings().get(environment.slug, {}).items() if each.code}
    runners = executors()
    entries = [snapshot.tool(name) for name in allowed_tools(snapshot, context) if name not in withdrawn]
    return tuple(entry.name for entry in entries if entry is not None and runners.runs(entry))


@lru_cache(maxsize=8)
def _catalogue(snapshot: Snapshot, names: tuple[str, ...]) -> RunCatalogue:
    return made_catalogue(snapshot, names, ())
