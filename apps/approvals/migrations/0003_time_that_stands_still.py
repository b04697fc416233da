from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("approvals", "0002_states_bindings_and_repeats"),
    ]

    operations = [
        migrations.AddField(
            model_name="approval",
            name="frozen_at",
            field=models.DateTimeField(null=True),
        ),
    ]
