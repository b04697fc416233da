from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("policies", "0001_records")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE policies_storedsnapshot ADD CONSTRAINT snapshot_is_its_digest"
            " CHECK (encode(sha256(content), 'hex') = digest)",
            "ALTER TABLE policies_storedsnapshot DROP CONSTRAINT snapshot_is_its_digest",
        ),
    ]
