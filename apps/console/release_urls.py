"""Paths of the road from a draft to what is live, beyond the review and the list of snapshots."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import promote, publish_requests, snapshot_diff, snapshots, upgrade

releases: list[URLPattern | URLResolver] = [
    path("snapshots/diff/", snapshot_diff.snapshot_diff, name="snapshot-diff"),
    path(
        "snapshots/<publication_id:publication_id>/guardrails/<guardrail_id:guardrail_id>/accept/",
        snapshots.rollback_accept,
        name="snapshot-accept",
    ),
    path("snapshots/diff/blast/", snapshot_diff.snapshot_diff_blast, name="snapshot-diff-blast"),
    path("publish/rule/", publish_requests.publish_rule, name="publish-rule"),
    path("publish/requests/<request_id:request_id>/confirm/", publish_requests.confirm, name="publish-confirm"),
    path("publish/requests/<request_id:request_id>/withdraw/", publish_requests.withdraw, name="publish-withdraw"),
    path("promote/", promote.promote, name="promote"),
    path("promote/blast/", promote.promote_blast, name="promote-blast"),
    path("upgrade/", upgrade.upgrade, name="upgrade"),
    path("upgrade/difference/", upgrade.upgrade_difference, name="upgrade-difference"),
]
