from typing import ClassVar

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "apps.audit"
    label = "audit"
    default_auto_field = "django.db.models.BigAutoField"
    # From these the application's role must hold neither UPDATE nor DELETE nor TRUNCATE.
    append_only_tables: ClassVar = ("audit_entry", "audit_content", "audit_statement")
    partitioned_tables: ClassVar = ("audit_entry", "audit_content", "audit_words")

    def ready(self) -> None:
        from apps.accounts.telling import hear
        from apps.audit.accounts import account_told
        from apps.audit.clock_steps import clock_step_record
        from apps.audit.selectors import agent_seen
        from apps.events.clock import step_register
        from apps.subjects import subjects_supply

        hear(account_told)
        step_register(clock_step_record, order=9)
        subjects_supply("agent", lambda _environment: (), witness=agent_seen)
