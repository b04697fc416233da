"""What the follower writes: words of entries by month, tallies of calls, its cursors. The index on contents goes.

The follower begins with the first entry of every chain, so that earlier entries are found as well.
"""

from django.db import migrations

TABLES = """
CREATE TABLE audit_words (
    at timestamptz NOT NULL,
    entry_id uuid NOT NULL,
    head_at timestamptz NOT NULL,
    head_id uuid NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (at, entry_id)
) PARTITION BY RANGE (at);
CREATE TABLE audit_words_default PARTITION OF audit_words DEFAULT;
CREATE INDEX audit_words_heads ON audit_words (head_at DESC, head_id DESC);
CREATE INDEX audit_words_words ON audit_words USING gin (words);

CREATE TABLE audit_tally (
    environment text NOT NULL,
    step_s integer NOT NULL,
    dimension text NOT NULL,
    value text NOT NULL,
    start timestamptz NOT NULL,
    begun bigint NOT NULL,
    ran bigint NOT NULL,
    denied bigint NOT NULL,
    failed bigint NOT NULL,
    ended bigint NOT NULL,
    PRIMARY KEY (environment, step_s, dimension, value, start)
) WITH (fillfactor = 70);
CREATE INDEX audit_tally_start ON audit_tally (environment, step_s, dimension, start);

CREATE TABLE audit_follow (chain_id uuid PRIMARY KEY, seq bigint NOT NULL) WITH (fillfactor = 50);
"""

# JSON as text becomes words: its escapes and every sign that may stand inside a name are blanks, so that each part of a
# path, an option or a host is a word of its own. queries.py divides what is searched for in the same way.
FUNCTIONS = r"""
DROP INDEX audit_content_words;
DROP FUNCTION audit_words(jsonb);

CREATE FUNCTION audit_text_words(document text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT strip(to_tsvector('pg_catalog.simple'::regconfig, translate(
        replace(replace(replace(replace(document, '\\', ' '), '\n', ' '), '\r', ' '), '\t', ' '),
        '[]!"#$%&''()*+,./:;<=>?@\^`{|}~_-', '                                '
    )))
$$;

-- What an entry is looked up by and no index of the ledger holds, as words that nobody can type.
CREATE FUNCTION audit_tokens(
    actor text, channel text, decision text, layer text, rule text, snapshot text, trace text, approval uuid,
    duration_ms bigint
) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT left(sign || value, 400)), '{}') FROM (VALUES
        ('=a:', actor), ('=c:', channel), ('=d:', decision), ('=l:', layer), ('=r:', rule), ('=s:', snapshot),
        ('=t:', trace), ('=p:', approval::text),
        ('=m:', CASE WHEN duration_ms >= 0 THEN length(ltrim(duration_ms::bit(48)::text, '0'))::text END)
    ) AS named (sign, value) WHERE value <> ''
$$;
"""

PARTITIONS = """
DO $do$
DECLARE
    known text := $$('audit_entry', 'audit_content')$$;
    definition text := pg_get_functiondef('audit_partition_ensure(text, date)'::regprocedure);
BEGIN
    IF position(known IN definition) = 0 THEN
        RAISE EXCEPTION 'audit_partition_ensure does not name its tables as expected';
    END IF;
    EXECUTE replace(definition, known, $$('audit_entry', 'audit_content', 'audit_words')$$);
END
$do$;
SELECT audit_partition_ensure('audit_words', month) FROM (
    SELECT to_date(right(c.relname, 7), 'YYYY_MM') AS month FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid
    WHERE inhparent = 'audit_entry'::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
) AS made WHERE month BETWEEN (now() - interval '25 months')::date AND (now() + interval '25 months')::date;
"""

UNDO = r"""
DO $do$
BEGIN
    EXECUTE replace(pg_get_functiondef('audit_partition_ensure(text, date)'::regprocedure),
        $$('audit_entry', 'audit_content', 'audit_words')$$, $$('audit_entry', 'audit_content')$$);
END
$do$;
DROP TABLE audit_words, audit_tally, audit_follow;
DROP FUNCTION audit_tokens(text, text, text, text, text, text, text, uuid, bigint);
DROP FUNCTION audit_text_words(text);
CREATE FUNCTION audit_words(document jsonb) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_tsvector(
        'pg_catalog.simple'::regconfig,
        regexp_replace(
            left(document::text, 200000),
            '\\[a-z"\\]|[][!"#$%&''()*+,./:;<=>?@\\^`{|}~_-]+', ' ', 'g'
        )
    )
$$;
CREATE INDEX audit_content_words ON audit_content USING gin (audit_words(params)) WHERE params IS NOT NULL;
"""

# The list of one environment, newest first, whatever share of the ledger is its own.
HEADS = """
DROP INDEX audit_entry_heads;
CREATE INDEX audit_entry_heads ON audit_entry (environment, at DESC, id DESC)
    WHERE call_id IS NOT NULL
      AND (kind = 'approval_asked' OR (approval_id IS NULL AND kind IN ('call_intent', 'denial')));
"""
UNDO_HEADS = HEADS.replace("(environment, at", "(at")


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_statements")]

    operations = [
        migrations.RunSQL(TABLES + FUNCTIONS + PARTITIONS, UNDO),
        migrations.RunSQL(HEADS, UNDO_HEADS),
    ]
