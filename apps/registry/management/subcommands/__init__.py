"""What `manage.py tools` can do: a table of subcommands, each in a module of its own subject."""

from collections.abc import Mapping
from typing import Final

from apps.registry.management.subcommands import looking, moving, reading, registering
from apps.registry.management.subcommands.subcommand import Subcommand

SUBCOMMANDS: Final[Mapping[str, Subcommand]] = {
    "list": Subcommand("List tools, their states and origins.", reading.list_arguments, reading.list_tools),
    "discover": Subcommand("Look through sources now.", looking.discover_arguments, looking.discover),
    "register": Subcommand(
        "Register the tools of a YAML or JSON file.", registering.register_arguments, registering.register
    ),
    "import": Subcommand(
        "Make the sources that a tool file names: itself, and its remote registry.",
        registering.import_arguments,
        registering.import_file,
    ),
    "source": Subcommand("Add or change a source of tools.", registering.source_arguments, registering.source),
    "state": Subcommand("Move a tool to another state.", moving.state_arguments, moving.state),
    "accept": Subcommand("Accept, or dismiss, changed definitions.", moving.accept_arguments, moving.accept),
    "lint": Subcommand("Check how tools are written.", reading.lint_arguments, reading.lint),
    "failures": Subcommand("Show what a tool raised, for its author.", reading.failures_arguments, reading.failures),
    "docs": Subcommand("Render a catalogue of the tools as Markdown.", reading.docs_arguments, reading.docs),
}
"""Name -> what it does."""
