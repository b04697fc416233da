"""Reads of policies: the draft, what is live, what changed between them."""

from collections.abc import Collection
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.translation import get_language

from apps.accounts.selectors import tokens
from apps.firewall.engine.diff import SnapshotDiff, diff_snapshots
from apps.firewall.engine.diff_guards import ToolDifference
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.changes import DraftChange, LogEntry, changes_since, draft_mark, history_of, records_changed
from apps.policies.compiler import compile_draft
from apps.policies.document.findings import show_path
from apps.policies.document.guards import write_guards_tree
from apps.policies.document.members import without_places
from apps.policies.document.secrets import with_masks, with_notes, with_secrets
from apps.policies.document.unread import without_unread
from apps.policies.document.writing import write_approvals_tree, write_tree
from apps.policies.errors import SnapshotUntrustedError
from apps.policies.kept import Kept
from apps.policies.kinds import KINDS
from apps.policies.lint import LintFinding, lint_commands, with_outside
from apps.policies.lint import lint as review
from apps.policies.models import (
    Agent,
    AllowlistEntry,
    Channel,
    ChannelGroup,
    ContentFilter,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecSettings,
    GlobalPolicy,
    PermissionGrant,
    Profile,
    ProviderPolicy,
    Publication,
    SenderRule,
)
from apps.policies.models.base import PolicyRecord
from apps.policies.places import Places
from apps.policies.profiles import known_profiles
from apps.policies.snapshots import publication_snapshot, snapshot_loaded
from apps.policies.tool_changes import catalogue_changes, catalogue_differences
from apps.registry.models import Environment
from apps.remembered import remembered

DOCUMENTS = ("document", "approvals_document", "guards_document")
Secrets = Literal["masked", "open", "notes"]
_SECRETS = {"masked": with_masks, "open": with_secrets, "notes": with_notes}

DRAFTS_KEPT = 4
_drafts: Kept[Snapshot] = Kept(DRAFTS_KEPT)
_reviews: Kept[tuple[LintFinding, ...]] = Kept(DRAFTS_KEPT)

__all__ = [
    "DraftChange",
    "LintFinding",
    "LogEntry",
    "agent_get",
    "agents",
    "allowlist",
    "approvals",
    "approvals_agent",
    "approvals_export",
    "channels",
    "content_filters",
    "document_export",
    "draft_change_count",
    "draft_changes",
    "draft_diff",
    "draft_is_reviewed",
    "draft_is_small",
    "draft_snapshot",
    "draft_tool_changes",
    "draft_tool_differences",
    "exec_settings",
    "global_policy",
    "groups",
    "guards_export",
    "known_profiles",
    "lint",
    "lint_commands",
    "live_publication",
    "live_snapshot",
    "permission_grants",
    "profile_get",
    "profiles",
    "provider_policies",
    "publication_get",
    "publication_numbers",
    "publication_snapshot",
    "publications",
    "record_get",
    "record_history",
    "record_path",
    "sender_rules",
    "snapshots_diff",
    "unmodelled",
]


# --- what is live ---


def publications(environment: Environment) -> QuerySet[Publication]:
    """Every publication, the newest first, without the documents."""
    rows = Publication.objects.filter(environment=environment).select_related("published_by", "rollback_of")
    return rows.defer(*DOCUMENTS, *(f"rollback_of__{name}" for name in DOCUMENTS))


def publication_get(publication_id: UUID) -> Publication | None:
    """Find a publication by id."""
    return Publication.objects.select_related("environment", "published_by").filter(pk=publication_id).first()


def publication_numbers(environment: Environment, digests: Collection[str]) -> dict[str, int]:
    """Return by which number each of some snapshots went live last; those that never did are left out."""
    known = Publication.objects.filter(environment=environment, snapshot_id__in=digests).order_by("number")
    return dict(known.values_list("snapshot_id", "number"))


@remembered
def live_publication(environment: Environment) -> Publication | None:
    """Return the newest publication, or None when nothing was published."""
    return publications(environment).first()


def live_snapshot(environment: Environment) -> Snapshot | None:
    """Return what is live, digest and signature checked; one query when it is in memory already.

    Raises:
        SnapshotUntrustedError: digest or signature do not fit.
    """
    digest = _live_digest(environment)
    return None if digest is None else snapshot_loaded(digest)


@remembered
def _live_digest(environment: Environment) -> str | None:
    return Publication.objects.filter(environment=environment).values_list("snapshot_id", flat=True).first()


# --- the draft ---


def draft_snapshot(environment: Environment) -> Snapshot:
    """Compile the draft; a draft that has not changed is not compiled again.

    Raises:
        SnapshotError: the draft has no canonical form.
    """
    return _drafts.get(_draft_key(environment), lambda: compile_draft(environment))


def lint(environment: Environment) -> list[LintFinding]:
    """Review the draft, in the language in force; a draft that has not changed is not reviewed again."""
    reviewed = _reviews.get(_review_key(environment), lambda: tuple(review(environment)))
    return with_outside(environment, reviewed)


def draft_is_reviewed(environment: Environment) -> bool:
    """Say whether the draft as it is was compiled and reviewed already."""
    return _drafts.knows(_draft_key(environment)) and _reviews.knows(_review_key(environment))


def draft_is_small(environment: Environment, *, most: int) -> bool:
    """Say whether the draft has at most so many agents, groups and rules by sender."""
    left = most
    for model in (Agent, ChannelGroup, SenderRule):
        left -= model._default_manager.filter(environment=environment).order_by()[: left + 1].count()
        if left < 0:
            return False
    return True


def _draft_key(environment: Environment) -> tuple[Any, ...]:
    return environment.pk, environment.dialect, draft_mark()


def _review_key(environment: Environment) -> tuple[Any, ...]:
    return *_draft_key(environment), get_language(), _usable_tokens()


@remembered
def _usable_tokens() -> frozenset[Any]:
    """Return the tokens that a grant may name."""
    return frozenset(tokens().filter(revoked_at=None).values_list("pk", flat=True))


def document_export(environment: Environment, *, secrets: Secrets = "masked") -> dict[str, Any]:
    """Write the draft as `openclaw.json` in the current form of its release.

    Args:
        secrets: "masked" puts OpenClaw's placeholder, which a later import turns back; "notes" their length and short
            hash; "open" the values themselves.
    """
    tree: dict[str, Any] = _SECRETS[secrets](write_tree(environment))
    return tree


def document_for_release(environment: Environment, document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Leave out of an exported document the keys that its release refuses, and name their places."""
    left, dropped = without_unread(document, environment.dialect)
    return left, [show_path(path) for path in dropped]


def approvals_export(environment: Environment, *, secrets: Secrets = "masked") -> dict[str, Any] | None:
    """Write the draft's exec approvals document; None when there is none."""
    tree: dict[str, Any] | None = _SECRETS[secrets](write_approvals_tree(environment))
    return tree


def guards_export(environment: Environment) -> dict[str, Any]:
    """Write the draft's grants of permissions and content filters as a document; empty when there are none."""
    return write_guards_tree(environment)


def draft_changes(environment: Environment, *, limit: int = 500) -> list[DraftChange]:
    """List what differs from what is live: record, field, before, after, who, when."""
    return changes_since(environment, live_publication(environment), limit=limit)


def draft_change_count(environment: Environment) -> int:
    """Count the records that were written since the publication that is live."""
    return records_changed(environment, live_publication(environment))


def draft_tool_differences(environment: Environment) -> tuple[ToolDifference, ...]:
    """Say which tools a publication adds, changes and takes away; nothing where there is nothing to compare with."""
    try:
        live = live_snapshot(environment)
    except SnapshotUntrustedError:  # nobody can say what it held; the pages of what is live tell of it
        return ()
    return () if live is None else catalogue_differences(environment, live)


def draft_tool_changes(environment: Environment) -> list[DraftChange]:
    """List the changes of tools that a publication makes live, as `draft_changes` lists those of records."""
    return catalogue_changes(environment, draft_tool_differences(environment))


def draft_diff(environment: Environment) -> SnapshotDiff | None:
    """Compare what is live with the draft, over all classes of contexts; None when nothing is live.

    Raises:
        SnapshotError, SnapshotUntrustedError: one of the two cannot be used.
    """
    live = live_snapshot(environment)
    return None if live is None else snapshots_diff(live, draft_snapshot(environment))


@lru_cache(maxsize=4)
def snapshots_diff(old: Snapshot, new: Snapshot) -> SnapshotDiff:
    """Compare two snapshots over all classes of contexts; the last comparisons stay in memory."""
    return diff_snapshots(old, new)


# --- records ---


def global_policy(environment: Environment) -> GlobalPolicy | None:
    """Return what applies to every agent; None before the first import."""
    return GlobalPolicy.objects.select_related("environment").filter(environment=environment).first()


def agent_keys(environment: Environment) -> list[str]:
    """Name the agents of the draft in document order."""
    return list(Agent.objects.filter(environment=environment).order_by("position", "id").values_list("key", flat=True))


def agents_exist(environment: Environment) -> bool:
    """Say whether the draft has an agent."""
    return Agent.objects.filter(environment=environment).exists()


def agents(environment: Environment, *, words: str = "") -> QuerySet[Agent]:
    """Every agent in document order, with the numbers of its own rules: `provider_count`, `sender_count`.

    Args:
        words: what its key, its name or one of its labels holds; empty for all.
    """
    counts = {
        "provider_count": Count("provider_policies", distinct=True),
        "sender_count": Count("sender_rules", distinct=True),
    }
    found = Agent.objects.filter(environment=environment)
    if words:
        found = found.filter(Q(key__icontains=words) | Q(name__icontains=words) | Q(labels__icontains=words))
    return found.annotate(**counts).order_by("position", "id")


def agent_get(environment: Environment, key: str) -> Agent | None:
    """Find an agent by its id as the document writes it."""
    return Agent.objects.select_related("environment").filter(environment=environment, key=key).first()


def provider_policies(environment: Environment, agent: Agent | None = None) -> QuerySet[ProviderPolicy]:
    """The policies by provider of one agent, or those of every agent."""
    return ProviderPolicy.objects.filter(environment=environment, agent=agent).order_by("position", "id")


def exec_settings(environment: Environment, agent: Agent | None = None) -> ExecSettings | None:
    """The settings of the exec tool of one agent, or those of every agent."""
    return ExecSettings.objects.filter(environment=environment, agent=agent).first()


def approvals(environment: Environment) -> ExecApprovals | None:
    """The exec approvals document; its fields are the document's defaults."""
    return ExecApprovals.objects.filter(environment=environment).first()


def approvals_agent(environment: Environment, key: str) -> ExecApprovalsAgent | None:
    """What the exec approvals document says of an agent, or of every agent (`*`)."""
    return ExecApprovalsAgent.objects.filter(environment=environment, key=key).first()


@remembered
def agent_names(environment: str) -> list[str]:
    """Name the agents that policies of the environment with a slug speak of; of all where it is empty."""
    return list(_of_slug(Agent.objects.all(), environment).values_list("key", flat=True))


@remembered
def channel_names(environment: str) -> list[str]:
    """Name the channels that policies of the environment with a slug speak of; of all where it is empty."""
    return list(_of_slug(Channel.objects.all(), environment).values_list("key", flat=True))


def _of_slug(rows: QuerySet[Any], slug: str) -> QuerySet[Any]:
    return (rows.filter(environment__slug=slug) if slug else rows).order_by()


def channels(environment: Environment) -> QuerySet[Channel]:
    """Every channel in document order, with `group_count`."""
    rows = Channel.objects.filter(environment=environment).annotate(group_count=Count("groups"))
    return rows.order_by("position", "id")


def groups(environment: Environment, channel: Channel | None = None) -> QuerySet[ChannelGroup]:
    """Groups in document order, with channel, account and parent, and `sender_count`."""
    rows = ChannelGroup.objects.select_related("channel", "account", "parent").filter(environment=environment)
    if channel is not None:
        rows = rows.filter(channel=channel)
    return rows.annotate(sender_count=Count("sender_rules")).order_by("channel__position", "position", "id")


def sender_rules(
    environment: Environment, agent: Agent | None = None, group: ChannelGroup | None = None
) -> QuerySet[SenderRule]:
    """The rules by sender of one agent, of one group, or those that hold everywhere."""
    return SenderRule.objects.filter(environment=environment, agent=agent, group=group).order_by("position", "id")


def profiles(environment: Environment) -> QuerySet[Profile]:
    """The profiles of our own."""
    return Profile.objects.filter(environment=environment)


def profile_get(environment: Environment, key: str) -> Profile | None:
    """Find a profile of our own by its name."""
    return Profile.objects.select_related("environment").filter(environment=environment, key=key).first()


def allowlist(environment: Environment) -> QuerySet[AllowlistEntry]:
    """Every entry of the exec allowlists with its agent, in document order."""
    rows = AllowlistEntry.objects.select_related("approvals_agent").filter(environment=environment)
    return rows.order_by("approvals_agent__position", "position", "id")


def permission_grants(environment: Environment) -> QuerySet[PermissionGrant]:
    """Every grant of the draft, in the order in which they were made."""
    return PermissionGrant.objects.filter(environment=environment)


def content_filters(environment: Environment) -> QuerySet[ContentFilter]:
    """Every content filter of the draft, in the order in which masks are applied."""
    return ContentFilter.objects.filter(environment=environment)


def record_get(environment: Environment, kind: str, record_id: UUID) -> PolicyRecord | None:
    """Find a record of the draft; `kind` is a key of `apps.policies.kinds.KINDS`."""
    model = KINDS.get(kind)
    if model is None:
        return None
    return model._default_manager.select_related("environment").filter(environment=environment, pk=record_id).first()


def record_path(record: PolicyRecord) -> str:
    """Return the place of a record in its document."""
    return show_path(Places(record.environment).of(record))


def record_history(record: PolicyRecord, *, limit: int = 50) -> list[LogEntry]:
    """List the writes to a record, the newest first."""
    return history_of(record, limit=limit)


def unmodelled(record: PolicyRecord) -> dict[str, Any]:
    """Return what a record keeps verbatim; secrets are shown by length and short hash."""
    kept: dict[str, Any] = with_notes(without_places(record.extra))
    return kept
