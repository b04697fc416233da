"""Every setting, read once. Deployments differ only through the variables in README's table."""

import sys
from pathlib import Path

from openclaw_admin import __version__, env, logs
from openclaw_admin.database_url import database_settings

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("OPENCLAW_ADMIN_VAR", str(BASE_DIR / "var")))
VERSION = __version__
NOTES_DIR = VAR_DIR / "run"


def _noted(name: str) -> str:
    """Read the address that a running `serve` has noted for the other commands of this installation."""
    try:
        return (NOTES_DIR / name).read_text(encoding="utf-8")
    except OSError:
        return ""


LOGGING_CONFIG = "openclaw_admin.logs.configure"
LOGGING = logs.logging_settings(
    env.choice("LOG_FORMAT", ("", logs.JSON, logs.CONSOLE)) or (logs.CONSOLE if sys.stderr.isatty() else logs.JSON),
    env.choice("LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR")),
)

DEBUG = False
TESTING = env.flag("OPENCLAW_ADMIN_TESTING")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
IS_PUBLIC_URL_GIVEN = bool(env.text("PUBLIC_URL"))
PUBLIC_URL = (env.text("PUBLIC_URL") or _noted("address") or "http://127.0.0.1:8000").rstrip("/")
TRUSTED_PROXIES = env.words("TRUSTED_PROXIES")  # addresses whose X-Forwarded-* headers are believed
IS_HTTPS = PUBLIC_URL.startswith("https://")

# Keys: a file each under KEYS_DIR (mode 0600, made at first start) unless the variable gives the value.
KEYS_DIR = Path(env.text("OPENCLAW_ADMIN_KEYS", str(VAR_DIR / "keys")))


def _secret_key() -> str:
    from apps.keys.files import secret_text

    try:
        return env.secret("SECRET_KEY") or secret_text(KEYS_DIR / "django_secret_key")
    except OSError as exc:
        raise env.SettingError("OPENCLAW_ADMIN_KEYS", f"cannot keep keys in {KEYS_DIR}: {exc.strerror}") from exc


SECRET_KEY = _secret_key()
SEAL_KEY = env.secret("OPENCLAW_ADMIN_SEAL_KEY")
SIGNING_KEY = env.secret("OPENCLAW_ADMIN_SIGNING_KEY")
AUDIT_KEY = env.secret("OPENCLAW_ADMIN_AUDIT_KEY")
WITNESS_DIR = Path(env.text("AUDIT_WITNESS_DIR", str(VAR_DIR / "witnesses")))


# What tool files may say as ${NAME}; everything else there stands for a secret of its source.
TOOL_VARIABLES = env.chosen(
    "OPENCLAW_ADMIN_TOOL_VARIABLES", closed=("OPENCLAW_ADMIN_", "DATABASE_", "REDIS_", "SECRET_KEY")
)

# Without DATABASE_URL, `serve` runs a PostgreSQL of its own: `system`, `wheel`, or empty for the first that fits.
IS_DATABASE_EMBEDDED = not env.secret("DATABASE_URL")
POSTGRES_WANTED = env.choice("OPENCLAW_ADMIN_POSTGRES", ("", "system", "wheel"))
POSTGRES_HOME = env.text("OPENCLAW_ADMIN_POSTGRES_HOME")

# Two roles: `default` serves without UPDATE or DELETE on the audit tables, `owner` migrates.
DATABASE_URL = env.secret("DATABASE_URL") or _noted("database_url") or "postgresql:///openclaw_admin"
DATABASE_OWNER_URL = (
    env.secret("DATABASE_OWNER_URL") or (_noted("database_owner_url") if IS_DATABASE_EMBEDDED else "") or DATABASE_URL
)
DATABASES = {
    "default": database_settings(DATABASE_URL, is_testing=TESTING),
    "owner": database_settings(DATABASE_OWNER_URL, is_testing=TESTING),
}
DATABASES["owner"]["TEST"] = {"MIRROR": "default"}
DATABASE_ROUTERS: list[str] = []

REDIS_URL = env.secret("REDIS_URL")

INSTALLED_APPS = [
    "openclaw_admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "channels",
    "csp",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "rest_framework",
    "pgtrigger",
    "pghistory",
    "apps.events",
    "apps.keys",
    "apps.accounts",
    "apps.audit",
    "apps.registry",
    "apps.limits",
    "apps.policies",
    "apps.approvals",
    "apps.openclaw_gateways",
    "apps.halts",
    "apps.notifications",
    "apps.sessions",
    "apps.runs",
    "apps.gateway",
    "apps.api",
    "apps.console",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "apps.remembered.RememberingMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.console.submissions.SubmissionMiddleware",
    "apps.gateway.heard.HeardMiddleware",
    "apps.console.middleware.ConsoleMiddleware",
]

ROOT_URLCONF = "openclaw_admin.urls"
ASGI_APPLICATION = "openclaw_admin.asgi.application"
WSGI_APPLICATION = "openclaw_admin.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.console.context.shell",
            ],
        },
    },
]

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
ACCOUNT_ADAPTER = "apps.accounts.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_EMAIL_FIELD = None
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "login_failed": "10/m/ip,5/5m/key", "change_password": "5/m/user"}
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "overview"

# The console's notes: what a message means, not how loud it is.
MESSAGE_TAGS = {20: "info", 25: "allow", 30: "ask", 40: "deny"}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_AUTOREFRESH = TESTING  # each client of a test makes a middleware, which else looks at all files first
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if TESTING
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# Where callbacks of asynchronous calls may go beside public addresses over https.
CALLBACK_NETWORKS = env.networks("CALLBACK_NETWORKS")
CALLBACK_PORTS = env.ports("CALLBACK_PORTS", (443,))
# Ports that streams of the ledger may use beside those.
AUDIT_STREAM_PORTS = env.ports("AUDIT_STREAM_PORTS", (443, 601, 4318, 6514, 8088, 9000))

# The mail server for notifications; without one nobody is told by e-mail.
EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.integer("EMAIL_PORT", 25, minimum=1, maximum=65535)
EMAIL_HOST_USER = env.text("EMAIL_USER")
EMAIL_HOST_PASSWORD = env.secret("EMAIL_PASSWORD")
_EMAIL_SECURITY = env.choice("EMAIL_SECURITY", ("", "starttls", "tls"))
EMAIL_USE_TLS, EMAIL_USE_SSL = _EMAIL_SECURITY == "starttls", _EMAIL_SECURITY == "tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM", "openclaw-admin@localhost")

# The server process (asgi.py): threads for Django, and what a request may carry.
WEB_THREADS = env.integer("WEB_THREADS", 8, minimum=1, maximum=256)
BODY_LIMIT_BYTES = 16 * 1024 * 1024
# What a client may take for the head of a request, for its body, and for reading on in an answer.
SLOW_CLIENT_S = env.seconds("SLOW_CLIENT_S", 15)

# What confined tools may use at most, and what they are held to at least (docs/security/sandbox.md).
SANDBOX_LEVEL = env.choice("SANDBOX_LEVEL", ("filesystem", "isolated", "process", "none"))
SANDBOX_MEMORY_MB = env.integer("SANDBOX_MEMORY_MB", 512, minimum=64)
SANDBOX_CPU_S = env.integer("SANDBOX_CPU_S", 30, minimum=1)
SANDBOX_WALL_S = env.integer("SANDBOX_WALL_S", 60, minimum=1, maximum=3600)
SANDBOX_OPEN_FILES = env.integer("SANDBOX_OPEN_FILES", 100, minimum=20)
SANDBOX_FILE_MB = env.integer("SANDBOX_FILE_MB", 10, minimum=1)
SANDBOX_WRITTEN_MB = env.integer("SANDBOX_WRITTEN_MB", 256, minimum=1)
SANDBOX_PROCESSES = env.integer("SANDBOX_PROCESSES", 64, minimum=2)
SANDBOX_NETWORK = env.flag("SANDBOX_NETWORK")
SANDBOX_PATHS = env.words("SANDBOX_PATHS")

# ---- what workspaces of agents may use of the disk ----
WORKSPACE_QUOTA_MB = env.integer("WORKSPACE_QUOTA_MB", 1024, minimum=1)
WORKSPACE_QUOTA_FILES = env.integer("WORKSPACE_QUOTA_FILES", 50_000, minimum=10)
WORKSPACES_QUOTA_MB = env.integer("WORKSPACES_QUOTA_MB", 10_240, minimum=1)
WORKSPACES_QUOTA_FILES = env.integer("WORKSPACES_QUOTA_FILES", 500_000, minimum=10)
WORKSPACE_RETENTION_DAYS = env.integer("WORKSPACE_RETENTION_DAYS", 0, maximum=36_500)
DISK_RESERVE_MB = env.integer("DISK_RESERVE_MB", 512, minimum=1)
RECORDS_FOLDERS: list[Path] = [VAR_DIR]  # `manage.py serve` adds that of the database it starts
RESERVE_FILE: Path | None = None

# Browsers that may be open at once on a machine, each with a gigabyte of memory where its source says nothing.
BROWSER_LIMIT = env.integer("BROWSER_LIMIT", 4, minimum=1, maximum=256)
BROWSER_ENVIRONMENT_LIMIT = env.integer("BROWSER_ENVIRONMENT_LIMIT", 2, minimum=1, maximum=256)

# Commands that run on when their calls have ended: how many, and how long where neither call nor policy says so.
BACKGROUND_LIMIT = env.integer("BACKGROUND_LIMIT", 32, minimum=1, maximum=1024)
BACKGROUND_SESSION_LIMIT = env.integer("BACKGROUND_SESSION_LIMIT", 4, minimum=1, maximum=1024)
BACKGROUND_TIMEOUT_S = env.integer("BACKGROUND_TIMEOUT_S", 1800, minimum=1, maximum=7 * 24 * 3600)
BACKGROUND_TIMEOUT_LIMIT_S = env.integer("BACKGROUND_TIMEOUT_LIMIT_S", 6 * 3600, minimum=1, maximum=7 * 24 * 3600)

# Results of calls: what callers get where a tool says nothing else, and what the ledger keeps.
TOOL_SEARCH_RERANKER = env.text("TOOL_SEARCH_RERANKER")
RESULT_LIMIT = env.integer("RESULT_LIMIT", 10_000, minimum=1_000, maximum=1_000_000)
RESULT_KEPT_BYTES = env.integer("RESULT_KEPT_BYTES", 256 * 1024, minimum=1_024, maximum=8 * 1024 * 1024)
TURN_CALLS_AT_ONCE = env.integer("TURN_CALLS_AT_ONCE", 8, minimum=1, maximum=64)

CELERY_BROKER_URL = REDIS_URL or "memory://localhost"
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a broker is waited for, however long it is away
CELERY_TASK_IGNORE_RESULT = True
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 5} if REDIS_URL else {"polling_interval": 0.1}
CELERY_BEAT_SCHEDULER = "openclaw_admin.beat:SteadyScheduler"
CELERY_BEAT_SCHEDULE = {
    name: {"task": name, "schedule": every_s}
    for name, every_s in {
        "approvals.expire": 2.0,
        "approvals.escalate": 2.0,
        "notifications.sweep": 2.0,
        "notifications.forget": 86400.0,
        "approvals.abandon": 60.0,
        "halts.storms": 2.0,
        "audit.sweep_orphans": 5.0,
        "audit.follow": 2.0,
        "audit.checkpoint": 10.0,
        "audit.witnesses_tell": 10.0,
        "audit.verifications": 60.0,
        "audit.exports_resume": 60.0,
        "audit.exports_purge": 3600.0,
        "audit.streams_send": 2.0,
        "audit.partitions_ensure": 86400.0,
        "audit.purges_run": 3600.0,
        "audit.purges_resume": 60.0,
        "audit.erasures_resume": 60.0,
        "policies.replays_resume": 60.0,
        "policies.bulk_resume": 60.0,
        "policies.shadows_count": 5.0,
        "registry.looks_due": 10.0,
        "registry.runs_close_orphaned": 60.0,
        "registry.failures_forget": 3600.0,
        "gateway.calls_settle": 2.0,
        "gateway.alarms_tell": 10.0,
        "gateway.calls_forget": 86400.0,
        "gateway.slots_forget": 86400.0,
        "gateway.probes_daily": 86400.0,
        "limits.forget": 300.0,
        "sessions.sweep": 600.0,
        "runs.sweep": 600.0,
        "openclaw_gateways.sweep": 60.0,
        "policies.publish_due": 2.0,
    }.items()
}
# What an earlier process left, asked for when the scheduler starts.
CELERY_TASKS_AT_START = [
    "audit.partitions_ensure",
    "audit.sweep_orphans",
    "approvals.abandon",
    "audit.exports_resume",
    "audit.erasures_resume",
    "audit.purges_resume",
    "policies.replays_resume",
    "policies.bulk_resume",
    "registry.runs_close_orphaned",
]

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_ENGINE = "apps.accounts.session_store"
SESSION_COOKIE_AGE = 12 * 60 * 60
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
X_FRAME_OPTIONS = "DENY"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_FAILURE_VIEW = "apps.console.views.errors.csrf_failure"
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "manifest-src": ["'self'"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.api.scope.NeedsPermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.api.parsers.BoundedJSONParser"],
    "DEFAULT_THROTTLE_CLASSES": ["apps.api.throttles.PrincipalThrottle"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.api.errors.exception_handler",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "COERCE_DECIMAL_TO_STRING": False,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "OpenClaw Admin",
    "OAS_VERSION": "3.1.0",
    "DESCRIPTION": "The tool firewall for AI agents: policy, decisions, calls, approvals and audit.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "ToolStateEnum": "apps.registry.models.ToolState",
        "ToolSourceEnum": "apps.registry.models.ToolSource",
        "GroupKindEnum": "apps.policies.models.channels.GroupKind",
        "ExpectedVerdictEnum": "apps.policies.models.policy_tests.ExpectedVerdict",
        "HaltStateEnum": "apps.halts.models.State",
        "ReplayStateEnum": "apps.policies.models.replays.Replay.State",
        "ShadowStateEnum": "apps.policies.models.shadows.ShadowRule.State",
        "SourceKindEnum": "apps.registry.models.SourceKind",
        "RunStateEnum": "apps.registry.models.RunState",
        "PurgeStateEnum": "apps.audit.models.PurgeRun.State",
        "DriftStateEnum": "apps.registry.models.DriftState",
        "HookKindEnum": "apps.registry.models.HookKind",
        "HookFailureKindEnum": "apps.registry.models.HookFailureKind",
        "DifferenceKindEnum": "apps.registry.differences.KINDS",
        "ContentActionEnum": "apps.policies.models.guards.ContentAction",
        "GuardrailSeverityEnum": "apps.policies.models.guardrails.GuardrailSeverity",
        "ExecAskEnum": "apps.policies.models.execution.ExecAsk",
    },
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.api.openapi.add_agents_paths",
    ],
}
