"""What an entry's own columns quote of a call moves into its content, which may be erased; a view tells both formats."""

from django.db import migrations

COLUMNS = """
ALTER TABLE audit_content ADD COLUMN changes jsonb, ADD COLUMN decision_reason text NOT NULL DEFAULT '';
ALTER TABLE audit_entry ALTER COLUMN decision_reason SET DEFAULT '';
"""
VIEW = """
CREATE VIEW audit_line AS SELECT
    e.at, e.id, e.chain_id, e.seq, e.format, e.kind, e.actor, e.environment, e.agent, e.session_key, e.channel,
    e.sender, e.tool, e.call_id, e.approval_id, e.status, e.duration_ms, e.decision, e.decision_layer,
    e.decision_label, e.decision_rule,
    CASE WHEN e.format = 1 THEN e.decision_reason ELSE coalesce(c.decision_reason, '') END AS decision_reason,
    e.snapshot_digest, e.trace_id, e.phases,
    CASE WHEN e.format = 1 THEN e.changes ELSE c.changes END AS changes,
    e.content_commitment, e.prev_hash, e.hash
FROM audit_entry AS e LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id;
"""
UNDO = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM audit_entry WHERE format <> 1) THEN
        RAISE EXCEPTION 'entries of format 2 have parts that the earlier tables cannot hold';
    END IF;
END
$$;
DROP VIEW audit_line;
ALTER TABLE audit_content DROP COLUMN changes, DROP COLUMN decision_reason;
ALTER TABLE audit_entry ALTER COLUMN decision_reason DROP DEFAULT;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0003_export_progress")]

    operations = [
        migrations.RunSQL(COLUMNS + VIEW, UNDO),
        migrations.AlterModelTable("entry", "audit_line"),
    ]
