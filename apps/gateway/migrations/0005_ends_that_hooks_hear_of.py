"""What hooks hear of calls that end without running."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('gateway', '0004_background_commands'),
    ]

    operations = [
        migrations.CreateModel(
            name='UntoldCall',
            fields=[
                ('call_id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('sealed', models.BinaryField()),
                ('is_ended', models.BooleanField(default=False)),
            ],
        ),
    ]
