"""`policy import` and `policy export`: `openclaw.json`, exec approvals, guards; or all the files of a folder."""

import json
import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.policies.errors import PolicyError
from apps.policies.files import FILES, files_export
from apps.policies.management.policy_command import Subcommand
from apps.policies.selectors import (
    Secrets,
    approvals_export,
    document_export,
    document_for_release,
    guards_export,
)
from apps.policies.services import document_check, document_import
from apps.registry.models import Environment


class Export(Subcommand):
    help = (
        "Write the draft as openclaw.json in the current form of its release, secrets included unless --masked, "
        "without the keys that the release refuses, which are named; "
        "or, with --folder, everything as files of a repository, without secrets."
    )

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--folder", help=f"write {', '.join(FILES)} here, secrets masked")
        parser.add_argument("--output", "-o", help="write to this file, readable by its owner only")
        parser.add_argument("--approvals", action="store_true", help="write the exec approvals document instead")
        parser.add_argument("--guards", action="store_true", help="write the grants and content filters instead")
        parser.add_argument("--masked", action="store_true", help="put OpenClaw's placeholder in place of secrets")

        parser.add_argument("--keep-unread", action="store_true", help="keep the keys that the release refuses, too")

    def run(self, options: dict[str, Any]) -> None:
        if options["folder"] is not None:
            self._write_folder(Path(options["folder"]), options)
            return
        environment = self.environment(options)
        secrets: Secrets = "masked" if options["masked"] else "open"
        document = self._document(environment, secrets, options)
        if document is None:
            raise CommandError(f"`{environment.slug}` has no exec approvals document")
        text = json.dumps(document, ensure_ascii=False, indent=2)
        if options["output"] is None:
            self.stdout.write(text)
            return
        try:
            _write_private(Path(options["output"]), text + "\n")
        except OSError as exc:
            raise CommandError(f"cannot write `{options['output']}`: {exc.strerror}") from exc

    def _document(self, environment: Environment, secrets: Secrets, options: dict[str, Any]) -> dict[str, Any] | None:
        if options["guards"]:
            return guards_export(environment)
        if options["approvals"]:
            return approvals_export(environment, secrets=secrets)
        document = document_export(environment, secrets=secrets)
        if options["keep_unread"]:
            return document
        released, dropped = document_for_release(environment, document)
        for place in dropped:
            self.stderr.write(f"left out: {place} (OpenClaw {environment.dialect} refuses it)")
        return released

    def _write_folder(self, folder: Path, options: dict[str, Any]) -> None:
        if options["output"] is not None or options["approvals"] or options["guards"]:
            raise CommandError("--folder writes every document: name no other")
        files = files_export(self.environment(options))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name in FILES:
                if name in files:
                    (folder / name).write_text(files[name], encoding="utf-8")
                else:
                    (folder / name).unlink(missing_ok=True)
        except OSError as exc:
            raise CommandError(f"cannot write to `{folder}`: {exc.strerror}") from exc
        self.stdout.write(f"wrote {', '.join(files)} to `{folder}`")


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(descriptor, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


class Import(Subcommand):
    help = "Make a document the draft of an environment, whole or not at all."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", nargs="?", help="openclaw.json as JSON or JSON5; - for standard input")
        parser.add_argument("--approvals", help="the exec approvals document")
        parser.add_argument("--guards", help="the document of grants and content filters")
        parser.add_argument("--check", action="store_true", help="only say what an import would say")
        parser.add_argument("--quiet-kept", action="store_true", help="do not list what is kept verbatim")

    def run(self, options: dict[str, Any]) -> None:
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
