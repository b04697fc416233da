"""Signed statements about the ledger: checkpoints, tombstones, keys; append-only like the ledger itself."""

from django.db import migrations

TABLE = """
CREATE TABLE audit_statement (
    number bigint PRIMARY KEY CHECK (number > 0),
    at timestamptz NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    signature bytea NOT NULL,
    public_key bytea NOT NULL
);
CREATE INDEX audit_statement_kind ON audit_statement (kind, number DESC);
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_statement
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_statement
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_content_of_format_2")]

    operations = [migrations.RunSQL(TABLE, "DROP TABLE audit_statement;")]
