"""The SQL of a call's step in its session."""

from typing import Final

# What is written here need not wait for the disk: the ledger's next entry, for which the call waits, is written after
# it and takes it along.
FIND: Final = """
WITH manners AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', TRUE), set_config('lock_timeout', '5s', TRUE)
)
SELECT s.id, s.started_at, s.calls, s.denied, s.ended_at IS NOT NULL, s.end_reason, s.max_calls, s.max_denied,
       s.max_duration_s, s.loops::text, s.spellings, s.spawn IS NOT NULL
FROM manners, agent_sessions_session AS s JOIN registry_environment AS e ON e.id = s.environment_id
WHERE e.slug = %(environment)s AND s.agent = %(agent)s AND s.key = %(key)s
"""

# A session that an ended one starts is ended, too: else its work would go on under another name.
BEGIN: Final = """
INSERT INTO agent_sessions_session (
    id, environment_id, agent, key, spellings, channel, sender, parent_key, depth, spawn, started_at, last_call_at,
    last_tool, calls, denied, ended_at, ended_by_label, end_reason
)
SELECT %(id)s, e.id, %(agent)s, %(key)s, '{}', '', '', %(parent_key)s, %(depth)s, %(spawn)s::jsonb, %(at)s, %(at)s, '',
       0, 0,
       CASE WHEN parent.ended THEN %(at)s::timestamptz END, '',
       CASE WHEN parent.ended THEN %(parent_ended)s ELSE '' END
FROM registry_environment AS e
LEFT JOIN LATERAL (
    SELECT TRUE AS ended FROM agent_sessions_session AS p
    WHERE p.environment_id = e.id AND p.key = %(parent_key)s AND p.ended_at IS NOT NULL LIMIT 1
) AS parent ON TRUE
WHERE e.slug = %(environment)s
ON CONFLICT (environment_id, agent, key) DO NOTHING
"""

_STEP = """
WITH run AS (
    UPDATE agent_sessions_sessionrun
    SET last_call_at = GREATEST(last_call_at, %(at)s), calls = calls + 1, ended_at = NULL,
        client_tools = CASE WHEN cardinality(%(client_tools)s::text[]) = 0 THEN client_tools
                       ELSE %(client_tools)s::text[] END
    WHERE id = (
        SELECT id FROM agent_sessions_sessionrun WHERE session_id = %(id)s AND {which}
        ORDER BY started_at DESC, id DESC LIMIT 1
    )
    RETURNING id
)
UPDATE agent_sessions_session
SET calls = %(calls)s, denied = %(denied)s, loops = COALESCE(%(loops)s::jsonb, loops),
    last_call_at = GREATEST(last_call_at, %(at)s), last_tool = %(tool)s, spellings = %(spellings)s::text[],
    channel = COALESCE(NULLIF(%(channel)s, ''), channel), sender = COALESCE(NULLIF(%(sender)s, ''), sender),
    context = %(context)s::jsonb
WHERE id = %(id)s
RETURNING EXISTS (SELECT FROM run)
"""
STEP_IN_RUN: Final = _STEP.format(which="run_id = %(run_id)s")
STEP_WITHOUT_RUN: Final = _STEP.format(which="FALSE")
STEP: Final = _STEP.format(which="NOT is_given AND ended_at IS NULL AND last_call_at > %(quiet_since)s")

BEGIN_RUN: Final = """
INSERT INTO agent_sessions_sessionrun (
    id, session_id, run_id, is_given, started_at, last_call_at, calls, client_tools
) VALUES (
    %(run_pk)s, %(id)s, %(run_id)s, %(is_given)s, %(at)s, %(at)s, 1, %(client_tools)s::text[]
)
"""

# A record of a spawn that was seen takes the place of what callers said; nothing takes its place.
SPAWN: Final = """
UPDATE agent_sessions_session
SET spawn = %(spawn)s::jsonb, parent_key = %(parent_key)s, depth = GREATEST(depth, %(depth)s)
WHERE id = %(id)s AND (spawn IS NULL OR (%(is_witnessed)s AND NOT spawn ? 'inheritedToolPolicyVersion'))
RETURNING id
"""

REMEMBER: Final = """
UPDATE agent_sessions_session
SET calls = %(calls)s, denied = %(denied)s, loops = COALESCE(%(loops)s::jsonb, loops)
WHERE id = %(id)s
"""
