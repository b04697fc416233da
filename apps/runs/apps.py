from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "apps.runs"
    label = "tool_runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.audit.retention.erasers import eraser_register
        from apps.runs.erasing import ERASER

        eraser_register(ERASER)
