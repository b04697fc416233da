from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "apps.sessions"
    label = "agent_sessions"  # `sessions` are those of people who signed in
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.audit.retention.erasers import eraser_register
        from apps.events.clock import step_register
        from apps.sessions.clock_steps import sessions_shift
        from apps.sessions.erasing import ERASER
        from apps.sessions.selectors import session_agent_names, session_channel_names
        from apps.subjects import subjects_supply

        eraser_register(ERASER)
        step_register(sessions_shift, order=2)
        subjects_supply("agent", session_agent_names)
        subjects_supply("channel", session_channel_names)
