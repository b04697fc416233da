from django.apps import AppConfig


class LimitsConfig(AppConfig):
    name = "apps.limits"
    label = "limits"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.audit.retention.erasers import eraser_register
        from apps.events.clock import step_register
        from apps.limits.clock_steps import limits_shift
        from apps.limits.erasing import ERASER

        eraser_register(ERASER)
        step_register(limits_shift, order=2)
