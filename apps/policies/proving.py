"""Policy tests held against a snapshot: which pass, which fail and why, and which records they speak for."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.cases import CaseAnswer, CaseResult, PolicyCase, Verdict, run_cases
from apps.firewall.runtime.executors.workspaces import HostFiles
from apps.policies.covering import CoveredRecord, records_covered
from apps.policies.models import PolicyTest
from apps.registry.models import Environment

CODE: Final = "policy_test_failed"
RUNS_KEPT: Final = 8
_runs: OrderedDict[Any, list[CaseResult]] = OrderedDict()
_runs_lock = Lock()


@dataclass(frozen=True, slots=True)
class ProvenCase:
    """A policy test with what a snapshot answers."""

    test: PolicyTest
    result: CaseResult

    @property
    def has_passed(self) -> bool:
        return self.result.has_passed

    @property
    def answer(self) -> CaseAnswer:
        return self.result.answer


@dataclass(frozen=True, slots=True)
class ProofRun:
    """What became of an environment's policy tests; `digest` is the snapshot's. Those switched off stand aside."""

    digest: str
    cases: Sequence[ProvenCase]
    skipped: int = 0
    records: Sequence[CoveredRecord] = field(default_factory=tuple)

    @property
    def failed(self) -> list[ProvenCase]:
        return [case for case in self.cases if not case.has_passed]


def policy_tests(environment: Environment) -> QuerySet[PolicyTest]:
    """Every policy test of an environment, by name."""
    return PolicyTest.objects.select_related("environment").filter(environment=environment)


def policy_test_get(environment: Environment, test_id: UUID) -> PolicyTest | None:
    """Find a policy test of an environment."""
    return policy_tests(environment).filter(pk=test_id).first()


def policy_tests_run(environment: Environment, snapshot: Snapshot, *, with_records: bool = False) -> ProofRun:
    """Ask a snapshot every policy test of an environment that is switched on.

    Args:
        with_records: say which records of the draft decided how many of them, too.
    """
    run = tests_run(snapshot, list(policy_tests(environment)), with_places=with_records)
    records = records_covered(environment, [case.result for case in run.cases]) if with_records else ()
    return replace(run, records=records)


def tests_run(snapshot: Snapshot, tests: Sequence[PolicyTest], *, with_places: bool = False) -> ProofRun:
    """Ask a snapshot those of some policy tests that are switched on; they need not be stored."""
    enabled = [test for test in tests if test.is_enabled]
    return ProofRun(snapshot.digest, tested(snapshot, enabled, with_places=with_places), len(tests) - len(enabled))


def policy_tests_known(snapshot: Snapshot, tests: Sequence[PolicyTest]) -> ProofRun:
    """Return what `tests_run` does of stored tests, for pages that are looked at again and again.

    What one snapshot answered to the same cases is not asked twice. A publication asks anew.
    """
    enabled = [test for test in tests if test.is_enabled]
    key = (snapshot.digest, *((test.pk, test.version) for test in enabled))
    with _runs_lock:
        results = _runs.get(key)
    if results is None:
        results = [case.result for case in tested(snapshot, enabled)]
    with _runs_lock:
        _runs[key] = results
        _runs.move_to_end(key)
        while len(_runs) > RUNS_KEPT:
            _runs.popitem(last=False)
    cases = [ProvenCase(test, result) for test, result in zip(enabled, results, strict=True)]
    return ProofRun(snapshot.digest, cases, len(tests) - len(enabled))


def tested(snapshot: Snapshot, tests: Iterable[PolicyTest], *, with_places: bool = False) -> list[ProvenCase]:
    """Ask a snapshot some policy tests, switched on or not."""
    wanted = list(tests)
    results = run_cases(snapshot, [_case(test) for test in wanted], files=HostFiles(), with_places=with_places)
    return [ProvenCase(test, result) for test, result in zip(wanted, results, strict=True)]


def failures(environment: Environment, snapshot: Snapshot) -> list[dict[str, str]]:
    """Name every policy test that a snapshot fails, as details of a refusal."""
    return [failure_detail(case) for case in policy_tests_run(environment, snapshot).failed]


def failure_detail(case: ProvenCase) -> dict[str, str]:
    answer = case.answer
    message = _("the policy test `%(name)s` expects %(expected)s, and the answer is %(got)s: %(reason)s") % {
        "name": case.test.name,
        "expected": _worded(case.test.verdict, case.test.layer),
        "got": _worded(answer.verdict, answer.layer),
        "reason": answer.reason,
    }
    return {"path": f"tests.{case.test.name}", "code": CODE, "message": message}


def _worded(verdict: str, layer: str) -> str:
    return f"`{verdict}` ({layer})" if layer else f"`{verdict}`"


def _case(test: PolicyTest) -> PolicyCase:
    verdict: Verdict = "asks" if test.verdict == "asks" else "allowed" if test.verdict == "allowed" else "denied"
    return PolicyCase(
        name=test.name,
        context=CallContext.from_json(test.context),
        tool=test.tool,
        verdict=verdict,
        params=test.params,
        layer=test.layer,
    )
