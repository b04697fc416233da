"""Everything that changes policies. Each function is one transaction; permissions are checked by the doors."""

from apps.policies.services.channels import group_place
from apps.policies.services.demo import demo_import
from apps.policies.services.documents import ImportReport, document_check, document_import, draft_discard
from apps.policies.services.edits import draft_edit
from apps.policies.services.files import FilesPreview, FilesReport, files_apply, files_preview
from apps.policies.services.guardrails import (
    guardrail_accept,
    guardrail_create,
    guardrail_delete,
    guardrail_save,
)
from apps.policies.services.policy_tests import policy_test_create, policy_test_delete, policy_test_save
from apps.policies.services.promoting import promote
from apps.policies.services.publishing import publish, rollback
from apps.policies.services.records import (
    account_create,
    agent_create,
    allowlist_entry_create,
    approvals_agent_create,
    approvals_create,
    channel_create,
    content_filter_create,
    draft_start,
    exec_settings_create,
    group_create,
    kept_update,
    permission_grant_create,
    profile_create,
    provider_policy_create,
    record_delete,
    record_update,
    sender_rule_create,
)
from apps.policies.services.releasing import (
    publish_ask,
    publish_confirm,
    publish_due,
    publish_rule_save,
    publish_withdraw,
    rollback_ask,
)
from apps.policies.services.removing import rule_remove
from apps.policies.services.sender_import import SenderReport, senders_check, senders_import
from apps.policies.services.undoing import change_undo

__all__ = [
    "FilesPreview",
    "FilesReport",
    "ImportReport",
    "SenderReport",
    "account_create",
    "agent_create",
    "allowlist_entry_create",
    "approvals_agent_create",
    "approvals_create",
    "change_undo",
    "channel_create",
    "content_filter_create",
    "demo_import",
    "document_check",
    "document_import",
    "draft_discard",
    "draft_edit",
    "draft_start",
    "exec_settings_create",
    "files_apply",
    "files_preview",
    "group_create",
    "group_place",
    "guardrail_accept",
    "guardrail_create",
    "guardrail_delete",
    "guardrail_save",
    "kept_update",
    "permission_grant_create",
    "policy_test_create",
    "policy_test_delete",
    "policy_test_save",
    "profile_create",
    "promote",
    "provider_policy_create",
    "publish",
    "publish_ask",
    "publish_confirm",
    "publish_due",
    "publish_rule_save",
    "publish_withdraw",
    "record_delete",
    "record_update",
    "rollback",
    "rollback_ask",
    "rule_remove",
    "sender_rule_create",
    "senders_check",
    "senders_import",
]
