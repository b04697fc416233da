import apps.policies.fields
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("policies", "0003_permission_grants_and_content_filters")]

    operations = [
        migrations.AddField(
            model_name="publication",
            name="guards_document",
            field=apps.policies.fields.OrderedJSONField(null=True),
        ),
    ]
