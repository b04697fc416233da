"""Hooks as the runtime needs them, and one asked by itself to see whether it answers."""

import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.names import NameMatcher, compile_names, normalize_name
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id, show_id
from apps.firewall.runtime.hook_runners.hiding import answer_without_secrets, failure_without_secrets
from apps.firewall.runtime.hook_runners.webhook import Webhook, ask_webhook
from apps.firewall.runtime.hook_runners.wire import EventName, event_json, event_name
from apps.firewall.runtime.hook_runners.workers import HookWorkers, InstalledPlugin, PluginPlace
from apps.firewall.runtime.hooks import AfterEvent, BeforeEvent, HookRules, runtime_rules
from apps.firewall.runtime.hooks.answers import read_answer
from apps.firewall.runtime.hooks.handlers import Hook as Handler
from apps.firewall.runtime.hooks.handlers import HookFailedError, ask
from apps.firewall.tools.connections import fill_secrets
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.registry.looks import python_tools
from apps.registry.models import Environment, Hook, HookKind, HookMoment, HookPolicy
from apps.registry.source_settings import source_connection, source_secrets

GRACE_MS: Final = 500
"""How much later the runtime gives up on a webhook than its own line does, which knows better what was wrong."""
LIMITS_MS: Final[Mapping[str, int]] = {HookMoment.BEFORE: 15_000, HookMoment.AFTER: 30_000}
"""Event -> the limit of a hook that has none of its own. Source: conformance, dump rows of `hooks.jsonl`."""

Target = PluginPlace | Webhook


class HookGoneError(FirewallError):
    """The hook was removed, or switched off, while a call was on its way to it."""

    code = "hook_gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveHook:
    """A hook that is switched on.

    Args:
        target: where it is reached; None for one whose secrets are read for each event.
        grace_ms: how much later than its own limit the runtime gives it up.
        key: changes with the record, so that what runs for an older one is not used any more.
    """

    id: uuid.UUID
    name: str
    plugin: str
    event: str
    priority: int
    limit_ms: int
    tools: NameMatcher | None
    target: Target | None
    grace_ms: int
    key: str

    def hears_of(self, tool: str) -> bool:
        """Say whether it is told of the calls of a tool, named in normal form."""
        return self.tools is None or self.tools.matches(tool)


@dataclass(frozen=True, slots=True)
class LiveHooksOf:
    """The hooks of one environment, in the order in which they were registered.

    Args:
        is_strict: one that fails stops the call under the older release, too.
    """

    release: str
    hooks: tuple[LiveHook, ...]
    is_strict: bool = True

    def hearing(self, event: str, tool: str) -> tuple[LiveHook, ...]:
        """Give those that hear of an event of a tool."""
        normal = normalize_name(dialect_named(self.release), tool)
        return tuple(each for each in self.hooks if each.event == event and each.hears_of(normal))


def live_hooks() -> dict[str, LiveHooksOf]:
    """Read the hooks of every environment that are switched on, with their plugins, in one query."""
    rows = Hook.objects.select_related("environment__hook_policy", "plugin")
    found: dict[Environment, list[LiveHook]] = defaultdict(list)
    for row in rows.filter(is_enabled=True, plugin__is_enabled=True).order_by("created_at", "id"):
        found[row.environment].append(_live(row))
    return {each.slug: LiveHooksOf(each.dialect, tuple(hooks), _is_strict(each)) for each, hooks in found.items()}


def _is_strict(environment: Environment) -> bool:
    policy: HookPolicy | None = getattr(environment, "hook_policy", None)
    return policy is None or policy.is_strict


def _live(row: Hook) -> LiveHook:
    dialect = dialect_named(row.environment.dialect)
    return LiveHook(
        id=row.pk,
        name=row.name,
        plugin=row.plugin.key,
        event=row.event,
        priority=row.priority,
        limit_ms=limit_ms(row),
        tools=compile_names(dialect, row.tools) if row.tools else None,
        target=_place(row) if row.kind == HookKind.PYTHON and not row.secrets else None,
        grace_ms=0 if row.kind == HookKind.PYTHON else GRACE_MS,
        key=f"{row.pk}:{row.version}",
    )


def limit_ms(hook: Hook) -> int:
    """Tell how long a hook may take."""
    return hook.timeout_ms or LIMITS_MS[hook.event]


def hook_target(hook_id: uuid.UUID) -> Target:
    """Read where a hook is reached now, secrets in clear. Hand it to a runner, to nothing else.

    Raises:
        HookGoneError, UnsealError.
    """
    found = Hook.objects.filter(pk=hook_id, is_enabled=True).first()
    if found is None:
        raise HookGoneError("the hook was removed or switched off meanwhile")
    return target_of(found)


def target_of(hook: Hook) -> Target:
    """Say where a hook is reached, secrets in clear.

    Raises:
        UnsealError.
    """
    if hook.kind == HookKind.PYTHON:
        return _place(hook)
    return Webhook(connection=source_connection(hook), answer_key=hook.settings.get("answer_key", ""))


def _place(hook: Hook) -> PluginPlace:
    settings = hook.settings
    secrets = source_secrets(hook)
    return PluginPlace(
        entry_point=settings["entry_point"],
        folders=tuple(settings.get("scan_directories", ())),
        network=settings.get("network") is True,
        config=fill_secrets(settings.get("config", {}), secrets),
        secrets=tuple(secrets.values()),
    )


async def target_ask(
    target: Target,
    event: BeforeEvent | AfterEvent,
    *,
    key: str,
    limit_ms: int,
    workers: HookWorkers,
    resolve: Resolve = system_resolve,
) -> Any:
    """Hand an event to a hook and return what it answers, without the secrets of its record in its words.

    Raises:
        HookFailedError, FirewallError.
    """
    name: EventName = event_name(event)
    secrets = target.secrets if isinstance(target, PluginPlace) else target.connection.sealed_texts
    try:
        if isinstance(target, PluginPlace):
            answer = await workers.ask(key, target, name, event_json(event))
        else:
            answer = await ask_webhook(
                target,
                name,
                event_json(event),
                call_id=event.call_id,
                time_limit_ms=limit_ms,
                trace_id=event.facts.get("trace.id", ""),
                resolve=resolve,
            )
    except HookFailedError as exc:
        raise failure_without_secrets(exc, secrets) from None
    return answer_without_secrets(answer, secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookTrial:
    """How a hook answered an event that was made up.

    Args:
        failure: what went wrong with it, when something did.
        answer: JSON; what it said.
    """

    answer: Any = None
    failure: HookFailedError | None = None
    duration_ms: int = 0


def hook_try(hook: Hook, *, tool: str, params: Mapping[str, Any], resolve: Resolve = system_resolve) -> HookTrial:
    """Ask a hook about a call that nobody makes; it counts nowhere. Not for coroutines.

    Its `context` says `"trial": true`, so that a plugin which keeps books can leave it out.
    """
    rules = runtime_rules(hook.environment.dialect, is_strict=_is_strict(hook.environment))
    return asyncio.run(_try(hook, target_of(hook), made_up_event(hook, tool, params), rules, resolve))


def made_up_event(hook: Hook, tool: str, params: Mapping[str, Any]) -> BeforeEvent | AfterEvent:
    """Make an event of a call that nobody makes."""
    facts = {"environment": hook.environment.slug, "trial": True}
    common: dict[str, Any] = {
        "tool": tool,
        "params": dict(params),
        "call_id": show_id("call", new_id()),
        "facts": facts,
    }
    if hook.event == HookMoment.BEFORE:
        return BeforeEvent(**common)
    return AfterEvent(**common, duration_ms=0, result={"content": []})


async def _try(
    hook: Hook, target: Target, event: BeforeEvent | AfterEvent, rules: HookRules, resolve: Resolve
) -> HookTrial:
    workers = HookWorkers(python_tools())
    limit = limit_ms(hook)

    async def handler(shown: Any) -> Any:
        return await target_ask(target, shown, key="trial", limit_ms=limit, workers=workers, resolve=resolve)

    started = time.monotonic()
    answer, failure = None, None
    try:
        answer = await ask(Handler(plugin="", handler=handler, limit_ms=limit + GRACE_MS), event, limit_ms=None)
        if isinstance(event, BeforeEvent):
            read_answer(answer, plugin=hook.name, rules=rules)
    except HookFailedError as exc:
        failure = exc
    finally:
        await workers.close()
    return HookTrial(answer=answer, failure=failure, duration_ms=int((time.monotonic() - started) * 1000))


def installed_plugins(folders: tuple[str, ...] = ()) -> tuple[InstalledPlugin, ...]:
    """List what installed packages offer as hooks, without loading any of it. Not for coroutines.

    Raises:
        FolderRefusedError, PluginsUnknownError.
    """
    return asyncio.run(HookWorkers(python_tools()).installed(folders))
