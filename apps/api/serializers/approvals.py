"""Requests to a person, and the answers."""

from functools import cache
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.api.serializers.shared import MistakeSerializer
from apps.approvals.answering import answer_rule_remarks
from apps.approvals.asking import TIMEOUT_S
from apps.approvals.drafts import GRANT_DAYS
from apps.approvals.models import WAIT_LEAST_S, WAIT_MOST_S, AnswerPolicy, AnswerRule, Approval, Deputy, Grant, Team
from apps.approvals.proposals import proposal_for
from apps.approvals.scopes import ALWAYS_OFF, always_off_shown
from apps.approvals.states import Decision
from apps.approvals.unbound import LANGUAGES, UNBOUND, unbound_shown
from apps.registry.models import Environment


class UnboundReasonSerializer(serializers.Serializer[Any]):
    """Why something is not bound, in each language."""

    def get_fields(self) -> dict[str, Any]:
        return {language: serializers.CharField() for language in LANGUAGES}


class UnboundSerializer(serializers.Serializer[Any]):
    """One thing that an answer is not bound to: it may be another when the action runs."""

    code = serializers.ChoiceField(choices=sorted(UNBOUND))
    text = serializers.CharField(help_text="What it is about: a program, a folder, a piece of the line.")
    reason = UnboundReasonSerializer()


class AlwaysOffSerializer(serializers.Serializer[Any]):
    """Why a request offers no `allow-always`."""

    code = serializers.ChoiceField(choices=sorted(ALWAYS_OFF))
    reason = UnboundReasonSerializer()


class ApprovalSerializer(serializers.ModelSerializer[Approval]):
    """A request as people see it: masked, never the sealed action."""

    id = serializers.CharField(source="shown_id", read_only=True)
    call_id = serializers.CharField(source="shown_call_id", read_only=True)
    environment = serializers.SlugRelatedField[Environment](slug_field="slug", read_only=True)
    decided_by = serializers.CharField(source="decided_by_label", read_only=True)
    kind = serializers.CharField(read_only=True)
    state = serializers.CharField(read_only=True)
    not_bound = serializers.SerializerMethodField()
    always_off = serializers.SerializerMethodField()

    class Meta:
        model = Approval
        fields: ClassVar = [
            "id", "call_id", "environment", "kind", "version", "state", "tool", "title", "severity", "command", "argv",
            "resolved_path", "cwd", "host", "params", "evidence", "parts", "warnings", "not_bound", "agent",
            "session_key", "channel", "sender", "sender_name", "sender_is_owner", "requester", "reason_layer",
            "reason_rule", "reason", "snapshot_digest", "trace_id", "decisions", "always_off", "requested_at",
            "expires_at", "decided_by", "decided_at", "decision_reason", "scope", "escalated_at", "escalated_to",
        ]  # fmt: skip

    @extend_schema_field(UnboundSerializer(many=True))
    def get_not_bound(self, approval: Approval) -> list[dict[str, Any]]:
        return unbound_shown(approval.not_bound)

    @extend_schema_field(AlwaysOffSerializer(allow_null=True))
    def get_always_off(self, approval: Approval) -> dict[str, Any] | None:
        return always_off_shown(approval)


@cache
def _reader() -> ApprovalSerializer:
    return ApprovalSerializer()


def approval_shown(approval: Approval) -> dict[str, Any]:
    """Write one request as `ApprovalSerializer` does, whose fields are put together once and not for each answer."""
    shown: dict[str, Any] = _reader().to_representation(approval)
    return shown


class AnswerPolicySerializer(serializers.ModelSerializer[AnswerPolicy]):
    """How long people have to answer; `wait_s` null for `usual_s`, what the environment's release gives."""

    usual_s = serializers.SerializerMethodField()

    class Meta:
        model = AnswerPolicy
        fields: ClassVar = ["version", "wait_s", "usual_s"]
        read_only_fields: ClassVar = ["version"]

    def get_usual_s(self, policy: AnswerPolicy) -> int:
        return TIMEOUT_S[policy.environment.dialect]


class AnswerPolicyChangeSerializer(serializers.Serializer[Any]):
    """`version` is the one that was seen."""

    version = serializers.IntegerField(min_value=1)
    wait_s = serializers.IntegerField(allow_null=True, min_value=WAIT_LEAST_S, max_value=WAIT_MOST_S)


class AnswerRuleSerializer(serializers.ModelSerializer[AnswerRule]):
    """Who answers which requests; empty lists of requests match every one, no roles, people and teams: whoever may.

    After `escalate_after_s` seconds without an answer those of `escalate_…` may answer as well. `remarks` names what a
    rule is about and is not there so far; a name that is misspelt is refused.
    """

    remarks = serializers.SerializerMethodField()

    @extend_schema_field(MistakeSerializer(many=True))
    def get_remarks(self, rule: AnswerRule) -> list[dict[str, str]]:
        return answer_rule_remarks(rule)

    class Meta:
        model = AnswerRule
        fields: ClassVar = [
            "name", "agents", "channels", "groups", "tools", "roles", "people", "teams", "quorum", "escalate_after_s",
            "escalate_roles", "escalate_people", "escalate_teams", "version", "remarks",
        ]  # fmt: skip
        read_only_fields: ClassVar = ["version"]
        validators: ClassVar[list[Any]] = []


class AnswerRuleChangeSerializer(AnswerRuleSerializer):
    """Only what changes, and the `version` that was seen."""

    class Meta(AnswerRuleSerializer.Meta):
        read_only_fields: ClassVar = []
        extra_kwargs: ClassVar = {"version": {"required": True, "min_value": 1}}


class AnswerRuleMoveSerializer(serializers.Serializer[Any]):
    before = serializers.CharField(allow_blank=True, max_length=100, help_text="Another rule; empty: behind all.")


class TeamSerializer(serializers.ModelSerializer[Team]):
    """People by one name; `people` are user names."""

    class Meta:
        model = Team
        fields: ClassVar = ["name", "people", "version"]
        read_only_fields: ClassVar = ["version"]
        validators: ClassVar[list[Any]] = []


class TeamChangeSerializer(TeamSerializer):
    """Only what changes, and the `version` that was seen."""

    class Meta(TeamSerializer.Meta):
        read_only_fields: ClassVar = []
        extra_kwargs: ClassVar = {"version": {"required": True, "min_value": 1}}


class DeputySerializer(serializers.ModelSerializer[Deputy]):
    """Who answers in whose place, by user name."""

    person = serializers.SlugRelatedField[Any](slug_field="username", read_only=True)
    deputy = serializers.CharField(source="deputy.username", max_length=64)

    class Meta:
        model = Deputy
        fields: ClassVar = ["id", "person", "deputy", "until"]
        read_only_fields: ClassVar = ["id"]


class GrantScopeSerializer(serializers.Serializer[Any]):
    arg_pattern = serializers.CharField(default="", allow_blank=True, max_length=2000)
    every_agent = serializers.BooleanField(default=False)
    days = serializers.IntegerField(
        default=GRANT_DAYS, allow_null=True, min_value=1, max_value=3650, help_text="null: without an end"
    )


class GrantSerializer(serializers.ModelSerializer[Grant]):
    """A standing "always"; `agent` is empty for every agent, `expires_at` null for one without an end."""

    id = serializers.CharField(source="shown_id", read_only=True)
    created_by = serializers.CharField(source="created_by_label", read_only=True)
    revoked_by = serializers.CharField(source="revoked_by_label", read_only=True)

    class Meta:
        model = Grant
        fields: ClassVar = [
            "id", "agent", "tool", "pattern", "arg_pattern", "shown", "created_at", "created_by", "expires_at", "uses",
            "last_used_at", "revoked_at", "revoked_by",
        ]  # fmt: skip


class ProposalSerializer(serializers.Serializer[Any]):
    """A narrower rule that covers every use on record: `grants/{id}/narrow` takes its `arg_pattern`."""

    kind = serializers.ChoiceField(choices=["exact", "first"])
    arg_pattern = serializers.CharField()
    uses = serializers.IntegerField()


class GrantDetailSerializer(GrantSerializer):
    """One standing approval; `proposal` is null where its uses tell of nothing narrower, or it has ended."""

    proposal = serializers.SerializerMethodField()

    class Meta(GrantSerializer.Meta):
        fields: ClassVar = [*GrantSerializer.Meta.fields, "proposal"]

    @extend_schema_field(ProposalSerializer(allow_null=True))
    def get_proposal(self, grant: Grant) -> dict[str, Any] | None:
        at = self.context["at"]
        stands = grant.revoked_at is None and (grant.expires_at is None or grant.expires_at > at)
        proposal = proposal_for(grant) if stands else None
        return None if proposal is None else dict(ProposalSerializer(proposal).data)


class GrantNarrowSerializer(serializers.Serializer[Any]):
    arg_pattern = serializers.CharField(max_length=2000, help_text="Anchored with ^ and $.")


class ResolveSerializer(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=[decision.value for decision in Decision])
    reason = serializers.CharField(default="", allow_blank=True, max_length=2000)
    scope = GrantScopeSerializer(required=False, allow_null=True, help_text="How far `allow-always` reaches.")
