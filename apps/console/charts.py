"""Charts over time as scripts draw them: the seconds of a step, a row of instants, a row for each series."""

from typing import Any

from apps.audit.pictures import Histogram


def calls_chart(histogram: Histogram) -> dict[str, Any]:
    """Lay out how many calls ran, were denied, and failed."""
    buckets = histogram.buckets
    return {
        "stepSeconds": histogram.step_s,
        "data": [
            [round(bucket.at.timestamp()) for bucket in buckets],
            [bucket.ran for bucket in buckets],
            [bucket.denied for bucket in buckets],
            [bucket.failed for bucket in buckets],
        ],
    }
