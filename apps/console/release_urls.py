"""Paths of the road from a draft to what is live, beyond the review and the list of snapshots."""

from django.urls import URLPattern, URLResolver, path

from apps.console.views import snapshot_diff, upgrade

releases: list[URLPattern | URLResolver] = [
    path("snapshots/diff/", snapshot_diff.snapshot_diff, name="snapshot-diff"),
    path("snapshots/diff/blast/", snapshot_diff.snapshot_diff_blast, name="snapshot-diff-blast"),
    path("upgrade/", upgrade.upgrade, name="upgrade"),
    path("upgrade/difference/", upgrade.upgrade_difference, name="upgrade-difference"),
]
