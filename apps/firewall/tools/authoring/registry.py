"""A registry of tools within one program that embeds them. The server's own registry is `apps/registry`."""

import asyncio
import inspect
import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from apps.firewall.errors import FirewallError
from apps.firewall.tools.admission import admit_definition
from apps.firewall.tools.authoring.answers import answer_text
from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.errors import AuthoringError, internal_error
from apps.firewall.tools.authoring.formats import formats_here
from apps.firewall.tools.authoring.items import Item, NotLoadedError, load_offers, told
from apps.firewall.tools.authoring.lifecycle import Standing, Step
from apps.firewall.tools.authoring.offers import Offer, offers_of
from apps.firewall.tools.authoring.traces import cause_of
from apps.firewall.tools.connections import fill_secrets
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import definition_json, read_definition
from apps.firewall.tools.discovery.tool_file import read_tool_file
from apps.firewall.tools.loading import Kept, Loading
from apps.firewall.tools.mistakes import Problem
from apps.firewall.tools.own_formats import Texts, format_problems, unknown_formats
from apps.firewall.tools.parameters import SchemaError, prepare_params
from apps.firewall.tools.running import Cause, ToolOutcome, failed

EAGER_LIMIT: Final = 1_000_000


class UnknownToolError(FirewallError):
    """No tool of this name is registered."""

    code = "tool_not_found"


class NotReadyError(FirewallError):
    """A tool whose `initialise` failed."""

    code = "initialise_failed"


class NameTakenError(FirewallError):
    """Another tool goes by this name."""

    code = "name_taken"


@dataclass(slots=True)
class _Entry:
    """One tool: what loads it, and its definition as soon as that is known."""

    name: str
    load: Callable[[ToolContext], Offer]
    config: Mapping[str, Any]
    definition: Definition | None = None
    standing: Standing = field(default_factory=Standing)


@dataclass(slots=True)
class _Loaded:
    """A tool in memory.

    Args:
        waiting: its async `initialise`, until a call has awaited it.
        calls: that it answers right now.
        is_leaving: to be closed as soon as it answers none.
    """

    name: str
    offer: Offer
    waiting: Any = None
    calls: int = 0
    is_leaving: bool = False


class ToolRegistry:
    """Tools by name, with their lifecycle; made for one event loop and the thread of it.

    Args:
        loading: `eager` loads and initialises each tool when it is registered, `lazy` at its first call and keeps so
            many loaded, `on-demand` gives each profile its own tools only.
    """

    _shared: ClassVar["ToolRegistry | None"] = None

    def __init__(self, loading: Loading | None = None) -> None:
        self._loading = loading or Loading(strategy="lazy")
        self._entries: dict[str, _Entry] = {}
        size = EAGER_LIMIT if self._loading.is_eager else self._loading.max_cache_size
        self._loaded: Kept[str, _Loaded] = Kept(size, self._close)
        self._closing: set[asyncio.Task[Any]] = set()

    @classmethod
    def get_instance(cls) -> Self:
        """Give the one registry that a program shares."""
        if not isinstance(cls._shared, cls):
            cls._shared = cls()
        return cls._shared

    @classmethod
    def from_file(
        cls, path: Path, *, variables: Mapping[str, str] | None = None, secrets: Mapping[str, str] | None = None
    ) -> Self:
        """Make a registry of a tool file's `tools`, with its strategy of loading; their modules must be importable.

        Raises:
            ToolFileInvalidError, SecretMissingError.
        """
        listed = read_tool_file(path.read_text(encoding="utf-8"), folder=path.parent, variables=variables or {})
        registry = cls(listed.loading)
        for tool in listed.tools:
            if tool.enabled and listed.loading.knows(tool.name):
                item = Item(module=tool.module, attribute=tool.attribute, dependencies=tool.dependencies)
                config = fill_secrets(tool.config, secrets or {})
                registry._add(_Entry(tool.name, partial(_only, item), config))
        return registry

    # ---- registering ----

    def register(
        self, definition: Mapping[str, Any] | Definition, handler: Callable[..., Any], permissions: Sequence[str] = ()
    ) -> Definition:
        """Register a definition and what answers its calls: called with the checked params by name, sync or async.

        Args:
            permissions: what the tool may do, besides those in the definition.
        Raises:
            DefinitionInvalidError, NameTakenError.
        """
        read = definition if isinstance(definition, Definition) else admit_definition(definition)
        read = replace(read, permissions=tuple(dict.fromkeys((*read.permissions, *permissions))))
        written = definition_json(read)

        def load(context: ToolContext) -> Offer:  # noqa: ARG001
            return Offer(definition=written, execute=lambda params, context: handler(**params))  # noqa: ARG005

        self._add(_Entry(read.name, load, read.config, definition=read))
        return read

    def register_tool(self, target: Any, *, config: Mapping[str, Any] | None = None) -> list[Definition]:
        """Register a decorated function, a class of `BaseTool`, or what a factory makes.

        Raises:
            AuthoringError, NotOfferedError, DefinitionInvalidError, NameTakenError.
        """
        context = ToolContext(config=config or {})
        definitions = [admit_definition(offer.definition) for offer in offers_of(target, context)]
        for position, read in enumerate(definitions):

            def load(context: ToolContext, position: int = position) -> Offer:
                return offers_of(target, context)[position]

            self._add(_Entry(read.name, load, context.config, definition=read))
        return definitions

    def unregister(self, name: str) -> None:
        """Remove a tool and let go of what it holds.

        Raises:
            UnknownToolError.
        """
        self._step(name, "unregister")
        self._loaded.drop(name)
        del self._entries[name]

    # ---- lifecycle ----

    def initialize_tool(self, name: str) -> None:
        """Load a tool and prepare it for calls; an async `initialise` is awaited by the first call.

        Raises:
            UnknownToolError, StepRefusedError, AuthoringError, NotReadyError.
        """
        entry = self._entry(name)
        self._step(name, "initialise")
        try:
            self._load(entry)
        except FirewallError:
            entry.standing.state = "registered"
            raise

    def disable_tool(self, name: str, reason: str = "") -> None:
        """Refuse calls until the tool is enabled again.

        Raises:
            UnknownToolError.
        """
        self._step(name, "disable").standing.reason = reason
        self._loaded.drop(name)

    def enable_tool(self, name: str) -> None:
        """Take calls again; the first loads the tool anew.

        Raises:
            UnknownToolError, StepRefusedError: it is not disabled.
        """
        standing = self._step(name, "enable").standing
        standing.reason = ""
        if standing.successor:
            standing.state = "deprecated"

    def deprecate_tool(self, name: str, successor: str = "") -> None:
        """Go on taking calls, each answered with a warning that names what to use instead.

        Raises:
            UnknownToolError, StepRefusedError.
        """
        self._step(name, "deprecate").standing.successor = successor

    def standing(self, name: str) -> Standing:
        """Tell where a tool stands and how its calls went.

        Raises:
            UnknownToolError.
        """
        return self._entry(name).standing

    # ---- using ----

    def names(self, profile: str | None = None) -> list[str]:
        """Name the tools that may be called, sorted; those of a profile where loading goes by profiles."""
        return sorted(
            name
            for name, entry in self._entries.items()
            if entry.standing.state != "disabled" and self._loading.knows(name, profile)
        )

    def definition(self, name: str) -> Definition:
        """Describe a tool, loading it when its definition is not known yet.

        Raises:
            UnknownToolError, AuthoringError, DefinitionInvalidError.
        """
        entry = self._entry(name)
        if entry.definition is None:
            self._load(entry)
        assert entry.definition is not None  # noqa: S101 - loading reads it
        return entry.definition

    async def call(
        self,
        name: str,
        params: Mapping[str, Any],
        *,
        profile: str | None = None,
        session: Mapping[str, Any] | None = None,
        call_id: str = "",
    ) -> ToolOutcome:
        """Check params and call a tool; whatever goes wrong is a failed outcome that says so."""
        entry = self._entries.get(name)
        if entry is None or not self._loading.knows(name, profile):
            return failed(UnknownToolError.code, f"no tool named `{name}`")
        if entry.standing.state == "disabled":
            reason = f": {entry.standing.reason}" if entry.standing.reason else ""
            return failed("tool_disabled", f"the tool `{name}` is disabled{reason}")
        started = time.monotonic()
        outcome = await self._outcome(entry, params, session or {}, call_id)
        entry.standing.count((time.monotonic() - started) * 1000, is_failure=outcome.error is not None)
        return outcome

    async def close(self) -> None:
        """Unregister every tool and wait for those that close slowly."""
        for name in list(self._entries):
            self.unregister(name)
        await asyncio.gather(*self._closing, return_exceptions=True)

    # ---- within ----

    async def _outcome(
        self, entry: _Entry, params: Mapping[str, Any], session: Mapping[str, Any], call_id: str
    ) -> ToolOutcome:
        try:
            definition = self.definition(entry.name)
            prepared = prepare_params(definition, params)
            problems = prepared.problems or await _format_problems(definition, prepared.params)
            if problems:
                listed = "; ".join(f"{each['path']}: {each['message']}" for each in problems)
                return failed("parameter_validation_failed", listed)
            context = ToolContext(config=entry.config, session=session, call_id=call_id)
            value = await self._run(entry, definition, prepared.params, context)
            return self._told(entry, json.loads(answer_text(value)))
        except TimeoutError:
            return failed("tool_timed_out", f"the tool `{entry.name}` did not answer in time")
        except (FirewallError, SchemaError) as exc:
            return failed(exc.code, exc.message)
        except Exception as exc:  # noqa: BLE001 - an author's own code may raise anything
            return replace(failed("tool_raised", internal_error(exc)), cause=Cause(**cause_of(exc)))

    async def _run(self, entry: _Entry, definition: Definition, params: Mapping[str, Any], context: ToolContext) -> Any:
        loaded = self._load(entry, context)
        if entry.standing.state == "registered":
            entry.standing.take("initialise", entry.name)
        entry.standing.take("call", entry.name)
        loaded.calls += 1
        try:
            async with asyncio.timeout(None if definition.timeout_ms is None else definition.timeout_ms / 1000):
                return await _answered(loaded, params, context)
        except NotReadyError:
            self._loaded.drop(entry.name)
            raise
        finally:
            loaded.calls -= 1
            if loaded.is_leaving or self._loaded.get(entry.name) is not loaded:
                self._close(loaded)

    def _told(self, entry: _Entry, result: dict[str, Any]) -> ToolOutcome:
        if entry.standing.state != "deprecated":
            return ToolOutcome(result=result)
        instead = f": use `{entry.standing.successor}`" if entry.standing.successor else ""
        warning = {"path": "", "code": "tool_deprecated", "message": f"`{entry.name}` is deprecated{instead}"}
        return ToolOutcome(result={**result, "warnings": [*result.get("warnings", ()), warning]})

    def _add(self, entry: _Entry) -> None:
        if entry.name in self._entries:
            raise NameTakenError(f"another tool is named `{entry.name}`")
        self._entries[entry.name] = entry
        if self._loading.is_eager:
            try:
                self.initialize_tool(entry.name)
            except FirewallError:
                del self._entries[entry.name]
                raise

    def _entry(self, name: str) -> _Entry:
        if name not in self._entries:
            raise UnknownToolError(f"no tool named `{name}`")
        return self._entries[name]

    def _step(self, name: str, step: Step) -> _Entry:
        entry = self._entry(name)
        entry.standing.take(step, name)
        return entry

    def _load(self, entry: _Entry, context: ToolContext | None = None) -> _Loaded:
        """Give a loaded tool: the kept one, or a new one that is initialised and kept."""
        kept = self._loaded.get(entry.name)
        if kept is not None:
            return kept
        offer = entry.load(context or ToolContext(config=entry.config))
        if entry.definition is None:
            entry.definition = replace(read_definition(offer.definition), name=entry.name, config=entry.config)
        loaded = _Loaded(entry.name, offer)
        try:
            value = offer.initialise()
        except Exception as exc:
            raise NotReadyError(f"the tool `{entry.name}` could not be prepared: {told(exc)}") from exc
        if inspect.isawaitable(value):
            loaded.waiting = value
        if self._loading.cache_loaded and not offer.is_for_session:
            self._loaded.keep(entry.name, loaded)
        return loaded

    def _close(self, loaded: _Loaded) -> None:
        """Let go of a loaded tool as soon as it answers no call; one that fails at it keeps nobody from going on."""
        loaded.is_leaving = True
        if loaded.calls:
            return
        if inspect.iscoroutine(loaded.waiting):
            loaded.waiting.close()  # nobody waited for it: it has nothing to let go of
            return
        try:
            value = loaded.offer.close()
        except Exception as exc:  # noqa: BLE001 - an author's own code may raise anything
            warnings.warn(f"the tool `{loaded.name}` did not close: {told(exc)}", RuntimeWarning, stacklevel=2)
            return
        if inspect.isawaitable(value):
            task = asyncio.ensure_future(value)
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


def _only(item: Item, context: ToolContext) -> Offer:
    """Load the one tool of a place.

    Raises:
        AuthoringError: it has none, or several.
    """
    try:
        offers = [offer for _, offer in load_offers(item, context)]
    except NotLoadedError as exc:
        raise AuthoringError(exc.message) from exc
    if len(offers) != 1:
        raise AuthoringError(f"`{item.module}` offers {len(offers)} tools, and one is meant")
    if isinstance(offers[0], NotLoadedError):
        raise AuthoringError(offers[0].message)
    return offers[0]


async def _format_problems(definition: Definition, params: Mapping[str, Any]) -> list[Problem]:
    """Hold params against formats that this program, or a package, has registered: its code is trusted here."""
    own = formats_here(unknown_formats(definition.parameters))

    async def ask(texts: Texts) -> list[bool]:
        return [bool(own[name].check(text)) for name, text in texts]

    if not own:
        return []
    known = replace(definition, formats={name: each.meaning for name, each in own.items()})
    return await format_problems(known, params, ask)


async def _answered(loaded: _Loaded, params: Mapping[str, Any], context: ToolContext) -> Any:
    """Have a tool answer: async in this loop, sync in a thread, so that the loop goes on."""
    if loaded.waiting is not None:
        loaded.waiting = asyncio.ensure_future(loaded.waiting)
        try:
            await asyncio.shield(loaded.waiting)
        except Exception as exc:
            raise NotReadyError(f"the tool `{loaded.name}` could not be prepared: {told(exc)}") from exc
    value = await asyncio.to_thread(loaded.offer.execute, params, context)
    return await value if inspect.isawaitable(value) else value
