"""Where people can be told of requests, and what became of each attempt."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.approvals.models import Approval
from apps.audit.models import Export
from apps.firewall.identifiers import new_id, show_id
from apps.policies.models import Publication, PublishRequest
from apps.registry.models import Environment


class Channel(models.TextChoices):
    """The ways to tell, in the order in which they are taken; the open console comes before all of them."""

    WEB_PUSH = "web_push", _("Web push")
    EMAIL = "email", _("E-mail")
    WEBHOOK = "webhook", _("Webhook")


class Quiet(models.TextChoices):
    """What a person is told of."""

    NOTHING = "", _("Every request that I may answer")
    LOW = "low", _("Only those of high risk")
    ALL = "all", _("None: keep quiet")


class State(models.TextChoices):
    """Where a delivery stands."""

    QUEUED = "queued", _("queued")
    SENT = "sent", _("sent")
    FAILED = "failed", _("failed, is tried again")
    GIVEN_UP = "given_up", _("given up")
    DROPPED = "dropped", _("answered before")


class Preference(models.Model):
    """How one person wants to be told."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="notified"
    )
    email = models.EmailField(_("E-mail"), blank=True)
    language = models.CharField(max_length=10, blank=True)
    quiet = models.CharField(max_length=8, choices=Quiet.choices, blank=True, default=Quiet.NOTHING)

    def __str__(self) -> str:
        return str(self.person)


class Subscription(models.Model):
    """One browser of a person that takes web push; what encrypts to it is sealed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    endpoint = models.CharField(max_length=1000, unique=True)
    sealed_keys = models.BinaryField()
    browser = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["created_at", "id"]

    def __str__(self) -> str:
        return self.browser

    @property
    def shown_id(self) -> str:
        return show_id("sub", self.pk)


class Webhook(models.Model):
    """An address that an environment tells of requests; signed with its secret, or with the installation's key."""

    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="webhooks")
    name = models.CharField(max_length=64)
    url = models.CharField(max_length=1000)
    sealed_secret = models.BinaryField(null=True)
    is_active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "name"], name="webhook_name_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_secret(self) -> bool:
        return self.sealed_secret is not None

    @property
    def shown_url(self) -> str:
        """The address without its query: some carry a key there."""
        return self.url.partition("?")[0]


class Reminder(models.Model):
    """How far a request has gone through the channels; one process at a time takes it further."""

    approval = models.OneToOneField(Approval, primary_key=True, on_delete=models.CASCADE, related_name="reminder")
    step = models.PositiveSmallIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.step)


class ToldExport(models.Model):
    """An export whose end was told to who asked for it; one process at a time tells of it."""

    export = models.OneToOneField(Export, primary_key=True, on_delete=models.CASCADE, related_name="told")

    def __str__(self) -> str:
        return self.export.shown_id


class ToldRelease(models.Model):
    """What was told of a release: where a request to publish stood, or that a publication was an emergency."""

    request = models.ForeignKey(PublishRequest, null=True, on_delete=models.CASCADE, related_name="told")
    publication = models.ForeignKey(Publication, null=True, on_delete=models.CASCADE, related_name="told")
    state = models.CharField(max_length=12, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["request", "publication", "state"], name="release_told_once", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return self.state


class ToldAlarm(models.Model):
    """An alarm about a gateway that was told; one process at a time tells of it."""

    alarm = models.UUIDField(primary_key=True)
    kind = models.CharField(max_length=16)
    gateway = models.UUIDField()
    name = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


class Delivery(models.Model):
    """One message to one place, of a request, an export, a release or an alarm. Without any it is a try.

    `target` is what may be told once of a request.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    environment = models.ForeignKey(Environment, on_delete=models.PROTECT, related_name="+")
    approval = models.ForeignKey(Approval, null=True, on_delete=models.CASCADE, related_name="deliveries")
    export = models.ForeignKey(Export, null=True, on_delete=models.CASCADE, related_name="+")
    release = models.ForeignKey(ToldRelease, null=True, on_delete=models.CASCADE, related_name="+")
    alarm = models.ForeignKey(ToldAlarm, null=True, on_delete=models.CASCADE, related_name="+")
    channel = models.CharField(max_length=16, choices=Channel.choices)
    target = models.CharField(max_length=80)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    subscription = models.ForeignKey(Subscription, null=True, on_delete=models.SET_NULL, related_name="+")
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.SET_NULL, related_name="+")
    shown = models.CharField(max_length=200)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True)
    error_code = models.CharField(max_length=64, blank=True)
    message = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], name="delivery_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["environment", "-created_at"], name="delivery_recent"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["approval", "target"], name="delivery_once_per_place", condition=Q(approval__isnull=False)
            ),
            models.CheckConstraint(
                name="delivery_due_until_it_ends",
                condition=Q(due_at__isnull=False, ended_at__isnull=True, state__in=["queued", "failed"])
                | Q(due_at__isnull=True, ended_at__isnull=False, state__in=["sent", "given_up", "dropped"]),
            ),
        ]

    def __str__(self) -> str:
        return self.shown

    @property
    def shown_id(self) -> str:
        return show_id("dlv", self.pk)

    @property
    def is_open(self) -> bool:
        return self.due_at is not None
