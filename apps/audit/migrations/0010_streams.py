"""Systems that get each entry as it is written, how far each has got, and what each refuses."""

import apps.firewall.identifiers
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0009_saved_filters'),
    ]

    operations = [
        migrations.CreateModel(
            name='Stream',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True)),
                ('kind', models.TextField(choices=[('syslog', 'Syslog (RFC 5424)'), ('http', 'HTTP, JSON'), ('otlp', 'OpenTelemetry logs (OTLP/HTTP)'), ('s3', 'Object store (S3), JSONL')])),
                ('url', models.TextField()),
                ('ca', models.TextField(blank=True, default='')),
                ('region', models.CharField(blank=True, default='us-east-1', max_length=64)),
                ('prefix', models.CharField(blank=True, default='', max_length=200)),
                ('with_content', models.BooleanField(default=True)),
                ('sealed_secret', models.BinaryField(default=b'')),
                ('is_paused', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('worker', models.UUIDField(null=True)),
                ('touched_at', models.DateTimeField(null=True)),
                ('sent_at', models.DateTimeField(null=True)),
                ('sent_count', models.BigIntegerField(default=0)),
                ('failures', models.IntegerField(default=0)),
                ('error', models.TextField(default='')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='DeadLetter',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.UUIDField()),
                ('seq', models.BigIntegerField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('reason', models.TextField()),
                ('attempts', models.IntegerField(default=1)),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='dead', to='audit.stream')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'constraints': [models.UniqueConstraint(fields=('stream', 'chain_id', 'seq'), name='audit_deadletter_one')],
            },
        ),
        migrations.CreateModel(
            name='StreamCursor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.UUIDField()),
                ('seq', models.BigIntegerField()),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cursors', to='audit.stream')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('stream', 'chain_id'), name='audit_streamcursor_one')],
            },
        ),
    ]
