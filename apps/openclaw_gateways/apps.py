from django.apps import AppConfig


class OpenClawGatewaysConfig(AppConfig):
    name = "apps.openclaw_gateways"
    default_auto_field = "django.db.models.BigAutoField"
