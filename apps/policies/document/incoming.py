"""What documents say: the rows that they wish for, with what is wrong in them, and the draft made equal to those."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from apps.firewall.engine.dialect import dialect_named
from apps.policies.document.approvals import note_unknown_agents, parse_approvals
from apps.policies.document.current import to_current
from apps.policies.document.enforcement import kept_words, note_unenforced
from apps.policies.document.findings import Diagnostic, Findings, Path
from apps.policies.document.guards import GUARD_MODELS, parse_guards, parse_labels
from apps.policies.document.parsing import Parser, kept_places
from apps.policies.document.profiles import parse_profiles
from apps.policies.document.reconcile import APPROVALS_MODELS, DOCUMENT_MODELS, Reconciler, labels_reconcile
from apps.policies.document.rows import Row
from apps.policies.document.secrets import refuse_envelopes, seal_secrets, sealed_places
from apps.policies.document.servers import note_servers
from apps.policies.document.unread import note_unread, note_version
from apps.policies.document.writing import write_approvals_tree, write_tree
from apps.policies.errors import DocumentInvalidError
from apps.policies.models import Agent, Profile
from apps.registry.models import Environment

Text = str | bytes
Read = Callable[[Findings], dict[str, Any] | None]


@dataclass(slots=True)
class Wanted:
    """The rows of one kind of document, and the models that they replace.

    Attributes:
        labels: of agents, by their ids; None where the document does not speak of them.
    """

    rows: list[Row]
    models: tuple[Any, ...]
    findings: Findings
    labels: dict[str, list[str]] | None = None


def wanted_document(
    environment: Environment, read: Read, *, profiles: Collection[str], is_ours: bool = False
) -> Wanted:
    """Read `openclaw.json`.

    Args:
        profiles: of our own, which it may name.
        is_ours: written by ourselves, so that sealed secrets in it are the stored ones.
    """
    findings = Findings()
    tree = read(findings)
    rows: list[Row] = []
    if tree is not None:
        if not is_ours:
            refuse_envelopes(tree, findings)
        is_later = note_version(tree, environment.dialect, findings)
        note_unread(tree, environment.dialect, findings, is_mild=is_ours or is_later)
        note_servers(environment, tree, findings)
        to_current(tree, environment.dialect, findings)
        note_unenforced(tree, dialect_named(environment.dialect), findings)
        rows = Parser(environment.dialect, findings, frozenset(profiles)).parse(tree)
        _finish(rows, write_tree(environment), findings)
    return Wanted(rows, DOCUMENT_MODELS, findings)


def wanted_approvals(
    environment: Environment, read: Read, *, is_ours: bool = False, document: Wanted | None = None
) -> Wanted:
    """Read the exec approvals document.

    Args:
        document: the `openclaw.json` that comes with it; the draft's agents count where none does.
    """
    findings = Findings(prefix="approvals:")
    tree = read(findings)
    rows: list[Row] = []
    if tree is not None:
        if not is_ours:
            refuse_envelopes(tree, findings)
        rows = parse_approvals(tree, findings)
        note_unknown_agents(rows, _agents_of(environment, document), findings)
        _finish(rows, write_approvals_tree(environment), findings)
    return Wanted(rows, APPROVALS_MODELS, findings)


def _agents_of(environment: Environment, document: Wanted | None) -> set[str]:
    if document is not None:
        return {row.values["key"] for row in document.rows if row.model is Agent}
    return set(Agent.objects.filter(environment=environment).values_list("key", flat=True))


def wanted_guards(read: Read) -> Wanted:
    """Read the document of grants, content filters and labels."""
    findings = Findings(prefix="guards:")
    tree = read(findings)
    if tree is None:
        return Wanted([], GUARD_MODELS, findings)
    return Wanted(parse_guards(tree, findings), GUARD_MODELS, findings, parse_labels(tree, findings))


def wanted_profiles(environment: Environment, read: Read) -> Wanted:
    """Read the document of the environment's own profiles."""
    findings = Findings(prefix="profiles:")
    tree = read(findings)
    return Wanted([] if tree is None else parse_profiles(tree, environment.dialect, findings), (Profile,), findings)


def diagnostics_of(wanted: Iterable[Wanted], message: str) -> list[Diagnostic]:
    """List the remarks about documents.

    Raises:
        DocumentInvalidError: `message`, with every mistake, where there is one.
    """
    diagnostics = [item for part in wanted for item in part.findings.items]
    mistakes = [item for item in diagnostics if item.severity == "error"]
    if mistakes:
        raise DocumentInvalidError(message, [item.as_detail() for item in mistakes])
    return diagnostics


def draft_reconcile(environment: Environment, wanted: Iterable[Wanted]) -> tuple[dict[str, int], dict[str, int]]:
    """Make the draft equal to what documents say, in the current transaction.

    Returns:
        How many records were `created`, `changed`, `deleted`, `unchanged`; and how many there are now, by model.
    """
    counts: dict[str, int] = {"created": 0, "changed": 0, "deleted": 0, "unchanged": 0}
    records: dict[str, int] = {}
    for part in wanted:
        for name, count in Reconciler(environment, part.models).run(part.rows).items():
            counts[name] += count
        if part.labels is not None:
            counts["changed"] += labels_reconcile(environment, part.labels)
        for row in part.rows:
            records[row.model._meta.model_name or ""] = records.get(row.model._meta.model_name or "", 0) + 1
    return counts, records


def _finish(rows: list[Row], present: dict[str, Any] | None, findings: Findings) -> None:
    """Seal what the rows keep, and name it."""
    if any(findings.errors()):
        return
    known: dict[Path, Any] = dict(sealed_places(present))
    said = {item.path for item in findings.items}
    for row in rows:
        if row.values["extra"]:
            for place in kept_places(row):
                if findings.place(place) not in said:
                    findings.info(place, "kept_verbatim", kept_words(place))
            row.values["extra"] = seal_secrets(row.values["extra"], row.path, known, findings)
