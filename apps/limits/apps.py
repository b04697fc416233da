from django.apps import AppConfig


class LimitsConfig(AppConfig):
    name = "apps.limits"
    label = "limits"
    default_auto_field = "django.db.models.BigAutoField"
