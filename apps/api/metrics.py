"""Figures for Prometheus, asked for and put together at each scrape: no process counts by itself."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from apps.approvals.waits import WAIT_BOUNDS_S, approval_waits
from apps.audit.metrics import LedgerMetrics, ledger_metrics

P: Final = "openclaw"


class Figures(Collector):
    """What the installation is at one instant.

    Args:
        version: of the program.
    """

    def __init__(self, at: datetime, version: str) -> None:
        self._at, self._version = at, version

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily(f"{P}_admin", "The program that answers.", value={"version": self._version})
        ledger = ledger_metrics(self._at)
        yield from _calls(ledger)
        yield from _approvals(self._at)
        yield from _ledger(ledger)
        yield from _streams(ledger)


def _calls(ledger: LedgerMetrics) -> Iterator[Metric]:
    calls = CounterMetricFamily(f"{P}_calls", "Calls that ended, by outcome.", labels=["environment", "outcome"])
    begun = CounterMetricFamily(f"{P}_calls_begun", "Calls that were asked for.", labels=["environment"])
    for environment, asked, ran, denied, failed, joined in ledger.calls:
        begun.add_metric([environment], float(asked))
        for outcome, count in (("completed", ran), ("denied", denied), ("failed", failed), ("joined", joined)):
            calls.add_metric([environment, outcome], float(count))
    yield calls
    yield begun


def _approvals(at: datetime) -> Iterator[Metric]:
    pending = GaugeMetricFamily(f"{P}_approvals_pending", "Requests that wait for a person.", labels=["environment"])
    oldest = GaugeMetricFamily(
        f"{P}_approvals_oldest_wait_seconds", "How long the oldest of them waits.", labels=["environment"]
    )
    waits = HistogramMetricFamily(
        f"{P}_approval_wait_seconds", "How long requests that ended had waited.", labels=["environment"]
    )
    for each in approval_waits(at):
        pending.add_metric([each.environment], each.pending)
        oldest.add_metric([each.environment], each.oldest_s)
        buckets = [(str(float(bound)), float(count)) for bound, count in zip(WAIT_BOUNDS_S, each.within, strict=True)]
        waits.add_metric([each.environment], [*buckets, ("+Inf", float(each.ended))], sum_value=each.waited_s)
    yield pending
    yield oldest
    yield waits


def _ledger(ledger: LedgerMetrics) -> Iterator[Metric]:
    heads = GaugeMetricFamily(
        f"{P}_audit_chain_head", "Number of the last entry of each chain written now.", labels=["chain", "host"]
    )
    for chain, host, seq in ledger.heads:
        heads.add_metric([str(chain), host], seq)
    yield heads
    exports = GaugeMetricFamily(f"{P}_audit_exports", "Files asked for, by state.", labels=["state"])
    for state, count in ledger.exports:
        exports.add_metric([state], count)
    yield exports
    for name, text, value in (
        ("chains", "Chains, ended ones included.", ledger.chains),
        ("index_lag_entries", "Entries that cannot be found by their words yet.", ledger.index_entries),
        ("index_lag_seconds", "Age of the oldest of them.", ledger.index_lag_s),
        ("writer_waiting", "Who waits for the writer of the process that answers.", ledger.pressure.waiting),
        ("writer_oldest_wait_seconds", "How long the first of them waits.", ledger.pressure.oldest_s),
        ("writer_commit_seconds", "How long its last commit took.", ledger.pressure.commit_ms / 1000),
    ):
        yield GaugeMetricFamily(f"{P}_audit_{name}", text, value=value)
    yield CounterMetricFamily(f"{P}_audit_entries", "Entries written to all chains.", value=ledger.entries)
    if ledger.checkpoint_age_s is not None:
        yield GaugeMetricFamily(
            f"{P}_audit_checkpoint_age_seconds", "Since the last signed checkpoint.", value=ledger.checkpoint_age_s
        )


def _streams(ledger: LedgerMetrics) -> Iterator[Metric]:
    gauges = {
        name: GaugeMetricFamily(f"{P}_audit_stream_{name}", text, labels=["stream"])
        for name, text in (
            ("lag_entries", "Entries that the other side does not have yet."),
            ("lag_seconds", "Age of the oldest of them."),
            ("dead_letters", "Entries that the other side refused for good."),
            ("failures", "Failed attempts in a row."),
            ("paused", "1 while a person holds it."),
        )
    }
    for state in ledger.streams:
        stream = state.stream
        values = (state.behind, state.lag_s, state.dead, stream.failures, int(stream.is_paused))
        for gauge, value in zip(gauges.values(), values, strict=True):
            gauge.add_metric([stream.name], value)
    yield from gauges.values()
