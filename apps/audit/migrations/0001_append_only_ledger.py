"""The ledger: entries and their content by month, boots, and the guards that keep them append-only."""

from django.db import migrations

TABLES = """
CREATE TABLE audit_boot (
    id uuid PRIMARY KEY,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL,
    lease_until timestamptz NOT NULL,
    ended_at timestamptz,
    swept_at timestamptz,
    seq bigint NOT NULL DEFAULT 0,
    head bytea NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX audit_boot_unswept ON audit_boot (id) WHERE swept_at IS NULL;

CREATE TABLE audit_entry (
    at timestamptz NOT NULL,
    id uuid NOT NULL,
    chain_id uuid NOT NULL,
    seq bigint NOT NULL,
    format smallint NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    environment text NOT NULL,
    agent text NOT NULL,
    session_key text NOT NULL,
    channel text NOT NULL,
    sender text NOT NULL,
    tool text NOT NULL,
    call_id uuid,
    approval_id uuid,
    status text NOT NULL,
    duration_ms bigint,
    decision text NOT NULL,
    decision_layer text NOT NULL,
    decision_label text NOT NULL,
    decision_rule text NOT NULL,
    decision_reason text NOT NULL,
    snapshot_digest text NOT NULL,
    trace_id text NOT NULL,
    phases jsonb,
    changes jsonb,
    content_commitment bytea,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (at, id),
    UNIQUE (chain_id, seq, at)
) PARTITION BY RANGE (at);
CREATE TABLE audit_entry_default PARTITION OF audit_entry DEFAULT;

CREATE TABLE audit_content (
    at timestamptz NOT NULL,
    entry_id uuid NOT NULL,
    call_id uuid,
    salt bytea NOT NULL,
    params jsonb,
    result jsonb,
    error jsonb,
    masked jsonb,
    PRIMARY KEY (at, entry_id)
) PARTITION BY RANGE (at);
CREATE TABLE audit_content_default PARTITION OF audit_content DEFAULT;
"""

# One index per filter that a page offers and that the newest-first scan alone would not serve.
INDEXES = """
CREATE INDEX audit_entry_call ON audit_entry (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX audit_entry_agent ON audit_entry (agent, at DESC, id DESC);
CREATE INDEX audit_entry_tool ON audit_entry (tool, status, at DESC, id DESC);
CREATE INDEX audit_entry_session ON audit_entry (session_key, at DESC, id DESC) WHERE session_key <> '';
CREATE INDEX audit_entry_sender ON audit_entry (sender, at DESC, id DESC) WHERE sender <> '';
CREATE INDEX audit_entry_kind ON audit_entry (kind, status, at DESC, id DESC);
CREATE INDEX audit_entry_heads ON audit_entry (at DESC, id DESC)
    WHERE call_id IS NOT NULL
      AND (kind = 'approval_asked' OR (approval_id IS NULL AND kind IN ('call_intent', 'denial')));

CREATE FUNCTION audit_words(document jsonb) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector(
        'pg_catalog.simple'::regconfig,
        regexp_replace(
            left(document::text, 200000),
            '\\\\[a-z"\\\\]|[][!"#$%&''()*+,./:;<=>?@\\\\^`{|}~_-]+', ' ', 'g'
        )
    )
$$;
CREATE INDEX audit_content_words ON audit_content USING gin (audit_words(params)) WHERE params IS NOT NULL;
"""

# The owner's path for erasure and retention: as the tables' owner, in one transaction,
#   SET LOCAL openclaw_admin.audit_maintenance = 'on';
GUARDS = """
CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owner oid := (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID);
BEGIN
    IF current_setting('openclaw_admin.audit_maintenance', true) = 'on'
       AND pg_has_role(current_user, owner, 'USAGE') THEN
        IF TG_OP = 'UPDATE' THEN
            RETURN NEW;
        END IF;
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        END IF;
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit ledger is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON audit_content
    FOR EACH ROW EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_entry_default
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_content
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit_content_default
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change();
"""

# Runs with the owner's rights, so that the application makes partitions without owning the tables. Rows that
# meanwhile fell into the default partition move into the new one. A partition is reached through its parent only:
# whatever default privileges gave on it is taken back.
PARTITIONS = """
CREATE FUNCTION audit_partition_ensure(parent text, month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET timezone = 'UTC' AS $$
DECLARE
    low timestamptz := date_trunc('month', month);
    high timestamptz := date_trunc('month', month) + interval '1 month';
    partition text := parent || '_' || to_char(month, 'YYYY_MM');
    grantee oid;
BEGIN
    IF parent NOT IN ('audit_entry', 'audit_content') THEN
        RAISE EXCEPTION 'no audit table named %', parent;
    END IF;
    IF month NOT BETWEEN (now() - interval '25 months')::date AND (now() + interval '25 months')::date THEN
        RAISE EXCEPTION 'no partition is made for %', month;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext(partition));
    IF to_regclass('public.' || partition) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE public.%I (LIKE public.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, parent);
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    EXECUTE format(
        'WITH moved AS (DELETE FROM public.%I WHERE at >= %L AND at < %L RETURNING *) INSERT INTO public.%I SELECT * FROM moved',
        parent || '_default', low, high, partition);
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    EXECUTE format('ALTER TABLE public.%I ATTACH PARTITION public.%I FOR VALUES FROM (%L) TO (%L)', parent, partition, low, high);
    EXECUTE format(
        'CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON public.%I FOR EACH STATEMENT EXECUTE FUNCTION public.audit_refuse_change()',
        partition);
    FOR grantee IN
        SELECT DISTINCT acl.grantee FROM pg_class, aclexplode(relacl) AS acl
        WHERE pg_class.oid = to_regclass('public.' || partition) AND acl.grantee <> relowner
    LOOP
        EXECUTE format('REVOKE ALL ON public.%I FROM %s', partition,
            CASE WHEN grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END);
    END LOOP;
    RETURN true;
END
$$;
SELECT audit_partition_ensure(parent, (date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => ahead))::date)
FROM unnest(ARRAY['audit_entry', 'audit_content']) AS parent, generate_series(0, 3) AS ahead;
"""

UNDO = """
DROP TABLE audit_entry, audit_content, audit_boot;
DROP FUNCTION audit_partition_ensure(text, date);
DROP FUNCTION audit_refuse_change();
DROP FUNCTION audit_words(jsonb);
"""

NOTHING = migrations.RunSQL.noop


class Migration(migrations.Migration):
    initial = True
    dependencies = []

    operations = [
        migrations.RunSQL(TABLES, UNDO),
        migrations.RunSQL(INDEXES, NOTHING),
        migrations.RunSQL(GUARDS, NOTHING),
        migrations.RunSQL(PARTITIONS, NOTHING),
    ]
