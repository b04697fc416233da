"""How long records are kept, what must not go, whose contents were erased; and the only ways on which records go.

The application's role has no DELETE on the ledger. The functions run with the owner's rights, take their ranges from a
signed statement of the same transaction, and refuse what a floor or a hold keeps.
"""

import apps.firewall.identifiers
from django.db import migrations, models

CLASSES = r"""
CREATE FUNCTION audit_class(kind text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN kind IN ('call_intent', 'call_outcome', 'command_ended', 'ungoverned_call') THEN 'calls'
        WHEN kind = 'denial' THEN 'denials'
        WHEN kind LIKE 'approval\_%' OR kind LIKE 'grant\_%' THEN 'approvals'
        WHEN kind IN ('sign_in', 'token') THEN 'sign_ins'
        WHEN kind IN ('export', 'search', 'verification') THEN 'readings'
        WHEN kind IN ('purge', 'erasure', 'hold_change', 'retention_change') THEN 'keeping'
        ELSE 'administration'
    END
$$;
-- Days below which nobody can go; null: what says that records are gone is never purged.
CREATE FUNCTION audit_floor(class text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE class
        WHEN 'content' THEN 7 WHEN 'calls' THEN 30 WHEN 'denials' THEN 30 WHEN 'approvals' THEN 90
        WHEN 'sign_ins' THEN 90 WHEN 'readings' THEN 365 WHEN 'administration' THEN 365
    END
$$;
"""
GUARDS = r"""
CREATE FUNCTION audit_hold_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.lifted_at IS NULL AND NEW.lifted_at IS NOT NULL
       AND (to_jsonb(NEW) - '{lifted_at,lifted_by,lift_reason}'::text[])
         = (to_jsonb(OLD) - '{lifted_at,lifted_by,lift_reason}'::text[]) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a legal hold can only be lifted, once' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER audit_hold_guard BEFORE UPDATE OR DELETE ON audit_hold
    FOR EACH ROW EXECUTE FUNCTION audit_hold_guard();

CREATE FUNCTION audit_is_held(e audit_entry) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM public.audit_hold AS h WHERE h.lifted_at IS NULL
        AND h.environment IN ('', e.environment) AND h.agent IN ('', e.agent) AND h.channel IN ('', e.channel)
        AND h.sender IN ('', e.sender) AND h.session_key IN ('', e.session_key)
        AND (h.since IS NULL OR e.at >= h.since) AND (h.until IS NULL OR e.at < h.until))
$$;

-- The body of a tombstone that this very transaction has written.
CREATE FUNCTION audit_tombstone(statement bigint, wanted text) RETURNS jsonb
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
    RETURN said;
END
$$;

CREATE FUNCTION audit_ranges(said jsonb)
RETURNS TABLE (chain uuid, first bigint, last bigint, prev text, hash text) LANGUAGE sql IMMUTABLE AS $$
    SELECT r.* FROM jsonb_to_recordset(said -> 'ranges')
        AS r (chain uuid, first bigint, last bigint, prev text, hash text)
$$;

CREATE FUNCTION audit_purge(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'purge');
    class text := said ->> 'class';
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = class);
    wanted bigint;
    fitting bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF class = 'content' OR audit_floor(class) IS NULL OR kept IS NULL THEN
        RAISE EXCEPTION 'entries of the class % are kept', class;
    END IF;
    IF until > now() - make_interval(days => greatest(kept, audit_floor(class))) THEN
        RAISE EXCEPTION 'entries of the class % are kept for % days', class, greatest(kept, audit_floor(class));
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*) INTO fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
    WHERE audit_class(e.kind) = class AND NOT audit_is_held(e)
      AND (e.seq <> r.first OR encode(e.prev_hash, 'hex') = r.prev)
      AND (e.seq <> r.last OR encode(e.hash, 'hex') = r.hash);
    IF wanted IS NULL OR fitting <> wanted THEN
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

CREATE FUNCTION audit_erase(statement bigint, since timestamptz, until timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    said jsonb := audit_tombstone(statement, 'erasure');
    of_class boolean := said ->> 'class' = 'content';
    kept integer := (SELECT r.days FROM audit_retention AS r WHERE r.name = 'content');
    wanted bigint;
    fitting bigint;
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('audit keeping'));
    IF of_class AND (kept IS NULL OR until > now() - make_interval(days => greatest(kept, audit_floor('content')))) THEN
        RAISE EXCEPTION 'contents of calls are kept for longer';
    ELSIF of_class IS NOT TRUE AND said ->> 'subject' IS NULL THEN
        RAISE EXCEPTION 'statement % names neither a subject nor the class content', statement;
    END IF;
    SELECT sum(last - first + 1) INTO wanted FROM audit_ranges(said);
    SELECT count(*) INTO fitting FROM audit_ranges(said) AS r
    JOIN audit_entry AS e ON e.chain_id = r.chain AND e.seq BETWEEN r.first AND r.last AND e.at >= since AND e.at < until
    WHERE NOT audit_is_held(e)
      AND (of_class IS NOT TRUE OR audit_class(e.kind) IN ('calls', 'denials', 'approvals'));
    IF wanted IS NULL OR fitting <> wanted THEN
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

-- Give back the room of a month in which nothing is left. False while something is, or writers keep the tables.
CREATE FUNCTION audit_month_drop(month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
SET timezone = 'UTC' SET lock_timeout = '3s' AS $$
DECLARE
    parent text;
    found boolean;
BEGIN
    IF date_trunc('month', month) + interval '1 month' > now() - interval '30 days' THEN
        RAISE EXCEPTION 'the month of % is not past', month;
    END IF;
    IF to_regclass('public.audit_entry_' || to_char(month, 'YYYY_MM')) IS NULL THEN
        RETURN false;
    END IF;
    FOREACH parent IN ARRAY ARRAY['audit_entry', 'audit_content', 'audit_words'] LOOP
        EXECUTE format('LOCK TABLE ONLY public.%I IN ACCESS EXCLUSIVE MODE', parent);
        EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', parent || '_' || to_char(month, 'YYYY_MM')) INTO found;
        IF found THEN
            RETURN false;
        END IF;
    END LOOP;
    FOREACH parent IN ARRAY ARRAY['audit_entry', 'audit_content', 'audit_words'] LOOP
        EXECUTE format('DROP TABLE public.%I', parent || '_' || to_char(month, 'YYYY_MM'));
    END LOOP;
    RETURN true;
EXCEPTION WHEN lock_not_available THEN
    RETURN false;
END
$$;
"""
UNDO_GUARDS = """
DROP FUNCTION audit_month_drop(date);
DROP FUNCTION audit_erase(bigint, timestamptz, timestamptz);
DROP FUNCTION audit_purge(bigint, timestamptz, timestamptz);
DROP FUNCTION audit_ranges(jsonb);
DROP FUNCTION audit_tombstone(bigint, text);
DROP FUNCTION audit_is_held(audit_entry);
DROP TRIGGER audit_hold_guard ON audit_hold;
DROP FUNCTION audit_hold_guard();
"""
UNDO_CLASSES = "DROP FUNCTION audit_floor(text); DROP FUNCTION audit_class(text);"


def key() -> models.UUIDField:
    return models.UUIDField(
        default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False
    )


class Migration(migrations.Migration):
    dependencies = [("audit", "0010_streams")]

    operations = [
        migrations.RunSQL(CLASSES, UNDO_CLASSES),
        migrations.CreateModel(
            name="Retention",
            fields=[
                ("name", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("days", models.PositiveIntegerField(null=True)),
                ("changed_by", models.TextField(default="")),
                ("changed_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", key()),
                ("reason", models.CharField(max_length=500)),
                ("environment", models.TextField(default="")),
                ("agent", models.TextField(default="")),
                ("channel", models.TextField(default="")),
                ("sender", models.TextField(default="")),
                ("session_key", models.TextField(default="")),
                ("since", models.DateTimeField(null=True)),
                ("until", models.DateTimeField(null=True)),
                ("placed_at", models.DateTimeField()),
                ("placed_by", models.TextField()),
                ("lifted_at", models.DateTimeField(null=True)),
                ("lifted_by", models.TextField(default="")),
                ("lift_reason", models.CharField(default="", max_length=500)),
            ],
            options={"ordering": ["-placed_at", "-id"]},
        ),
        migrations.CreateModel(
            name="Erasure",
            fields=[
                ("id", key()),
                ("channel", models.TextField()),
                ("sender", models.TextField()),
                ("salt", models.BinaryField()),
                ("subject", models.CharField(max_length=64)),
                ("reason", models.CharField(max_length=500)),
                ("requested_by", models.TextField()),
                ("requested_at", models.DateTimeField()),
                ("state", models.TextField(choices=[("running", "Running"), ("done", "Done"), ("refused", "Refused")], default="running")),
                ("touched_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("contents_total", models.BigIntegerField(default=0)),
                ("contents_done", models.BigIntegerField(default=0)),
                ("elsewhere", models.JSONField(default=dict)),
                ("error", models.TextField(default="")),
            ],
            options={"ordering": ["-requested_at", "-id"]},
        ),
        migrations.RunSQL(GUARDS, UNDO_GUARDS),
    ]
