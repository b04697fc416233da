"""Hooks, what came of each so far, and their failures."""

import apps.firewall.identifiers
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('pghistory', '0007_auto_20250421_0444'),
        ('registry', '0006_file_tools'),
    ]

    operations = [
        migrations.CreateModel(
            name='Hook',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=63, validators=[django.core.validators.RegexValidator('\\A[a-z][a-z0-9-]{0,62}\\Z', 'Use lower-case letters, digits and hyphens.')])),
                ('event', models.CharField(choices=[('before_tool_call', 'Before a call'), ('after_tool_call', 'After a call')], max_length=20)),
                ('kind', models.CharField(choices=[('python_hook', 'Python plugin'), ('webhook', 'Webhook')], max_length=16)),
                ('priority', models.IntegerField(default=0)),
                ('timeout_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('tools', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=128), blank=True, default=list, size=None)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('secrets', models.BinaryField(blank=True, default=b'')),
                ('is_enabled', models.BooleanField(default=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hooks', to='registry.environment')),
                ('plugin', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hooks', to='registry.plugin')),
            ],
            options={
                'ordering': ['event', '-priority', 'created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='HookTally',
            fields=[
                ('hook', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='tally', serialize=False, to='registry.hook')),
                ('passed', models.PositiveBigIntegerField(default=0)),
                ('rewrote', models.PositiveBigIntegerField(default=0)),
                ('asked', models.PositiveBigIntegerField(default=0)),
                ('blocked', models.PositiveBigIntegerField(default=0)),
                ('failed', models.PositiveBigIntegerField(default=0)),
                ('last_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='HookEvent',
            fields=[
                ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                ('pgh_created_at', models.DateTimeField(auto_now_add=True)),
                ('pgh_label', models.TextField(help_text='The event label.')),
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, serialize=False)),
                ('name', models.CharField(max_length=63, validators=[django.core.validators.RegexValidator('\\A[a-z][a-z0-9-]{0,62}\\Z', 'Use lower-case letters, digits and hyphens.')])),
                ('event', models.CharField(choices=[('before_tool_call', 'Before a call'), ('after_tool_call', 'After a call')], max_length=20)),
                ('kind', models.CharField(choices=[('python_hook', 'Python plugin'), ('webhook', 'Webhook')], max_length=16)),
                ('priority', models.IntegerField(default=0)),
                ('timeout_ms', models.PositiveIntegerField(blank=True, null=True)),
                ('tools', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=128), blank=True, default=list, size=None)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('is_enabled', models.BooleanField(default=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('environment', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='registry.environment')),
                ('pgh_context', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='pghistory.context')),
                ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='events', to='registry.hook')),
                ('plugin', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='registry.plugin')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='HookFailure',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(choices=[('raised', 'Raised an error'), ('hung', 'Was not done in time'), ('wrong_answer', 'Wrong answer'), ('huge_answer', 'Answer too large'), ('slow', 'Server too slow'), ('bad_signature', 'Signature missing or wrong'), ('unreachable', 'Server not reached'), ('ended', 'Process ended'), ('overloaded', 'Too much at once')], max_length=16)),
                ('cause', models.CharField(max_length=500)),
                ('said', models.CharField(blank=True, max_length=600)),
                ('tool', models.CharField(blank=True, max_length=128)),
                ('call_id', models.UUIDField(null=True)),
                ('duration_ms', models.PositiveIntegerField(default=0)),
                ('hook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='failures', to='registry.hook')),
            ],
            options={
                'ordering': ['-at', '-id'],
            },
        ),
        migrations.AddConstraint(
            model_name='hook',
            constraint=models.UniqueConstraint(fields=('environment', 'name'), name='hook_name_once_per_environment'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='hook',
            trigger=pgtrigger.compiler.Trigger(name='insert_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "registry_hookevent" ("created_at", "environment_id", "event", "id", "is_enabled", "kind", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "priority", "settings", "timeout_ms", "tools", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."event", NEW."id", NEW."is_enabled", NEW."kind", NEW."name", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."plugin_id", NEW."priority", NEW."settings", NEW."timeout_ms", NEW."tools", NEW."updated_at", NEW."version"); RETURN NULL;', hash='d7aceb9eb2f489f9cc3b9a944e1e92349956479c', operation='INSERT', pgid='pgtrigger_insert_insert_f7f17', table='registry_hook', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='hook',
            trigger=pgtrigger.compiler.Trigger(name='update_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."environment_id" IS DISTINCT FROM (NEW."environment_id") OR OLD."event" IS DISTINCT FROM (NEW."event") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_enabled" IS DISTINCT FROM (NEW."is_enabled") OR OLD."kind" IS DISTINCT FROM (NEW."kind") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."plugin_id" IS DISTINCT FROM (NEW."plugin_id") OR OLD."priority" IS DISTINCT FROM (NEW."priority") OR OLD."settings" IS DISTINCT FROM (NEW."settings") OR OLD."timeout_ms" IS DISTINCT FROM (NEW."timeout_ms") OR OLD."tools" IS DISTINCT FROM (NEW."tools") OR OLD."updated_at" IS DISTINCT FROM (NEW."updated_at") OR OLD."version" IS DISTINCT FROM (NEW."version"))', func='INSERT INTO "registry_hookevent" ("created_at", "environment_id", "event", "id", "is_enabled", "kind", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "priority", "settings", "timeout_ms", "tools", "updated_at", "version") VALUES (NEW."created_at", NEW."environment_id", NEW."event", NEW."id", NEW."is_enabled", NEW."kind", NEW."name", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."plugin_id", NEW."priority", NEW."settings", NEW."timeout_ms", NEW."tools", NEW."updated_at", NEW."version"); RETURN NULL;', hash='5d936d0d51921a3dc095ee4fc420724c3b5e3a82', operation='UPDATE', pgid='pgtrigger_update_update_2ca74', table='registry_hook', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='hook',
            trigger=pgtrigger.compiler.Trigger(name='delete_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "registry_hookevent" ("created_at", "environment_id", "event", "id", "is_enabled", "kind", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "plugin_id", "priority", "settings", "timeout_ms", "tools", "updated_at", "version") VALUES (OLD."created_at", OLD."environment_id", OLD."event", OLD."id", OLD."is_enabled", OLD."kind", OLD."name", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."plugin_id", OLD."priority", OLD."settings", OLD."timeout_ms", OLD."tools", OLD."updated_at", OLD."version"); RETURN NULL;', hash='ea19152ab52e836cfeebc864fba67e7276728f59', operation='DELETE', pgid='pgtrigger_delete_delete_1200c', table='registry_hook', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='hookevent',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='a56b8afdaa1228b26beffb1ea380682d9ebf5aa0', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_bb136', table='registry_hookevent', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='hookfailure',
            index=models.Index(fields=['hook', '-at'], name='failures_of_hook'),
        ),
    ]
