"""Settings of the exec tool, and the exec approvals document with its allowlists."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.policies.fields import OrderedJSONField
from apps.policies.models.base import PolicyRecord, key_present, names_field, tracked
from apps.policies.models.scopes import Agent


class ExecHost(models.TextChoices):
    AUTO = "auto", _("Automatic")
    SANDBOX = "sandbox", _("Sandbox")
    GATEWAY = "gateway", _("Gateway")
    NODE = "node", _("Node")


class ExecMode(models.TextChoices):
    DENY = "deny", _("Deny")
    ALLOWLIST = "allowlist", _("Allowlist")
    ASK = "ask", _("Allowlist, else ask")
    AUTO = "auto", _("Allowlist, else a reviewer model")
    FULL = "full", _("Full")


class ExecSecurity(models.TextChoices):
    DENY = "deny", _("Deny")
    ALLOWLIST = "allowlist", _("Allowlist")
    FULL = "full", _("Full")


class ExecAsk(models.TextChoices):
    OFF = "off", _("Never ask")
    ON_MISS = "on-miss", _("Ask on a miss")
    ALWAYS = "always", _("Always ask")


def word_known(field: str, choices: type[models.TextChoices], name: str) -> models.CheckConstraint:
    return models.CheckConstraint(
        condition=Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__in": choices.values}), name=name
    )


@tracked
class ExecSettings(PolicyRecord):
    """`tools.exec`, of every agent or of one; NULL means that the member is absent."""

    agent = models.OneToOneField(Agent, null=True, blank=True, on_delete=models.CASCADE, related_name="exec_settings")
    host = models.CharField(max_length=16, choices=ExecHost.choices, null=True, blank=True)
    mode = models.CharField(max_length=16, choices=ExecMode.choices, null=True, blank=True)
    security = models.CharField(max_length=16, choices=ExecSecurity.choices, null=True, blank=True)
    ask = models.CharField(max_length=16, choices=ExecAsk.choices, null=True, blank=True)
    node = models.CharField(max_length=256, null=True, blank=True)
    path_prepend = names_field()
    safe_bins = names_field()
    safe_bin_trusted_dirs = names_field()
    safe_bin_profiles = OrderedJSONField(null=True, blank=True)
    strict_inline_eval = models.BooleanField(null=True, blank=True)
    timeout_s = models.PositiveIntegerField(null=True, blank=True)
    grant_expiry_days = models.PositiveIntegerField(null=True, blank=True)
    apply_patch_enabled = models.BooleanField(null=True, blank=True)
    apply_patch_workspace_only = models.BooleanField(null=True, blank=True)
    apply_patch_allow_models = names_field()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["environment", "agent"], name="exec_settings_once_per_scope", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(mode__isnull=True) | Q(security__isnull=True, ask__isnull=True),
                name="exec_mode_or_legacy_pair",
            ),
            word_known("host", ExecHost, "exec_host_known"),
            word_known("mode", ExecMode, "exec_mode_known"),
            word_known("security", ExecSecurity, "exec_security_known"),
            word_known("ask", ExecAsk, "exec_ask_known"),
            models.CheckConstraint(
                condition=Q(grant_expiry_days__isnull=True) | Q(grant_expiry_days__range=(1, 3650)),
                name="grant_expiry_within_ten_years",
            ),
        ]

    def __str__(self) -> str:
        return "tools.exec"


class ApprovalWords(models.Model):
    """The words that the defaults and each agent of the exec approvals document have alike."""

    security = models.CharField(max_length=16, choices=ExecSecurity.choices, null=True, blank=True)
    ask = models.CharField(max_length=16, choices=ExecAsk.choices, null=True, blank=True)
    ask_fallback = models.CharField(max_length=16, choices=ExecSecurity.choices, null=True, blank=True)
    auto_allow_skills = models.BooleanField(null=True, blank=True)

    class Meta:
        abstract = True


def words_known(prefix: str) -> list[models.CheckConstraint]:
    return [
        word_known("security", ExecSecurity, f"{prefix}_security_known"),
        word_known("ask", ExecAsk, f"{prefix}_ask_known"),
        word_known("ask_fallback", ExecSecurity, f"{prefix}_ask_fallback_known"),
    ]


@tracked
class ExecApprovals(PolicyRecord, ApprovalWords):
    """The exec approvals document of an environment; its own columns are the document's defaults."""

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment"], name="exec_approvals_once_per_environment"),
            *words_known("exec_approvals"),
        ]

    def __str__(self) -> str:
        return "exec approvals"


@tracked
class ExecApprovalsAgent(PolicyRecord, ApprovalWords):
    """What the exec approvals document says of one agent, or of every agent (`*`)."""

    key = models.CharField(max_length=128)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="exec_approvals_agent_once"),
            key_present("exec_approvals_agent_has_key"),
            *words_known("exec_approvals_agent"),
        ]

    def __str__(self) -> str:
        return self.key


@tracked
class AllowlistEntry(PolicyRecord):
    """A command that needs no approval: a pattern for the program, and one for its arguments."""

    approvals_agent = models.ForeignKey(ExecApprovalsAgent, on_delete=models.CASCADE, related_name="allowlist")
    entry_id = models.CharField(max_length=64, null=True, blank=True)
    pattern = models.CharField(max_length=1024)
    arg_pattern = models.CharField(max_length=2048, null=True, blank=True)
    source = models.CharField(max_length=64, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=~Q(pattern=""), name="allowlist_entry_has_pattern"),
        ]

    def __str__(self) -> str:
        return self.pattern
