"""Tool search at the command line: labelled queries as lines of JSON, and what search is worth on them."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.firewall.errors import FirewallError
from apps.gateway.tool_runs.measuring import DEPTHS, Measured, labels_measured, shipped_measured
from apps.policies.selectors import live_snapshot
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default
from apps.runs.labels import labels_export, labels_import, labels_of


class Command(BaseCommand):
    help = "Labelled queries of tool search: export, import, and recall@k and MRR on them."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        labels = kinds.add_parser("labels", help="write or read this environment's labelled queries, one a line")
        labels.add_argument("direction", choices=["export", "import"])
        labels.add_argument("file", nargs="?", help="default: standard output or input")
        evaluate = kinds.add_parser("evaluate", help="print recall@k and MRR")
        for each in (labels, evaluate):
            each.add_argument("--environment", default="", help="slug of the environment; the first one by default")

    def handle(self, *_: Any, **options: Any) -> None:
        environment = self._environment(options["environment"])
        try:
            if options["subcommand"] == "evaluate":
                self._evaluate(environment)
            elif options["direction"] == "export":
                self._export(environment, options["file"])
            else:
                self._import(environment, options["file"])
        except FirewallError as exc:
            details = "".join(f"\n  {each['path']}: {each['message']}" for each in getattr(exc, "details", []))
            raise CommandError(f"{exc.message} [{exc.code}]{details}") from exc
        except (OSError, UnicodeDecodeError) as exc:
            raise CommandError(f"`{options['file']}` cannot be used: {exc}") from exc

    def _environment(self, slug: str) -> Environment:
        found = environment_find(slug) if slug else environment_default()
        if found is None:
            raise CommandError(f"there is no environment `{slug}`")
        return found

    def _export(self, environment: Environment, file: str | None) -> None:
        text = "".join(f"{line}\n" for line in labels_export(environment))
        if file is None:
            self.stdout.write(text, ending="")
            return
        Path(file).write_text(text, encoding="utf-8")

    def _import(self, environment: Environment, file: str | None) -> None:
        if file is None:
            count = labels_import(environment, sys.stdin, by=None, at=timezone.now())
        else:
            with Path(file).open(encoding="utf-8") as lines:
                count = labels_import(environment, lines, by=None, at=timezone.now())
        self.stdout.write(f"{count} labelled queries added or extended")

    def _evaluate(self, environment: Environment) -> None:
        self._print("shipped", shipped_measured())
        self._print(environment.slug, labels_measured(live_snapshot(environment), labels_of(environment)))

    def _print(self, name: str, measured: Measured) -> None:
        if not measured.queries:
            self.stdout.write(f"{name}: no labelled queries to ask ({measured.absent} name no live tool)")
            return
        recall = "  ".join(f"recall@{k} {measured.recall[k]:.3f}" for k in DEPTHS)
        absent = f"  ({measured.absent} name no live tool)" if measured.absent else ""
        self.stdout.write(
            f"{name}: {measured.queries} queries, {measured.tools} tools: {recall}  MRR {measured.mrr:.3f}{absent}"
        )
