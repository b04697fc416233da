import apps.firewall.identifiers
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('registry', '0009_variables_of_commands'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='HeardHalts',
            fields=[
                ('boot', models.UUIDField(primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=16)),
                ('digest', models.CharField(max_length=64)),
                ('heard_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Halt',
            fields=[
                ('id', models.UUIDField(default=apps.firewall.identifiers.new_id, editable=False, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('environment', 'Everything'), ('agent', 'Agent'), ('channel', 'Channel'), ('tool', 'Tool')], max_length=12)),
                ('name', models.CharField(blank=True, max_length=512)),
                ('state', models.CharField(choices=[('stopped', 'Stopped'), ('asking', 'Every call asks'), ('lifted', 'Lifted')], default='stopped', max_length=8)),
                ('reason', models.CharField(max_length=500)),
                ('ends_running', models.BooleanField(default=True)),
                ('placed_at', models.DateTimeField()),
                ('placed_by_label', models.TextField()),
                ('asking_at', models.DateTimeField(null=True)),
                ('asking_by_label', models.TextField(blank=True)),
                ('lifted_at', models.DateTimeField(null=True)),
                ('lifted_by_label', models.TextField(blank=True)),
                ('frozen', models.PositiveIntegerField(default=0)),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='halts', to='registry.environment')),
                ('placed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-placed_at', '-id'],
                'indexes': [models.Index(fields=['environment', '-placed_at'], name='halt_history')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'lifted'), _negated=True), fields=('environment', 'scope', 'name'), name='halt_once_at_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('name', ''), ('scope', 'environment')), models.Q(models.Q(('scope', 'environment'), _negated=True), models.Q(('name', ''), _negated=True)), _connector='OR'), name='halt_of_an_environment_has_no_name'), models.CheckConstraint(condition=models.Q(models.Q(('lifted_at__isnull', False), ('state', 'lifted')), models.Q(models.Q(('state', 'lifted'), _negated=True), ('lifted_at__isnull', True)), _connector='OR'), name='halt_lifted_and_dated')],
            },
        ),
    ]
