"""Find which tools an agent has called, and when last, one step in an index for each of them."""

from django.db import migrations

TOOLS_BY_AGENT = """
CREATE INDEX audit_entry_agent_tool ON audit_entry (environment, agent, tool, at DESC)
    WHERE call_id IS NOT NULL AND agent <> '' AND tool <> '';
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0014_totals_by_index")]

    operations = [migrations.RunSQL(TOOLS_BY_AGENT, "DROP INDEX audit_entry_agent_tool")]
