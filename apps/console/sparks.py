"""Sparklines: a series of counts as two SVG paths in a box of 100 by 28."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, TOP = 100.0, 28.0, 2.0


@dataclass(frozen=True, slots=True)
class Spark:
    """`line` follows the counts, `area` closes it at the bottom."""

    line: str
    area: str


def spark_of(series: Sequence[int]) -> Spark:
    """Draw a series; the highest count touches the top, nothing lies at the bottom."""
    if not series:
        return Spark("", "")
    peak, last = max(*series, 1), max(len(series) - 1, 1)
    points = [
        f"{WIDTH * at / last:.1f} {HEIGHT - (HEIGHT - TOP) * count / peak:.1f}" for at, count in enumerate(series)
    ]
    line = "M" + "L".join(points)
    return Spark(line, f"{line}L{WIDTH:.0f} {HEIGHT:.0f}L0 {HEIGHT:.0f}Z")
