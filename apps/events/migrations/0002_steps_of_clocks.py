from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("events", "0001_processes_that_hear")]

    operations = [
        migrations.CreateModel(
            name="ClockStep",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("machine", models.TextField()),
                ("offset_s", models.FloatField()),
                ("step_s", models.FloatField()),
                ("at", models.DateTimeField()),
            ],
        ),
    ]
