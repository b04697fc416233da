"""How environments take hooks that fail."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0010_browser'),
    ]

    operations = [
        migrations.CreateModel(
            name='HookPolicy',
            fields=[
                ('environment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='hook_policy', serialize=False, to='registry.environment')),
                ('is_strict', models.BooleanField(default=True)),
                ('version', models.PositiveIntegerField(default=1)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
        ),
    ]
