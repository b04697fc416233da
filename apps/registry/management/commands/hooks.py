"""Hooks at the command line: which there are, what failed, which packages offer some, and one tried out."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.firewall.errors import FirewallError
from apps.registry.hooks import hook_try, installed_plugins
from apps.registry.models import Environment, Hook
from apps.registry.selectors import environment_find, hook_failures, hook_find, hooks_of
from apps.registry.services import environment_default, hook_policy_save, hook_save


class Command(BaseCommand):
    help = "List, try and switch hooks."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        for name, (text, has_hook, _run) in SUBCOMMANDS.items():
            own = kinds.add_parser(name, help=text)
            own.add_argument("--environment", default="", help="slug of the environment; the first one by default")
            if has_hook:
                own.add_argument("hook", help="name of the hook")
            if name == "try":
                own.add_argument("--tool", default="read", help="tool of the made-up call")
                own.add_argument("--params", default="{}", help="its parameters, a JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        _text, has_hook, run = SUBCOMMANDS[options["subcommand"]]
        environment = self._environment(options["environment"])
        try:
            run(self, self._hook(environment, options["hook"]) if has_hook else environment, options)
        except FirewallError as exc:
            raise CommandError(f"{exc.message} [{exc.code}]") from exc

    def _environment(self, slug: str) -> Environment:
        found = environment_find(slug) if slug else environment_default()
        if found is None:
            raise CommandError(f"there is no environment `{slug}`")
        return found

    def _hook(self, environment: Environment, name: str) -> Hook:
        found = hook_find(environment, name)
        if found is None:
            raise CommandError(f"there is no hook `{name}`")
        return found


def _list(command: Command, environment: Environment, _options: Mapping[str, Any]) -> None:
    for hook in hooks_of(environment):
        state = "on" if hook.is_enabled and hook.plugin.is_enabled else "off"
        counts = f"{hook.tally.total} asked, {hook.tally.failed} failed"
        command.stdout.write(f"{hook.name}\t{hook.plugin.key}\t{hook.event}\t{hook.kind}\t{state}\t{counts}")


def _installed(command: Command, _environment: Environment, _options: Mapping[str, Any]) -> None:
    for each in installed_plugins():
        command.stdout.write(f"{each.name}\t{each.release}")


def _failures(command: Command, hook: Hook, _options: Mapping[str, Any]) -> None:
    for each in hook_failures(hook):
        command.stdout.write(f"{each.at:%F %T}\t{each.kind}\t{each.tool}\t{each.cause}\t{each.said}")


def _try(command: Command, hook: Hook, options: Mapping[str, Any]) -> None:
    try:
        params = json.loads(options["params"])
    except ValueError as exc:
        raise CommandError(f"--params is no JSON: {exc}") from exc
    if not isinstance(params, dict):
        raise CommandError("--params must be a JSON object")
    trial = hook_try(hook, tool=options["tool"], params=params)
    if trial.failure is not None:
        raise CommandError(f"{trial.failure.kind}: {trial.failure.message}")
    command.stdout.write(json.dumps(trial.answer, indent=2, ensure_ascii=False))


def _switch(*, is_enabled: bool) -> Callable[[Command, Hook, Mapping[str, Any]], None]:
    def switch(command: Command, hook: Hook, _options: Mapping[str, Any]) -> None:
        hook_save(hook, is_enabled=is_enabled)
        command.stdout.write(f"{hook.name} is {'on' if is_enabled else 'off'}")

    return switch


def _take(*, is_strict: bool) -> Callable[[Command, Environment, Mapping[str, Any]], None]:
    def take(command: Command, environment: Environment, _options: Mapping[str, Any]) -> None:
        hook_policy_save(environment, is_strict=is_strict)
        command.stdout.write(f"{environment.slug} is {'strict' if is_strict else 'lenient'}")

    return take


SUBCOMMANDS: Final[Mapping[str, tuple[str, bool, Callable[..., None]]]] = {
    "list": ("list every hook with what came of it", False, _list),
    "installed": ("list what installed packages offer", False, _installed),
    "failures": ("list what went wrong with a hook", True, _failures),
    "try": ("ask a hook about a call that nobody makes", True, _try),
    "on": ("switch a hook on", True, _switch(is_enabled=True)),
    "off": ("switch a hook off", True, _switch(is_enabled=False)),
    "strict": ("have a hook that fails stop calls under release 2026.2, too", False, _take(is_strict=True)),
    "lenient": ("have calls of release 2026.2 go on when a hook fails", False, _take(is_strict=False)),
}
"""Name -> what it does, whether it names a hook, and what carries it out."""
