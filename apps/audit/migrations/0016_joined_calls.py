"""Count repeats of a call that waited for a person apart: they were counted as denied."""

from django.db import migrations

# Of entries that were counted already; those behind are counted anew by the rule of today.
JOINED_CALLS = """
CREATE TEMPORARY TABLE joined ON COMMIT DROP AS
SELECT e.environment, steps.step_s, named.dimension, named.value,
    date_bin(make_interval(secs => steps.step_s), e.at, '2000-01-01 00:00:00+00') AS start,
    count(*) AS calls, count(*) FILTER (WHERE e.approval_id IS NULL) AS begun
FROM audit_entry AS e
JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id AND c.error ->> 'code' = 'call_joined'
JOIN audit_follow AS f ON f.chain_id = e.chain_id AND e.seq <= f.seq
CROSS JOIN LATERAL (VALUES ('', ''), ('agent', e.agent), ('tool', e.tool), ('channel', e.channel),
    ('layer', e.decision_layer), ('status', 'denied')) AS named (dimension, value)
CROSS JOIN (VALUES (60), (3600)) AS steps (step_s)
WHERE e.kind = 'denial' AND e.status = 'denied' AND e.decision_layer = 'approval' AND e.call_id IS NOT NULL
    AND (steps.step_s = 3600 OR named.dimension = '') AND (named.dimension = '' OR named.value <> '')
GROUP BY 1, 2, 3, 4, 5;

UPDATE audit_tally AS t SET denied = t.denied - j.calls
FROM joined AS j WHERE (t.environment, t.step_s, t.dimension, t.value, t.start)
    = (j.environment, j.step_s, j.dimension, j.value, j.start);

UPDATE audit_tally AS t SET begun = t.begun - j.begun, ended = t.ended - j.calls
FROM joined AS j WHERE j.dimension = 'status' AND (t.environment, t.step_s, t.dimension, t.value, t.start)
    = (j.environment, j.step_s, j.dimension, j.value, j.start);

INSERT INTO audit_tally (environment, step_s, dimension, value, start, begun, ran, denied, failed, ended)
SELECT environment, step_s, dimension, 'joined', start, begun, 0, 0, 0, calls FROM joined WHERE dimension = 'status';
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0015_tools_by_agent")]

    operations = [migrations.RunSQL(JOINED_CALLS, migrations.RunSQL.noop)]
