"""What policy records have in common."""

from typing import Any, ClassVar

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.firewall.identifiers import new_id
from apps.policies.fields import OrderedJSONField
from apps.registry.models import Environment


def tracked(model: type[models.Model]) -> Any:
    """Log every insert, update and delete of a model by triggers, which bulk and raw writes cannot escape.

    The update trigger has no condition: `json` columns cannot be compared, and a write that changes nothing
    is still a write.
    """
    return pghistory.track(
        pghistory.InsertEvent(),
        pghistory.UpdateEvent(condition=None),
        pghistory.DeleteEvent(),
        level=pghistory.Statement,
        append_only=True,
    )(model)


def names_field() -> "ArrayField[list[str] | None, list[str] | None]":
    """Make a column for a list of names; NULL means that the document does not have the member."""
    return ArrayField(models.CharField(max_length=512), null=True, blank=True)


def one_list_of_two(name: str, allow: str = "allow", also_allow: str = "also_allow") -> models.CheckConstraint:
    """Refuse names in `allow` and in `alsoAllow` of one scope, as OpenClaw does."""
    return models.CheckConstraint(
        condition=Q(**{f"{allow}__isnull": True})
        | Q(**{f"{also_allow}__isnull": True})
        | Q(**{f"{allow}__len": 0})
        | Q(**{f"{also_allow}__len": 0}),
        name=name,
    )


def key_present(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(condition=~Q(key=""), name=name)


class PolicyRecord(models.Model):
    """One record of an environment's working draft.

    `version` counts the updates (optimistic concurrency), `position` is the place in the document,
    `extra` holds what the document says here and this model does not name, as it was written.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    version = models.PositiveIntegerField(default=1)
    position = models.PositiveIntegerField(default=0)
    extra = OrderedJSONField(default=dict, blank=True)

    class Meta:
        abstract = True


class ToolBlock(models.Model):
    """The three lists of a policy block; NULL means that the member is absent."""

    allow = names_field()
    also_allow = names_field()
    deny = names_field()

    class Meta:
        abstract = True


class ScopeBlock(ToolBlock):
    """What the whole installation and one agent have alike: a profile, lists, the sandbox's lists, who is elevated."""

    profile = models.CharField(max_length=128, null=True, blank=True)
    sandbox_allow = names_field()
    sandbox_also_allow = names_field()
    sandbox_deny = names_field()
    fs_workspace_only = models.BooleanField(null=True, blank=True)
    elevated_enabled = models.BooleanField(null=True, blank=True)
    elevated_allow_from = OrderedJSONField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering: ClassVar = ["position", "id"]
