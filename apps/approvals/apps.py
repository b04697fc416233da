from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    name = "apps.approvals"
    label = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.approvals.clock_steps import approvals_shift
        from apps.approvals.erasing import ERASER
        from apps.approvals.grants import grants_follow
        from apps.approvals.selectors import asking_agents
        from apps.audit.retention.erasers import eraser_register
        from apps.events.clock import step_register
        from apps.policies.services.publishing import publication_follow
        from apps.subjects import subjects_supply

        eraser_register(ERASER)
        step_register(approvals_shift, order=1)
        subjects_supply("agent", asking_agents)
        publication_follow(grants_follow)
