"""Nothing goes that a tombstone may not name: ranges run forwards, and each entry that would go is looked at.

Counting what may go and comparing the sum was not enough: a range that ends before it begins, or a second entry under
one number, made up for an entry that a hold keeps. Names in guards are looked up in the catalogue first.
"""

from django.db import migrations

TOMBSTONE = r"""
CREATE OR REPLACE FUNCTION audit_tombstone(statement bigint, wanted text) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    epoch numeric := div(pg_current_xact_id()::text::numeric, 4294967296) * 4294967296;
    said jsonb;
BEGIN
    SELECT s.body::jsonb INTO said FROM public.audit_statement AS s
    WHERE s.number = statement AND s.kind = wanted
      AND pg_xact_status((epoch + s.xmin::text::numeric)::text::xid8) = 'in progress';
    IF said IS NULL THEN
        RAISE EXCEPTION 'statement % is no % of this transaction', statement, wanted;
    END IF;
    IF EXISTS (
        SELECT FROM audit_ranges(said) AS r
        WHERE (r.chain IS NOT NULL AND r.first > 0 AND r.last >= r.first) IS NOT TRUE
    ) THEN
        RAISE EXCEPTION 'statement % names ranges that are none', statement;
    END IF;
    RETURN said;
END
$$;
"""
PURGE = r"""
CREATE OR REPLACE FUNCTION audit_purge(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'purge');
    class text := said ->> 'class';
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = class);
    wanted bigint;
    found_here bigint;
    fitting bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF class = 'content' OR audit_floor(class) IS NULL OR kept IS NULL THEN
        RAISE EXCEPTION 'entries of the class % are kept', class;
    END IF;
    IF (until <= now() - make_interval(days => greatest(kept, audit_floor(class)))) IS NOT TRUE THEN
        RAISE EXCEPTION 'entries of the class % are kept for % days', class, greatest(kept, audit_floor(class));
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*), count(*) FILTER (
        WHERE audit_class(e.kind) = class AND NOT audit_is_held(e)
          AND (e.seq <> r.first OR encode(e.prev_hash, 'hex') = r.prev)
          AND (e.seq <> r.last OR encode(e.hash, 'hex') = r.hash)
    ) INTO found_here, fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e
        ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    IF wanted IS NULL OR fitting <> wanted OR found_here <> wanted THEN
        RAISE EXCEPTION 'statement % names % entries, of which % may go', statement, wanted, fitting;
    END IF;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
      AND c.at = e.at AND c.entry_id = e.id;
    DELETE FROM audit_entry AS e USING audit_ranges(said) AS r
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    RETURN wanted;
END
$$;
"""
ERASE = r"""
CREATE OR REPLACE FUNCTION audit_erase(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'erasure');
    of_class boolean := (said ->> 'class' = 'content') IS TRUE;
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = 'content');
    wanted bigint;
    found_here bigint;
    fitting bigint;
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF of_class AND (until <= now() - make_interval(days => greatest(kept, audit_floor('content')))
                     AND kept IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'contents of calls are kept for longer';
    ELSIF NOT of_class AND said ->> 'subject' IS NULL THEN
        RAISE EXCEPTION 'statement % names neither a subject nor the class content', statement;
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*), count(*) FILTER (
        WHERE NOT audit_is_held(e)
          AND (NOT of_class OR audit_class(e.kind) IN ('calls', 'denials', 'approvals'))
    ) INTO found_here, fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e
        ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until;
    IF wanted IS NULL OR fitting <> wanted OR found_here <> wanted THEN
        RAISE EXCEPTION 'statement % names % entries, of which the contents of % may go', statement, wanted, fitting;
    END IF;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'on', true);
    DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e
    WHERE e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
      AND c.at = e.at AND c.entry_id = e.id;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('openclaw_admin.audit_maintenance', 'off', true);
    RETURN gone;
END
$$;
"""
PATHS = """
ALTER FUNCTION audit_refuse_change() SET search_path = pg_catalog, public, pg_temp;
ALTER FUNCTION audit_hold_guard() SET search_path = pg_catalog, public, pg_temp;
"""


class Migration(migrations.Migration):
    dependencies = [("audit", "0011_retention_holds_erasures")]

    # The stricter functions serve the earlier tables as well.
    operations = [migrations.RunSQL(TOMBSTONE + PURGE + ERASE + PATHS, migrations.RunSQL.noop)]
