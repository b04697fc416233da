"""Profiles, the global policy, agents, and what belongs to one model provider."""

import re
from typing import ClassVar, Final

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.policies.fields import OrderedJSONField
from apps.policies.models.base import (
    PolicyRecord,
    ScopeBlock,
    ToolBlock,
    key_present,
    names_field,
    one_list_of_two,
    tracked,
)

LABELS_MOST: Final = 32
LABEL_LENGTH: Final = 64
_LABEL: Final = re.compile(r"[\w ./-]+")


@tracked
class Profile(PolicyRecord):
    """A profile of our own. The built-in ones belong to the dialect and have no row."""

    key = models.CharField(max_length=128)
    label = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    allow = names_field()
    deny = names_field()

    class Meta:
        ordering: ClassVar = ["position", "key"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="profile_once_per_environment"),
            key_present("profile_has_key"),
        ]

    def __str__(self) -> str:
        return self.key


class ElevatedLevel(models.TextChoices):
    OFF = "off", gettext_lazy("Only when the call asks")
    ON = "on", gettext_lazy("On, a person is asked")
    ASK = "ask", gettext_lazy("Ask: the same as on")
    FULL = "full", gettext_lazy("Full, nobody is asked")


@tracked
class GlobalPolicy(PolicyRecord, ScopeBlock):
    """What applies to every agent: `tools`, and of `agents` and `commands` what policy needs.

    `extra` is the rest of the document, in its order. `refuse_unproven_groups` is ours: a call that names a group to
    which no session key leads is refused, instead of being decided without the group's rules.
    """

    subagent_allow = names_field()
    subagent_also_allow = names_field()
    subagent_deny = names_field()
    max_spawn_depth = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(5)]
    )
    elevated_default = models.CharField(max_length=8, choices=ElevatedLevel.choices, null=True, blank=True)
    owners = OrderedJSONField(null=True, blank=True)
    ownership = models.CharField(max_length=32, null=True, blank=True)
    refuse_unproven_groups = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment"], name="global_policy_once_per_environment"),
            one_list_of_two("global_policy_allow_or_also"),
            one_list_of_two("global_sandbox_allow_or_also", "sandbox_allow", "sandbox_also_allow"),
            one_list_of_two("global_subagent_allow_or_also", "subagent_allow", "subagent_also_allow"),
            models.CheckConstraint(
                condition=Q(max_spawn_depth__isnull=True) | Q(max_spawn_depth__range=(1, 5)),
                name="spawn_depth_one_to_five",
            ),
            models.CheckConstraint(
                condition=Q(elevated_default__isnull=True) | Q(elevated_default__in=ElevatedLevel.values),
                name="elevated_default_known",
            ),
        ]

    def __str__(self) -> str:
        return "tools"


@tracked
class Agent(PolicyRecord, ScopeBlock):
    """One agent and its policy; `key` is its id as the document writes it.

    `labels` are ours: guardrails find agents by them, and OpenClaw's document has no place for them.
    """

    key = models.CharField(max_length=128)
    name = models.CharField(max_length=200, null=True, blank=True)
    labels = ArrayField(models.CharField(max_length=LABEL_LENGTH), default=list, blank=True, size=LABELS_MOST)

    class Meta(ScopeBlock.Meta):
        abstract = False
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="agent_once_per_environment"),
            key_present("agent_has_key"),
            one_list_of_two("agent_allow_or_also"),
            one_list_of_two("agent_sandbox_allow_or_also", "sandbox_allow", "sandbox_also_allow"),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        mistake = _labels_mistake(self.labels)
        if mistake:
            raise ValidationError({"labels": mistake})


def _labels_mistake(labels: list[str]) -> str:
    for label in labels:
        if not label.strip() or label != label.strip() or not _LABEL.fullmatch(label):
            return _("`%(label)s` is no label: letters, digits, blanks and . _ - / only") % {"label": label}
    if len({label.casefold() for label in labels}) < len(labels):
        return _("a label stands there twice")
    return ""


@tracked
class ProviderPolicy(PolicyRecord, ToolBlock):
    """A policy for one provider or `provider/model`, of every agent or of one."""

    agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.CASCADE, related_name="provider_policies")
    key = models.CharField(max_length=512)
    profile = models.CharField(max_length=128, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["environment", "agent", "key"], name="provider_once_per_scope", nulls_distinct=False
            ),
            one_list_of_two("provider_policy_allow_or_also"),
        ]

    def __str__(self) -> str:
        return self.key
