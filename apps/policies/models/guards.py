"""What guards calls beside the lists of tools: grants of permissions, and filters of content."""

import re
from typing import Any, ClassVar, Final

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import Role
from apps.firewall.engine.resources import MATCHERS
from apps.firewall.identifiers import read_id
from apps.firewall.patterns import PatternError, compile_pattern
from apps.policies.fields import OrderedJSONField
from apps.policies.models.base import PolicyRecord, key_present, tracked

PATTERNS_LIMIT: Final = 200
PATTERN_LENGTH: Final = 512
KEY = RegexValidator(r"\A[\w][\w .-]{0,63}\Z", _("Use letters, digits, spaces, dots, hyphens and underscores."))
PERMISSION: Final = re.compile(r"[a-z*][a-z0-9_.*-]*(:[a-z0-9_.*-]+){0,3}")
SENDER: Final = re.compile(r"\*|(id|e164|username|name|channel:[^:\s]+):\s*\S.*", re.IGNORECASE)


class ContentWhere(models.TextChoices):
    PARAMS = "params", _("What goes to the tool")
    RESULT = "result", _("What comes back")
    BOTH = "both", _("Both")


class ContentAction(models.TextChoices):
    MASK = "mask", _("Mask")
    BLOCK = "block", _("Block")
    WARN = "warn", _("Warn")


@tracked
class PermissionGrant(PolicyRecord):
    """Permissions of tools, given to whom every condition fits that is not empty.

    `resources` maps a kind (path, domain, database) to the patterns that a call's resources must fit.
    """

    key = models.CharField(max_length=64, validators=[KEY])
    permissions: "ArrayField[list[str], list[str]]" = ArrayField(models.CharField(max_length=128))
    agent = models.CharField(max_length=128, blank=True)
    token = models.CharField(max_length=64, blank=True)
    sender = models.CharField(max_length=512, blank=True)
    owner = models.BooleanField(default=False)
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    session = models.CharField(max_length=512, blank=True)
    resources = OrderedJSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="permission_grant_once_per_environment"),
            key_present("permission_grant_has_key"),
            models.CheckConstraint(
                condition=~Q(agent="", token="", sender="", owner=False, role="", session=""),
                name="permission_grant_is_for_somebody",
            ),
            models.CheckConstraint(condition=Q(permissions__len__gt=0), name="permission_grant_gives_something"),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        mistakes: dict[str, Any] = {}
        for permission in self.permissions or ():
            if not PERMISSION.fullmatch(permission):
                mistakes["permissions"] = _("`%(name)s` is no permission: write it as `db:read` or `db:*`") % {
                    "name": permission
                }
        if self.token and not _is_token(self.token):
            mistakes["token"] = _("a token is named by its id, `tok_…`")
        if self.sender and not SENDER.fullmatch(self.sender.strip()):
            mistakes["sender"] = _(
                "begin with `id:`, `e164:`, `username:`, `name:` or `channel:<channel>:`, or write `*` for anybody"
            )
        wrong = _resources_mistake(self.resources)
        if wrong:
            mistakes["resources"] = wrong
        if not any((self.agent, self.token, self.sender, self.owner, self.role, self.session)):
            mistakes["__all__"] = _("Say to whom: at least one condition.")
        if mistakes:
            raise ValidationError(mistakes)


@tracked
class ContentFilter(PolicyRecord):
    """An expression that is searched in what goes to tools or comes back; an empty list of tools means every tool."""

    key = models.CharField(max_length=64, validators=[KEY])
    tools: "ArrayField[list[str], list[str]]" = ArrayField(models.CharField(max_length=512), default=list, blank=True)
    pattern = models.CharField(max_length=PATTERN_LENGTH)
    where = models.CharField(max_length=8, choices=ContentWhere.choices, default=ContentWhere.BOTH)
    action = models.CharField(max_length=8, choices=ContentAction.choices, default=ContentAction.MASK)
    message = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="content_filter_once_per_environment"),
            key_present("content_filter_has_key"),
            models.CheckConstraint(condition=Q(where__in=ContentWhere.values), name="content_filter_where_known"),
            models.CheckConstraint(condition=Q(action__in=ContentAction.values), name="content_filter_action_known"),
        ]

    def __str__(self) -> str:
        return self.key

    def clean(self) -> None:
        try:
            compiled = compile_pattern(self.pattern or "")
        except PatternError as exc:
            raise ValidationError({"pattern": exc.message}) from exc
        if compiled.match("") is not None:
            raise ValidationError({"pattern": _("it fits the empty text, so it fits everywhere")})


def _is_token(text: str) -> bool:
    try:
        read_id("tok", text)
    except ValueError:
        return False
    return True


def _resources_mistake(resources: Any) -> Any:
    if not isinstance(resources, dict):
        return _("must be an object")
    for kind, patterns in resources.items():
        if kind not in MATCHERS:
            return _("`%(kind)s` is no kind of resource: %(known)s") % {"kind": kind, "known": ", ".join(MATCHERS)}
        if not isinstance(patterns, list) or not 0 < len(patterns) <= PATTERNS_LIMIT:
            return _("`%(kind)s` needs a list of 1 to %(limit)s patterns") % {"kind": kind, "limit": PATTERNS_LIMIT}
        for pattern in patterns:
            if not isinstance(pattern, str) or not 0 < len(pattern.strip()) <= PATTERN_LENGTH:
                return _("a pattern of `%(kind)s` is a text of 1 to %(limit)s characters") % {
                    "kind": kind,
                    "limit": PATTERN_LENGTH,
                }
            if not pattern.isprintable() or (kind == "path" and ".." in pattern.split("/")):
                return _("no path can fit `%(pattern)s`") % {"pattern": pattern}
    return None
