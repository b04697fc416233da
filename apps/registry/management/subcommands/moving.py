"""Moving tools through their life, and deciding about changed definitions."""

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from apps.registry.management.subcommands.subcommand import Options, named_tool
from apps.registry.models import Environment, ToolState
from apps.registry.selectors import drift_changes, drift_pending
from apps.registry.services import drift_accept, drift_dismiss, tool_set_state


def state_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="TOOL")
    parser.add_argument("state", choices=ToolState.values)
    parser.add_argument("--reason", default="", help="shown with the state")
    parser.add_argument("--successor", default="", help="what takes the place of a deprecated tool")


def state(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Move one tool; calls meet a withdrawal at once."""
    tool = named_tool(environment, options["name"])
    moved = tool_set_state(tool, state=options["state"], reason=options["reason"], successor=options["successor"])
    command.stdout.write(f"{moved.name}: {moved.state}")


def accept_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("names", nargs="+", metavar="TOOL", help="tools whose changed definitions wait")
    parser.add_argument("--dismiss", action="store_true", help="go on with the definitions that were accepted")
    parser.add_argument("--show", action="store_true", help="only show what has changed")


def accept(command: BaseCommand, environment: Environment, options: Options) -> None:
    """Show what changed of each tool, then take it over, or not."""
    for name in options["names"]:
        tool = named_tool(environment, name)
        drift = drift_pending(tool)
        if drift is None:
            raise CommandError(f"nothing of `{tool.name}` waits to be accepted")
        for change in drift_changes(drift):
            command.stdout.write(f"  {change.kind:<8} {change.path}: {change.before!r} -> {change.after!r}")
        if not options["show"]:
            decide = drift_dismiss if options["dismiss"] else drift_accept
            command.stdout.write(f"{tool.name}: {decide(drift, by=None).state}")
