"""Standing grants: made by "always", used by the runtime, revoked by people."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.access import Principal, actor_of, require_agents
from apps.accounts.models import User
from apps.approvals.drafts import GrantScope
from apps.approvals.errors import GrantNotFoundError, GrantScopeError
from apps.approvals.models import ARGV_PURPOSE, Approval, Grant
from apps.approvals.records import grant_entry
from apps.audit.chain import canonical, storable
from apps.audit.drafts import EntryKind
from apps.audit.services import entries_record, entry_record
from apps.events.notices import announce
from apps.firewall.engine.exec_policy.patterns import PatternError, argument_expression, is_anchored, is_narrower
from apps.firewall.engine.snapshot import Snapshot
from apps.keys.seal import seal
from apps.policies.models import Publication
from apps.policies.snapshots import publication_snapshot
from apps.registry.models import Environment

GLOB_MARKS = "*?"


BY_PLUGINS = "hooks"
"""The layer of requests that a plugin's hook makes; their rule names the plugin."""


def params_digest(params: Mapping[str, Any], *, asked_by: str = "") -> str:
    """Digest the exact params of a call, as hex SHA-256: what a grant for a tool other than exec covers.

    Args:
        asked_by: the plugin that asked; what was said to one is no answer to another.
    """
    covered = {"asked_by": asked_by, "params": params} if asked_by else params
    return hashlib.sha256(canonical(storable(covered))).hexdigest()


def grant_create(
    approval: Approval, *, action: Mapping[str, Any], by: Principal, at: datetime, scope: GrantScope
) -> Grant:
    """Keep an "always". Part of `approval_resolve`, inside its transaction, which also records it.

    Args:
        action: what was allowed, unsealed.
    Raises:
        GrantScopeError: the scope cannot be kept as asked.
    """
    grant = Grant(
        environment=approval.environment,
        agent="" if scope.every_agent else approval.agent,
        tool=approval.tool,
        created_at=at,
        created_by=by if isinstance(by, User) else None,
        created_by_label=str(by),
        approval=approval,
        expires_at=None if scope.days is None else at + timedelta(days=scope.days),
    )
    if approval.kind == Approval.Kind.EXEC:
        _cover_command(grant, approval, action.get("argv"), scope)
    elif scope.arg_pattern:
        raise GrantScopeError("only commands have arguments that a pattern could name")
    else:
        asked_by = approval.reason_rule if approval.reason_layer == BY_PLUGINS else ""
        grant.params_digest = params_digest(action.get("params") or {}, asked_by=asked_by)
        grant.shown = approval.title or approval.tool
    grant.save(force_insert=True)
    announce("grant.created", id=grant.pk, environment=approval.environment.slug)
    return grant


def grant_used(grant: Grant, *, at: datetime, call_id: UUID, session_key: str = "") -> None:
    """Count a use: a call ran without asking because of this grant.

    Raises:
        AuditUnavailableError: the ledger refuses; the call must not run.
    """
    with transaction.atomic():
        Grant.objects.filter(pk=grant.pk).update(uses=F("uses") + 1, last_used_at=at)
        entry_record(
            grant_entry(grant, EntryKind.GRANT_USED, actor="system", at=at, call_id=call_id, session_key=session_key)
        )


def grant_revoke(grant: Grant, *, by: Principal, at: datetime) -> Grant:
    """End a grant: the next such call asks again. A grant that was revoked before stays as it is.

    Raises:
        PermissionDeniedError: a token that is bound to other agents.
        AuditUnavailableError: the ledger refuses; the grant still stands.
    """
    with transaction.atomic():
        try:
            grant = Grant.objects.select_for_update(of=("self",)).select_related("environment").get(pk=grant.pk)
        except Grant.DoesNotExist:
            raise GrantNotFoundError("no such grant") from None
        require_agents(by, [grant.agent])
        if grant.revoked_at is not None:
            return grant
        grant.revoked_at = at
        grant.revoked_by_label = str(by)
        grant.save(update_fields=["revoked_at", "revoked_by_label"])
        announce("grant.revoked", id=grant.pk, environment=grant.environment.slug)
        entry_record(grant_entry(grant, EntryKind.GRANT_REVOKED, actor=actor_of(by), at=at))
    return grant


def agents_removed(before: Snapshot, after: Snapshot) -> set[str]:
    """Name the agents that one snapshot has and a later one has no more."""
    ids = [{agent["id"] for agent in each.document["agents"]} for each in (before, after)]
    return ids[0] - ids[1]


def grants_of_removed(environment: Environment, after: Snapshot, *, live: Publication | None) -> list[Grant]:
    """List the standing grants that a publication ends: those of agents that it removes."""
    standing = Grant.objects.filter(environment=environment, revoked_at=None).exclude(agent="")
    if live is None or live.snapshot_id == after.digest or not standing.exists():
        return []
    removed = agents_removed(publication_snapshot(live), after)
    return list(standing.filter(agent__in=removed).select_related("environment")) if removed else []


def grants_follow(last: Publication, publication: Publication) -> None:
    """End what stands for agents that a publication removes: one that is made anew begins with nothing."""
    ending = grants_of_removed(publication.environment, publication_snapshot(publication), live=last)
    for grant in ending:
        grant.revoked_at, grant.revoked_by_label = timezone.now(), str(publication.published_by or publication.actor)
        grant.save(update_fields=["revoked_at", "revoked_by_label"])
        announce("grant.revoked", id=grant.pk, environment=publication.environment.slug)
    if ending:
        at = timezone.now()
        entries_record([grant_entry(each, EntryKind.GRANT_REVOKED, actor=publication.actor, at=at) for each in ending])


def grant_narrow(grant: Grant, arg_pattern: str, *, by: Principal, at: datetime) -> Grant:
    """Put a narrower rule in the place of a grant: the same program, agents and end, fewer arguments.

    Nothing is asked for here, so nothing may be gained: what the grant did not cover is for a request to answer.

    Raises:
        GrantNotFoundError: it does not stand any more.
        GrantScopeError: its arguments are no pattern, or the new one cannot be kept or is not narrower for sure.
        AuditUnavailableError: the ledger refuses; the grant stays as it is.
    """
    with transaction.atomic():
        grant = Grant.objects.select_for_update(of=("self",)).select_related("environment").get(pk=grant.pk)
        require_agents(by, [grant.agent])
        if grant.revoked_at is not None or (grant.expires_at is not None and grant.expires_at <= at):
            raise GrantNotFoundError("this grant does not stand any more")
        if not grant.arg_pattern:
            raise GrantScopeError("it covers one call exactly: there is nothing narrower")
        narrower = Grant(
            environment=grant.environment,
            agent=grant.agent,
            tool=grant.tool,
            pattern=grant.pattern,
            created_at=at,
            created_by=by if isinstance(by, User) else None,
            created_by_label=str(by),
            approval=grant.approval,
            expires_at=grant.expires_at,
        )
        _cover_arguments(narrower, arg_pattern)
        if not is_narrower(arg_pattern, than=grant.arg_pattern):
            raise GrantScopeError(
                "narrower is a text that the rule covers already, or less than all where it covers all"
            )
        narrower.save(force_insert=True)
        announce("grant.created", id=narrower.pk, environment=grant.environment.slug)
        entry_record(grant_entry(narrower, EntryKind.GRANT_CREATED, actor=actor_of(by), at=at))
        grant_revoke(grant, by=by, at=at)
    return narrower


def _cover_command(grant: Grant, approval: Approval, argv: Sequence[str] | None, scope: GrantScope) -> None:
    path = approval.resolved_path
    if not path.startswith("/") or any(mark in path for mark in GLOB_MARKS):
        raise GrantScopeError("the program has no real path that a rule could name")
    grant.pattern = path
    if not scope.arg_pattern:
        if not argv:
            raise GrantScopeError("the request does not say which arguments it would run with")
        grant.sealed_argv = seal(json.dumps(list(argv)).encode(), purpose=ARGV_PURPOSE)
        grant.shown = approval.command or " ".join(approval.argv)
        return
    _cover_arguments(grant, scope.arg_pattern)


def _cover_arguments(grant: Grant, arg_pattern: str) -> None:
    try:
        argument_expression(arg_pattern)
    except PatternError as exc:
        raise GrantScopeError(str(exc)) from exc
    if not is_anchored(arg_pattern):
        raise GrantScopeError("anchor the pattern with ^ and $, around all of its alternatives")
    grant.arg_pattern = arg_pattern
    grant.shown = f"{grant.pattern} {arg_pattern}"
