"""What a subcommand is, and what several of them do."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from django.core.management.base import BaseCommand, CommandError

from apps.registry.models import Environment, Tool
from apps.registry.selectors import tool_find

Options = Mapping[str, Any]
FILE_LIMIT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Subcommand:
    """One thing that `manage.py tools` does.

    Args:
        help: one sentence.
        arguments: adds what it takes to its parser.
        run: does it.
    """

    help: str
    arguments: Callable[[ArgumentParser], object]
    run: Callable[[BaseCommand, Environment, Options], None]


def read_file(name: str) -> str:
    """Read a text file, or standard input for `-`.

    Raises:
        CommandError: it cannot be read, or is too large.
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        if len(data) > FILE_LIMIT_BYTES:
            raise CommandError(f"`{name}` has {len(data)} bytes, {FILE_LIMIT_BYTES} are allowed")
        return data.decode("utf-8")
    except OSError as exc:
        raise CommandError(f"cannot read `{name}`: {exc.strerror}") from exc
    except UnicodeDecodeError as exc:
        raise CommandError(f"`{name}` is not UTF-8") from exc


def read_document(name: str) -> Any:
    """Read a YAML file; JSON is YAML, too.

    Raises:
        CommandError: it is neither.
    """
    try:
        return yaml.safe_load(read_file(name))
    except (yaml.YAMLError, RecursionError) as exc:
        raise CommandError(f"`{name}` is neither YAML nor JSON: {' '.join(str(exc).split())[:300]}") from exc


def named_tool(environment: Environment, name: str) -> Tool:
    """Find a tool by name.

    Raises:
        CommandError: there is none.
    """
    tool = tool_find(environment, name)
    if tool is None:
        raise CommandError(f"no tool named `{name}`")
    return tool
