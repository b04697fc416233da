from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "apps.sessions"
    label = "agent_sessions"  # `sessions` are those of people who signed in
    default_auto_field = "django.db.models.BigAutoField"
