from django.apps import AppConfig


class PoliciesConfig(AppConfig):
    name = "apps.policies"
    label = "policies"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.events.clock import step_register
        from apps.policies.selectors import agent_names, channel_names
        from apps.policies.services.releasing import publish_requests_shift
        from apps.subjects import subjects_supply

        subjects_supply("agent", agent_names)
        subjects_supply("channel", channel_names)
        step_register(publish_requests_shift, order=1)
