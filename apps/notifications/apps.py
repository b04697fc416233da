from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "apps.notifications"
    label = "notifications"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.audit.retention.erasers import eraser_register
        from apps.notifications.erasing import ERASER

        eraser_register(ERASER)
