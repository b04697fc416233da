from django.apps import AppConfig


class OpenClawGatewaysConfig(AppConfig):
    name = "apps.openclaw_gateways"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.audit.retention.erasers import eraser_register
        from apps.openclaw_gateways.enforceable import enforceable_findings
        from apps.openclaw_gateways.erasing import ERASER
        from apps.policies.lint import reviewer_register

        eraser_register(ERASER)
        reviewer_register("openclaw_gateways", enforceable_findings)
