"""Settings of commands, and who may have them elevated: what counts for nothing, or for more than it seems."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.firewall.engine.exec_policy.hardened import safe_bin_trouble
from apps.policies.document.findings import show_path
from apps.policies.kinds import kind_of
from apps.policies.lint.draft import Draft
from apps.policies.lint.findings import LintFinding, LintSeverity

ANYBODY: Final = "*"
MESSAGES: Final[Mapping[str, Promise]] = {
    "safe_bin_never_safe": _("`%(entry)s` is never a safe bin: it runs what its arguments say. The entry is ignored"),
    "safe_bin_no_profile": _("`%(entry)s` has no argument profile, so the entry is ignored"),
    "safe_bin_interpreter_unprofiled": _(
        "`%(entry)s` runs code: without a hardened profile of your own the entry is ignored"
    ),
    "safe_bin_interpreter_not_hardened": _(
        "`%(entry)s` runs code, and its profile is not hardened: bound `maxPositional` and admit no option with code"
    ),
    "host_node": _("commands on a node are refused: no bridge to nodes exists yet"),
    "fallback_runs": _("commands that nobody answers for run, as far as `security` lets them"),
    "elevated_anybody": _("everybody on `%(entry)s` may have commands elevated"),
    "elevated_never": _("no list of every agent names `%(entry)s`, so nobody there is elevated"),
    "elevated_nobody": _("elevated commands are switched on, and `allowFrom` names nobody: list who may have them"),
    "exec_unasked": _("every command runs, and nobody is asked: choose the mode `ask` or `allowlist`"),
    "allowlist_empty": _(
        "the allowlist of the approvals has no entry: every command but safe bins is refused; add patterns, or ask"
    ),
    "elevated_full": _("elevated commands of listed senders run unasked where settings are full and off"),
}


def command_findings(draft: Draft) -> Iterator[LintFinding]:
    """Review every record that says how commands run."""
    shared = next((record for record in draft.records("exec") if record.agent_id is None), None)
    for record in draft.records("exec"):
        profiles = {**(_profiles(shared)), **_profiles(record)}
        for entry in record.safe_bins or ():
            trouble = safe_bin_trouble(entry, profiles, release=draft.dialect.release)
            if trouble is not None:
                yield _finding(draft, record, f"safe_bin_{trouble}", "safeBins", entry)
        if record.host == "node":
            yield _finding(draft, record, "host_node", "host")
        if (record.host or (shared.host if shared is not None else None)) != "sandbox":
            yield from _asked(draft, record)
    for record in (*draft.records("approvals"), *draft.records("approvals_agent")):
        if record.ask_fallback == "full":
            yield _finding(draft, record, "fallback_runs", "askFallback")
    yield from _elevated(draft)


def _asked(draft: Draft, record: Any) -> Iterator[LintFinding]:
    """Find commands that all run unasked, and allowlists that let none pass."""
    member = "mode" if record.mode else "security"
    if record.mode == "full" or (record.security == "full" and record.ask == "off"):
        yield _finding(draft, record, "exec_unasked", member)
    strict = record.mode == "allowlist" or (record.security == "allowlist" and record.ask == "off")
    if strict and not record.safe_bins and not draft.records("allowlist"):
        yield _finding(draft, record, "allowlist_empty", member)


def _elevated(draft: Draft) -> Iterator[LintFinding]:
    policy = draft.policy
    listed = _listed(policy)
    for record in (*([policy] if policy is not None else ()), *draft.records("agent")):
        member = "elevated.allowFrom" if record is policy else "tools.elevated.allowFrom"
        for provider, senders in _listed(record).items():
            if ANYBODY in senders:
                yield _finding(draft, record, "elevated_anybody", member, provider)
            if record is not policy and senders and not listed.get(provider):
                yield _finding(draft, record, "elevated_never", member, provider)
    if policy is not None and policy.elevated_enabled and not any(listed.values()):
        yield _finding(draft, policy, "elevated_nobody", "elevated.allowFrom")
    if policy is not None and policy.elevated_default == "full" and policy.elevated_enabled is not False and listed:
        yield _finding(draft, policy, "elevated_full", "agents.defaults.elevatedDefault")


def _finding(draft: Draft, record: Any, code: str, member: str, entry: str = "") -> LintFinding:
    place = show_path(draft.places.of(record))
    severity: LintSeverity = "warning"
    message = str(MESSAGES[code]) % {"entry": entry}
    return LintFinding(
        code, severity, ".".join(filter(None, (place, member))), record.pk, kind_of(record), entry, message
    )


def _profiles(record: Any) -> Mapping[str, Any]:
    return (record.safe_bin_profiles or {}) if record is not None else {}


def _listed(record: Any) -> Mapping[str, list[Any]]:
    listed = record.elevated_allow_from if record is not None else None
    return listed if isinstance(listed, dict) else {}
