"""People, their sessions, API tokens and invitations."""

from datetime import datetime
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.base_session import AbstractBaseSession
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from apps.firewall.identifiers import new_id, show_id

username_validator = RegexValidator(
    r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z", _("Use letters, digits, dots, hyphens and underscores.")
)


class Role(models.TextChoices):
    """What a person does here; apps.accounts.access says what each role may. A person may have none."""

    ADMIN = "admin", _("Administrator")
    OPERATOR = "operator", _("Operator")
    AUDITOR = "auditor", _("Auditor")
    VIEWER = "viewer", _("Viewer")


class Theme(models.TextChoices):
    """Colours of the console."""

    SYSTEM = "system", _("As the system")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")


class UserManager(BaseUserManager["User"]):
    """Makes people with a hashed password; finds them whatever the case of their username."""

    def create_user(self, username: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(username=self.model.normalize_username(username), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(username__iexact=username)


class User(AbstractBaseUser):
    """A person who signs in. There is no e-mail address: a new password comes by a one-time link."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    username = models.CharField(_("user name"), max_length=64, unique=True, validators=[username_validator])
    display_name = models.CharField(_("name"), max_length=100, blank=True)
    role = models.CharField(_("role"), max_length=16, choices=Role.choices, blank=True, default="")
    is_active = models.BooleanField(default=True)
    language = models.CharField(_("language"), max_length=10, blank=True)
    theme = models.CharField(_("theme"), max_length=8, choices=Theme.choices, default=Theme.SYSTEM)
    single_keys = models.BooleanField(default=True)
    skipped_steps = ArrayField(models.CharField(max_length=32), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        ordering: ClassVar = ["username"]
        constraints: ClassVar = [
            models.UniqueConstraint(Lower("username"), name="username_once_in_any_case"),
        ]

    def __str__(self) -> str:
        return self.display_name or self.username

    @property
    def shown_id(self) -> str:
        return show_id("usr", self.pk)

    @property
    def actor(self) -> str:
        """How audit names this person."""
        return f"user:{self.username}"


class ApiToken(models.Model):
    """A program's or agent's key. Only the SHA-256 of its secret is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100)
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=32), default=list)
    environment = models.CharField(max_length=63, blank=True)
    agents = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    rate_per_minute = models.PositiveIntegerField(default=6000)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="tokens")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        """Name who did something with it: the person, and the token behind which they stood."""
        return self.name if self.created_by is None else f"{self.created_by} (token {self.name})"

    @property
    def shown_id(self) -> str:
        return show_id("tok", self.pk)

    @property
    def prefix(self) -> str:
        """The part of the secret that may be shown: it names the token and proves nothing."""
        return f"oca_{self.shown_id.removeprefix('tok_')}"

    @property
    def actor(self) -> str:
        """How audit names this token."""
        return f"token:{self.shown_id}"

    def is_usable(self, at: datetime) -> bool:
        """Say whether the token is neither revoked nor expired, and whoever made it is still active."""
        if self.revoked_at is not None or (self.expires_at is not None and self.expires_at <= at):
            return False
        return self.created_by is None or self.created_by.is_active


class Invitation(models.Model):
    """A one-time link with which a person joins; only the SHA-256 of its secret is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    display_name = models.CharField(max_length=100, blank=True)
    role = models.CharField(max_length=16, choices=Role.choices, blank=True, default="")
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.OneToOneField(User, null=True, blank=True, on_delete=models.PROTECT, related_name="invitation")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def is_usable(self, at: datetime) -> bool:
        """Say whether the link may still be used."""
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > at


class PasswordReset(models.Model):
    """A one-time link with which a person sets a new password; only the SHA-256 of its secret is kept.

    It dies with its maker's right to make it, when the person signs in, gets another role or another password, or is
    deactivated, and after a day.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="password_resets")
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-created_at"]
        indexes: ClassVar = [
            models.Index(fields=["user"], name="password_reset_open", condition=models.Q(used_at=None, revoked_at=None))
        ]

    @property
    def shown_id(self) -> str:
        return show_id("rst", self.pk)

    def is_usable(self, at: datetime) -> bool:
        """Say whether the link may still be used, but for what its maker may do now."""
        is_signed_in_since = self.user.last_login is not None and self.user.last_login > self.created_at
        is_ended = self.used_at is not None or self.revoked_at is not None or self.expires_at <= at
        return self.user.is_active and not is_ended and not is_signed_in_since


class Session(AbstractBaseSession):
    """A signed-in browser: what Django's session needs, and what its owner wants to see in a list."""

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")
    created_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    user_agent = models.CharField(max_length=300, blank=True)
    ip = models.GenericIPAddressField(null=True, blank=True)

    class Meta(AbstractBaseSession.Meta):
        ordering: ClassVar = ["-last_seen_at"]

    @classmethod
    def get_session_store_class(cls) -> type[Any]:
        from apps.accounts.session_store import SessionStore

        return SessionStore
