from django.apps import AppConfig


class RegistryConfig(AppConfig):
    name = "apps.registry"
    label = "registry"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.registry.selectors import tool_names
        from apps.subjects import subjects_supply

        subjects_supply("tool", tool_names)
