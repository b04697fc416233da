"""Looking through sources at the command line."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from apps.registry.management.subcommands.subcommand import Options
from apps.registry.models import DiscoveryRun, DiscoverySource, Environment, RunState
from apps.registry.selectors import source_find, sources_of
from apps.registry.services import source_look


def discover_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "keys", nargs="*", metavar="SOURCE", help="keys of sources; all that are switched on by default"
    )


def discover(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Look through sources one after the other; a failed one stops no other, and makes the command fail."""
    keys = options["keys"]
    sources = [_named(environment, key) for key in keys] or list(sources_of(environment).filter(is_enabled=True))
    runs = [_look(command, source) for source in sources]
    if not sources:
        command.stdout.write("no source is switched on")
    failed = sum(run.state == RunState.FAILED for run in runs)
    if failed:
        raise CommandError(f"{failed} of {len(runs)} sources could not be looked through")


def _named(environment: Environment, key: str) -> DiscoverySource:
    source = source_find(environment, key)
    if source is None:
        raise CommandError(f"no source named `{key}`")
    return source


def _look(command: BaseCommand, source: DiscoverySource) -> DiscoveryRun:
    run = source_look(source)
    if run.state == RunState.FAILED:
        command.stderr.write(f"{source.key}: {run.error_message} [{run.error_code}]")
        return run
    command.stdout.write(
        f"{source.key}: {run.found} found, {run.added} added, {run.changed} changed, {run.removed} removed, "
        f"{run.broken} broken"
    )
    for finding in run.findings:
        if finding["outcome"] != "same" or finding.get("code"):
            what = finding.get("message") or finding.get("code", "")
            name = finding["tool"] or finding["key"]
            command.stdout.write(f"  {finding['outcome']:<8} {name}{f': {what}' if what else ''}")
    return run
