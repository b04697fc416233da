"""Keep bulk edits and their rows, each with what came of it."""

import apps.firewall.identifiers
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0002_single_keys'),
        ('policies', '0010_publish_rules_and_requests'),
        ('registry', '0011_how_hooks_that_fail_are_taken'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='BulkEdit',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('actor', models.TextField()),
                ('requested_at', models.DateTimeField()),
                ('change', models.JSONField()),
                ('state', models.TextField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done')], default='waiting')),
                ('rows_total', models.PositiveIntegerField()),
                ('rows_done', models.PositiveIntegerField(default=0)),
                ('worker', models.UUIDField(null=True)),
                ('touched_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(null=True)),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='registry.environment')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('requested_token', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='accounts.apitoken')),
            ],
            options={
                'ordering': ['-requested_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='BulkEditRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('agent', models.UUIDField()),
                ('key', models.TextField()),
                ('version', models.PositiveIntegerField()),
                ('result', models.TextField(choices=[('waiting', 'Waiting'), ('done', 'Changed'), ('unchanged', 'Was so already'), ('changed', 'Changed by somebody meanwhile'), ('refused', 'Refused'), ('gone', 'Gone')], default='waiting')),
                ('reason', models.TextField(blank=True)),
                ('edit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rows', to='policies.bulkedit')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('edit', 'position'), name='bulk_row_once')],
            },
        ),
    ]
