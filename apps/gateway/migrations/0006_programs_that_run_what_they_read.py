"""Which background commands run what is written to them; of those that run already, nobody knows."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('gateway', '0005_ends_that_hooks_hear_of'),
    ]

    operations = [
        migrations.AddField(
            model_name='backgroundcommand',
            name='reads_code',
            field=models.TextField(blank=True, default='a program'),
        ),
    ]
