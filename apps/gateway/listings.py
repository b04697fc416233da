"""The tools of a context in a provider's form, encoded once and kept: contexts with the same tools share a listing."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.tools.presenting import present, schema_rules
from apps.firewall.tools.providers import Provider

KEPT_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Tools ready to be sent.

    Args:
        encoded: the JSON list of what the provider is told of each tool.
        wire_names: tool -> the name that it goes by there.
        left_out: tools that cannot be sent, each `{"tool", "code", "message"}`.
    """

    encoded: bytes
    wire_names: Mapping[str, str]
    left_out: tuple[Mapping[str, str], ...]

    def __add__(self, other: "Listing") -> "Listing":
        """Put the tools of another listing behind these."""
        parts = [each.encoded[1:-1] for each in (self, other) if each.wire_names]
        return Listing(
            encoded=b"[" + b",".join(parts) + b"]",
            wire_names={**self.wire_names, **other.wire_names},
            left_out=(*self.left_out, *other.left_out),
        )

    @property
    def fragment(self) -> orjson.Fragment:
        """The list, to be put into an answer as it is."""
        return orjson.Fragment(self.encoded)

    @property
    def renamed(self) -> dict[str, str]:
        """Name there -> tool, of those that go by another name."""
        return {wire: name for name, wire in self.wire_names.items() if wire != name}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which listing. `names` are the tools, in their order; `rules` what the schemas are fitted to."""

    digest: str
    names: tuple[str, ...]
    form: str
    rules: str


class Listings:
    """Keeps encoded listings, those used last up to a total size; one that is being made is made once."""

    def __init__(self, *, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._bytes = 0
        self._kept: OrderedDict[Wanted, Listing] = OrderedDict()
        self._making: dict[Wanted, asyncio.Task[Listing]] = {}

    async def get(
        self,
        snapshot: Snapshot,
        names: tuple[str, ...],
        form: Provider,
        *,
        provider: str,
        model: str,
        is_wanted: Callable[[ToolEntry], bool] | None = None,
    ) -> Listing:
        """Give the listing of some tools; a new one is made in a thread, while others are answered.

        Args:
            names: tools of the snapshot.
            is_wanted: leaves out those for which it says no; those are then not looked for in memory.
        """
        if is_wanted is not None:
            entries = [(name, snapshot.tool(name)) for name in names]
            names = tuple(name for name, entry in entries if entry is not None and is_wanted(entry))
        rules = schema_rules(form, provider=provider, model=model, release=snapshot.dialect)
        wanted = Wanted(snapshot.digest, names, form.KEY, rules)
        kept = self._kept.get(wanted)
        if kept is not None:
            self._kept.move_to_end(wanted)
            return kept
        making = self._making.get(wanted)
        if making is None:
            making = asyncio.create_task(asyncio.to_thread(made_listing, snapshot, wanted, form))
            self._making[wanted] = making
            making.add_done_callback(lambda task: self._made(wanted, task))
        return await asyncio.shield(making)

    def _made(self, wanted: Wanted, task: asyncio.Task[Listing]) -> None:
        self._making.pop(wanted, None)
        if task.cancelled() or task.exception() is not None:
            return
        self._kept[wanted] = task.result()
        self._bytes += len(task.result().encoded)
        while self._bytes > self._kept_bytes and len(self._kept) > 1:
            _, freed = self._kept.popitem(last=False)
            self._bytes -= len(freed.encoded)

    def __len__(self) -> int:
        return len(self._kept)


def made_listing(snapshot: Snapshot, wanted: Wanted, form: Provider) -> Listing:
    """Make the listing of some tools of a snapshot."""
    entries = (snapshot.tool(name) for name in wanted.names)
    return listing_of(
        (entry for entry in entries if entry is not None), form, rules=wanted.rules, release=snapshot.dialect
    )


def listing_of(entries: Iterable[ToolEntry], form: Provider, *, rules: str, release: str) -> Listing:
    """Make a listing. A tool that cannot be told of is left out, with the reason; it keeps no other from its place."""
    sent: list[Any] = []
    wire_names: dict[str, str] = {}
    left_out: list[dict[str, str]] = []
    for entry in entries:
        try:
            presented = present(definition_of(entry), form, rules=rules, release=release)
            encoded = orjson.dumps(presented.sent)
        except (FirewallError, TypeError) as exc:
            code = exc.code if isinstance(exc, FirewallError) else "schema_refused"
            left_out.append({"tool": entry.name, "code": code, "message": str(exc)[:300]})
            continue
        sent.append(orjson.Fragment(encoded))
        wire_names[entry.name] = presented.wire_name
    return Listing(encoded=orjson.dumps(sent), wire_names=wire_names, left_out=tuple(left_out))
