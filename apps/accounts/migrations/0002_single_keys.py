from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_first")]

    operations = [
        migrations.AddField(model_name="user", name="single_keys", field=models.BooleanField(default=True)),
    ]
