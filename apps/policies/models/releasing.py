"""How an environment publishes: whether a second person confirms, and the requests to publish, now or later."""

from typing import ClassVar, Final

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.firewall.identifiers import new_id, show_id
from apps.policies.models.publications import Publication
from apps.registry.models import Environment

HOURS: Final = 72
HOURS_MOST: Final = 24 * 30


class RequestState(models.TextChoices):
    """What has become of a request."""

    WAITING = "waiting", _("Waits for a second person")
    SCHEDULED = "scheduled", _("Scheduled")
    DONE = "done", _("Published")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    REFUSED = "refused", _("Refused by the checks")
    STALE = "stale", _("Overtaken")
    EXPIRED = "expired", _("Expired")


class PublishRule(models.Model):
    """How an environment publishes; one without a row needs nobody else."""

    environment = models.OneToOneField(Environment, on_delete=models.PROTECT, related_name="+", primary_key=True)
    needs_second_person = models.BooleanField(default=False)
    hours = models.PositiveSmallIntegerField(
        default=HOURS, validators=[MinValueValidator(1), MaxValueValidator(HOURS_MOST)]
    )
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return "second person" if self.needs_second_person else "one person"


class PublishRequest(models.Model):
    """A wish to publish exactly one state of the draft, after exactly one state of what is live.

    `digest` is the draft's, `expected_live` what was live (empty for nothing), `is_reviewed` whether it was asked from
    the page of the review, `outcome` why it ended otherwise than by a publication. One that is to go back names the
    publication in `rollback_of`; `digest` is of its snapshot then, and the draft is no matter of it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=12, choices=RequestState.choices)
    digest = models.CharField(max_length=64)
    expected_live = models.CharField(max_length=64, blank=True)
    message = models.TextField()
    is_reviewed = models.BooleanField(default=False)
    publish_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    actor = models.CharField(max_length=200)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    confirmed_actor = models.CharField(max_length=200, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.TextField(blank=True)
    rollback_of = models.ForeignKey(Publication, null=True, on_delete=models.PROTECT, related_name="+")
    publication = models.ForeignKey(Publication, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering: ClassVar = ["-asked_at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["environment"],
                name="publish_request_one_open",
                condition=Q(state__in=["waiting", "scheduled"]),
            ),
            models.CheckConstraint(
                name="publish_request_done_with_publication",
                condition=Q(state="done", publication__isnull=False) | (~Q(state="done") & Q(publication__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return self.shown_id

    @property
    def shown_id(self) -> str:
        return show_id("preq", self.pk)

    @property
    def is_open(self) -> bool:
        return self.state in {RequestState.WAITING, RequestState.SCHEDULED}
