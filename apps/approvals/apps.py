from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "apps.approvals"
    label = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.approvals.erasing import ERASER
        from apps.audit.retention.erasers import eraser_register

        eraser_register(ERASER)
