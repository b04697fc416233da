"""How far checkpoints cover each chain (an index: statements are the truth), who keeps them elsewhere, and walks."""

import apps.firewall.identifiers
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

CHECKPOINTED = """
CREATE TABLE audit_checkpointed (
    chain_id uuid PRIMARY KEY,
    seq bigint NOT NULL,
    number bigint NOT NULL,
    at timestamptz NOT NULL
) WITH (fillfactor = 50);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_words_and_tallies'),
    ]

    operations = [
        migrations.RunSQL(CHECKPOINTED, "DROP TABLE audit_checkpointed;"),
        migrations.CreateModel(
            name='VerificationRun',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('requested_by', models.TextField()),
                ('requested_at', models.DateTimeField()),
                ('state', models.TextField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='waiting')),
                ('entries_total', models.BigIntegerField(null=True)),
                ('entries_done', models.BigIntegerField(default=0)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('is_intact', models.BooleanField(null=True)),
                ('report', models.JSONField(default=dict)),
                ('error', models.TextField(default='')),
            ],
            options={
                'ordering': ['-requested_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Witness',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.TextField(unique=True)),
                ('kind', models.TextField(choices=[('file', 'File'), ('http', 'Http'), ('rfc3161', 'Rfc3161')])),
                ('target', models.TextField()),
                ('roots_pem', models.TextField(default='')),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.TextField(default='')),
                ('last_number', models.BigIntegerField(default=0)),
                ('last_at', models.DateTimeField(null=True)),
                ('attempts', models.IntegerField(default=0)),
                ('next_at', models.DateTimeField(null=True)),
                ('error_code', models.TextField(default='')),
                ('error', models.TextField(default='')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='WitnessReceipt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('token', models.BinaryField(default=bytes)),
                ('witness', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='receipts', to='audit.witness')),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('witness', 'number'), name='audit_receipt_once')],
            },
        ),
    ]
