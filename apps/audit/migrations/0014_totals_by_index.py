"""Add calls up by whole hours from an index alone: a year of one agent lies in thousands of pages of the table."""

from django.db import migrations

TOTALS = """
CREATE INDEX audit_tally_totals ON audit_tally (environment, dimension, value, start) INCLUDE (begun, ended)
    WHERE step_s = 3600;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0013_purge_runs")]

    operations = [migrations.RunSQL(TOTALS, "DROP INDEX audit_tally_totals")]
