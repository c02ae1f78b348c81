"""Numbers about a gateway, in the text that Prometheus reads.

https://prometheus.io/docs/instrumenting/exposition_formats/

These are counters, gauges and histograms with few labels, and every one of them is bounded: a label
whose values a stranger chooses cannot fill the memory. `prometheus_client` would be a package more
for a page of text, keeps its metrics in a registry of the process that importing it fills, and has
no bound on label values; who has it can still scrape this.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from anyshape.gateway.health import GatewayHealth, UpstreamHealth

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_OTHER: Final = "other"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_LONGEST: Final = 100
"""Characters of a label's value."""

_Values: TypeAlias = tuple[str, ...]


class _Metric:
    """A name, what it means, and its labels."""

    kind = ""

    def __init__(self, name: str, help: str, labels: Sequence[str], most: int) -> None:
        self.name = name
        self.help = help
        self.labels = tuple(labels)
        self._most = most

    def lines(self) -> Iterator[str]:
        """Yield its lines of the text."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        yield from self._samples()

    def _samples(self) -> Iterator[str]:
        raise NotImplementedError

    def _bounded(self, values: _Values, series: Mapping[_Values, object]) -> _Values:
        """Return the labels to count under: these, short and printable, or `other` for too many."""
        if len(values) != len(self.labels):
            raise ValueError(f"{self.name}: expected values for {self.labels}, got {values!r:.80}")
        values = tuple(map(_printable, values))
        if values in series or len(series) < self._most:
            return values
        return (_OTHER,) * len(values)

    def _sample(self, values: _Values, value: float, suffix: str = "", extra: str = "") -> str:
        pairs = [f'{key}="{_escaped(each)}"' for key, each in zip(self.labels, values, strict=True)]
        inside = ",".join([*pairs, *([extra] if extra else [])])
        return f"{self.name}{suffix}{f'{{{inside}}}' if inside else ''} {_number(value)}"


class Counter(_Metric):
    """A number that only grows."""

    kind = "counter"

    def __init__(self, name: str, help: str, labels: Sequence[str], most: int) -> None:
        super().__init__(name, help, labels, most)
        self._series: dict[_Values, float] = {}

    def add(self, values: _Values = (), amount: float = 1) -> None:
        """Add to the number under these labels."""
        try:
            self._series[values] += amount
        except KeyError:
            values = self._bounded(values, self._series)
            self._series[values] = self._series.get(values, 0) + amount

    def _samples(self) -> Iterator[str]:
        for values, value in sorted(self._series.items()):
            yield self._sample(values, value)


class Gauge(_Metric):
    """A number that is read when somebody asks for it."""

    kind = "gauge"

    def __init__(
        self,
        name: str,
        help: str,
        labels: Sequence[str],
        most: int,
        read: Callable[[], Mapping[_Values, float]],
    ) -> None:
        super().__init__(name, help, labels, most)
        self._read = read

    def _samples(self) -> Iterator[str]:
        series: dict[_Values, float] = {}
        for values, value in self._read().items():
            series[self._bounded(values, series)] = value
        for values, value in sorted(series.items()):
            yield self._sample(values, value)


class Histogram(_Metric):
    """How often a number was at most so large."""

    kind = "histogram"

    def __init__(
        self, name: str, help: str, labels: Sequence[str], most: int, bounds: Sequence[float]
    ) -> None:
        super().__init__(name, help, labels, most)
        self._bounds = tuple(sorted(bounds))
        self._series: dict[_Values, list[float]] = {}

    def observe(self, values: _Values, value: float) -> None:
        """Count a number under these labels."""
        series = self._series.get(values)
        if series is None:
            values = self._bounded(values, self._series)
            # One count for each bound, one for what is above them all, and the sum.
            series = self._series.setdefault(values, [0.0] * (len(self._bounds) + 2))
        series[bisect_left(self._bounds, value)] += 1
        series[-1] += value

    def _samples(self) -> Iterator[str]:
        for values, series in sorted(self._series.items()):
            total = 0.0
            for bound, count in zip((*self._bounds, float("inf")), series, strict=False):
                total += count
                yield self._sample(values, total, "_bucket", f'le="{_number(bound)}"')
            yield self._sample(values, series[-1], "_sum")
            yield self._sample(values, total, "_count")


MetricT = TypeVar("MetricT", bound=_Metric)


class Registry:
    """The metrics of one gateway, to be used on its event loop; `most` bounds each one's series."""

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._metrics: dict[str, _Metric] = {}

    def counter(self, name: str, help: str, labels: Sequence[str] = ()) -> Counter:
        """Return a new counter; by convention its name ends in `_total`."""
        return self._add(Counter(name, help, labels, self._most))

    def gauge(
        self,
        name: str,
        help: str,
        read: Callable[[], Mapping[_Values, float]],
        labels: Sequence[str] = (),
    ) -> Gauge:
        """Return a new gauge; `read` gives its values by labels."""
        return self._add(Gauge(name, help, labels, self._most, read))

    def histogram(
        self, name: str, help: str, labels: Sequence[str] = (), bounds: Sequence[float] = _SECONDS
    ) -> Histogram:
        """Return a new histogram; its bounds are seconds unless others are given."""
        return self._add(Histogram(name, help, labels, self._most, bounds))

    def text(self) -> str:
        """Return everything as text, of the type `CONTENT_TYPE`."""
        lines = (line for metric in self._metrics.values() for line in metric.lines())
        return "".join(f"{line}\n" for line in lines)

    def _add(self, metric: MetricT) -> MetricT:
        if metric.name in self._metrics:
            raise ValueError(f"there is a metric {metric.name} already")
        self._metrics[metric.name] = metric
        return metric


class GatewayMetrics:
    """What is counted about every request to an upstream."""

    def __init__(self, registry: Registry | None = None) -> None:
        self.registry = registry or Registry()
        self._requests = self.registry.counter(
            "anyshape_gateway_requests_total",
            "Requests by upstream, method and verdict.",
            ("upstream", "method", "verdict"),
        )
        self._seconds = self.registry.histogram(
            "anyshape_gateway_request_seconds",
            "How long requests took, by upstream and method.",
            ("upstream", "method"),
        )
        self._bytes = self.registry.counter(
            "anyshape_gateway_bytes_total",
            "Bytes of requests to upstreams, and of their answers.",
            ("upstream", "direction"),
        )

    def watch(
        self, health: Callable[[], GatewayHealth], dropped: Callable[[], int] | None = None
    ) -> None:
        """Have what upstreams are like now among the metrics, and how many audit lines are missing.

        One gateway can be watched.
        """

        def gauge(name: str, help: str, read: Callable[[UpstreamHealth], float]) -> None:
            self.registry.gauge(
                f"anyshape_gateway_upstream_{name}",
                help,
                lambda: {(each.name,): read(each) for each in health().upstreams},
                ("upstream",),
            )

        gauge("up", "Whether there is a connection.", lambda each: each.state == "up")
        gauge("tools", "Tools that it lists and that are not withheld.", lambda each: each.tools)
        gauge("in_flight", "Requests that have been sent.", lambda each: each.in_flight)
        gauge("waiting", "Requests that wait for a place.", lambda each: each.waiting)
        gauge("repeated", "Calls that were made again.", lambda each: each.repeated)
        gauge("left_alone", "Whether its breaker is open.", lambda each: each.breaker == "open")
        if dropped is not None:
            self.registry.gauge(
                "anyshape_gateway_audit_dropped",
                "Lines of the audit log that were not written.",
                lambda: {(): dropped()},
            )

    def observe(
        self,
        *,
        upstream: str,
        method: str,
        verdict: str,
        seconds: float,
        request_bytes: int = 0,
        answer_bytes: int = 0,
    ) -> None:
        """Count one request that was answered, by whom ever."""
        self._requests.add((upstream, method, verdict))
        self._seconds.observe((upstream, method), seconds)
        if request_bytes:
            self._bytes.add((upstream, "request"), request_bytes)
        if answer_bytes:
            self._bytes.add((upstream, "answer"), answer_bytes)


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "\ufffd" for each in text[:_LONGEST])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
