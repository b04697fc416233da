from django.apps import AppConfig


class HaltsConfig(AppConfig):
    name = "apps.halts"
    label = "halts"
    default_auto_field = "django.db.models.BigAutoField"
