"""`policy test`: policy tests for pipelines, against what is stored or against files."""

import sys
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from django.core.management.base import CommandError, CommandParser

from apps.firewall.engine.snapshot import Snapshot, load_snapshot
from apps.firewall.errors import FirewallError
from apps.policies.document.findings import Findings
from apps.policies.document.named import parse_named
from apps.policies.document.reading import read_tree
from apps.policies.errors import DocumentInvalidError, PolicyError
from apps.policies.management.policy_command import CANNOT, Subcommand
from apps.policies.models import PolicyTest
from apps.policies.proving import ProofRun, ProvenCase, failure_detail, policy_tests, policy_tests_run, tests_run
from apps.policies.selectors import draft_snapshot, live_snapshot
from apps.policies.services import files_preview


class Test(Subcommand):
    help = (
        "Run the policy tests of an environment. Ends with 0 when all pass, 1 when one fails, 2 when they cannot run."
    )

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        asked = parser.add_mutually_exclusive_group()
        asked.add_argument("--at", choices=["draft", "live"], default="draft", help="which policy is asked")
        asked.add_argument("--folder", help="ask the policy, and run the tests, that applying this folder would give")
        asked.add_argument("--snapshot", help="ask the snapshot in this file")
        parser.add_argument("--cases", help="run the tests in this file instead, of the form of policy-tests.json")
        parser.add_argument("--format", choices=["plain", "junit"], default="plain")
        parser.add_argument("--output", "-o", help="write the report to this file")
        parser.add_argument("--coverage", action="store_true", help="list the records of the draft without a test, too")

    def run(self, options: dict[str, Any]) -> None:
        try:
            run = self._run(options)
        except PolicyError as exc:
            self.refuse(exc, status=CANNOT)
        except (FirewallError, CommandError) as exc:
            raise CommandError(str(exc), returncode=CANNOT) from exc
        report = junit(run) if options["format"] == "junit" else plain(run)
        self._write(report, options["output"])
        if run.failed:
            self.stdout.flush()
            sys.exit(1)

    def _run(self, options: dict[str, Any]) -> ProofRun:
        if options["folder"] is not None:
            files = self.read_folder(options["folder"])
            if options["cases"] is not None:
                files["policy-tests.json"] = self.read(options["cases"])
            preview = files_preview(self.environment(options), files, with_tests=True)
            assert preview.run is not None  # noqa: S101 - was asked for
            return preview.run
        snapshot = self._snapshot(options)
        if options["cases"] is not None:
            return tests_run(snapshot, self._cases(options["cases"]))
        if options["snapshot"] is not None:
            return tests_run(snapshot, list(policy_tests(self.environment(options))))
        return policy_tests_run(self.environment(options), snapshot, with_records=options["coverage"])

    def _snapshot(self, options: dict[str, Any]) -> Snapshot:
        if options["snapshot"] is not None:
            return load_snapshot(self.read(options["snapshot"]))
        environment = self.environment(options)
        if options["at"] == "draft":
            return draft_snapshot(environment)
        live = live_snapshot(environment)
        if live is None:
            raise CommandError(f"nothing has been published in `{environment.slug}`")
        return live

    def _cases(self, name: str) -> list[Any]:
        findings = Findings(prefix="tests:")
        tree = read_tree(self.read(name), findings)
        tests = [] if tree is None else parse_named(PolicyTest, tree, findings)
        mistakes = [item.as_detail() for item in findings.errors()]
        if mistakes:
            raise DocumentInvalidError("the cases have mistakes", mistakes)
        return tests

    def _write(self, report: str, output: str | None) -> None:
        if output is None:
            self.stdout.write(report)
            return
        try:
            Path(output).write_text(report + "\n", encoding="utf-8")
        except OSError as exc:
            raise CommandError(f"cannot write `{output}`: {exc.strerror}", returncode=CANNOT) from exc


def plain(run: ProofRun) -> str:
    """Write one line a test, then those records that no test speaks of, then the sum."""
    lines = [f"ok    {case.test.name}" if case.has_passed else f"FAIL  {_told(case)}" for case in run.cases]
    lines += [f"bare  {record.path}: no test was decided here" for record in run.records if not record.cases]
    passed, skipped = len(run.cases) - len(run.failed), f", {run.skipped} off" if run.skipped else ""
    return "\n".join([*lines, f"{passed} of {len(run.cases)} policy tests pass{skipped} ({run.digest[:12]})"])


def junit(run: ProofRun) -> str:
    """Write a report that pipelines read: one suite, one case a test."""
    counts = {"tests": str(len(run.cases)), "failures": str(len(run.failed)), "errors": "0"}
    suite = Element("testsuite", {"name": "policy tests", **counts, "skipped": "0"})
    for case in run.cases:
        shown = SubElement(suite, "testcase", {"classname": f"policy.{case.test.tool}", "name": case.test.name})
        if not case.has_passed:
            failure = SubElement(shown, "failure", {"message": failure_detail(case)["message"]})
            failure.text = f"{case.answer.layer} {case.answer.rule}".strip()
    indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suite, encoding="unicode")


def _told(case: ProvenCase) -> str:
    rule = f" [{case.answer.rule}]" if case.answer.rule else ""
    return f"{case.test.name}: {failure_detail(case)['message']}{rule}"
