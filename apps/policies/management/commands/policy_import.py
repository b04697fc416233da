"""Import `openclaw.json`, the exec approvals document, grants and filters as the draft of an environment."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.policies.errors import PolicyError
from apps.policies.management.policy_command import PolicyCommand
from apps.policies.services import document_check, document_import


class Command(PolicyCommand):
    help = "Make a document the draft of an environment, whole or not at all."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", nargs="?", help="openclaw.json as JSON or JSON5; - for standard input")
        parser.add_argument("--approvals", help="the exec approvals document")
        parser.add_argument("--guards", help="the document of grants and content filters")
        parser.add_argument("--check", action="store_true", help="only say what an import would say")
        parser.add_argument("--quiet-kept", action="store_true", help="do not list what is kept verbatim")

    def handle(self, *args: Any, **options: Any) -> None:
        text, approvals, guards = (
            None if options[name] is None else self.read(options[name]) for name in ("file", "approvals", "guards")
        )
        if text is None and approvals is None and guards is None:
            raise CommandError("name a file, --approvals or --guards")
        environment = self.environment(options)
        if options["check"]:
            self._list(document_check(environment, text, approvals=approvals, guards=guards), options)
            return
        try:
            report = document_import(environment, text, by=None, approvals=approvals, guards=guards)
        except PolicyError as exc:
            self.refuse(exc)
        self._list(report.diagnostics, options)
        counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
        self.stdout.write(f"imported into `{environment.slug}`: {counts}")

    def _list(self, diagnostics: list[Any], options: dict[str, Any]) -> None:
        failed = False
        for item in diagnostics:
            failed = failed or item.severity == "error"
            if item.code != "kept_verbatim" or not options["quiet_kept"]:
                self.stderr.write(f"{item.path or '-'}: {item.message} [{item.code}]")
        if failed:
            raise CommandError("the document has mistakes")
