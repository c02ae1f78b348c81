"""Metrics in the text that Prometheus reads, and the answers to probes."""

from __future__ import annotations

import pytest

from anyshape.gateway.health import GatewayHealth, UpstreamHealth
from anyshape.gateway.metrics import GatewayMetrics, Registry


def test_counters_gauges_and_histograms_are_written_as_prometheus_reads_them() -> None:
    registry = Registry()
    calls = registry.counter("calls_total", "Calls.", ("upstream", "verdict"))
    seconds = registry.histogram("seconds", "Time.", ("upstream",), bounds=(0.1, 1))
    registry.gauge("up", "Connected.", lambda: {("b",): 0, ("a",): 1}, ("upstream",))
    registry.counter("plain_total", "No labels.").add()
    calls.add(("a", "ok"))
    calls.add(("a", "ok"), 2)
    calls.add(("a", "error"), 0.5)
    for value in (0.05, 0.1, 0.5, 7):
        seconds.observe(("a",), value)
    assert registry.text() == (
        "# HELP calls_total Calls.\n"
        "# TYPE calls_total counter\n"
        'calls_total{upstream="a",verdict="error"} 0.5\n'
        'calls_total{upstream="a",verdict="ok"} 3\n'
        "# HELP seconds Time.\n"
        "# TYPE seconds histogram\n"
        'seconds_bucket{upstream="a",le="0.1"} 2\n'
        'seconds_bucket{upstream="a",le="1"} 3\n'
        'seconds_bucket{upstream="a",le="+Inf"} 4\n'
        'seconds_sum{upstream="a"} 7.65\n'
        'seconds_count{upstream="a"} 4\n'
        "# HELP up Connected.\n"
        "# TYPE up gauge\n"
        'up{upstream="a"} 1\n'
        'up{upstream="b"} 0\n'
        "# HELP plain_total No labels.\n"
        "# TYPE plain_total counter\n"
        "plain_total 1\n"
    )


def test_what_a_stranger_chose_as_a_label_is_one_short_printable_line() -> None:
    registry = Registry()
    calls = registry.counter("calls_total", "Calls.", ("name",))
    calls.add(('a"b\\c\n\x1b[2K\u202e',))
    calls.add(("x" * 500,))
    calls.add(("x" * 501,))
    lines = registry.text().splitlines()[2:]
    assert lines == [
        'calls_total{name="a\\"b\\\\c\ufffd\ufffd[2K\ufffd"} 1',
        f'calls_total{{name="{"x" * 100}"}} 2',
    ]


def test_label_values_are_bounded_and_the_rest_is_counted_together() -> None:
    registry = Registry(most=3)
    calls = registry.counter("calls_total", "Calls.", ("name",))
    seconds = registry.histogram("seconds", "Time.", ("name",), bounds=(1,))
    registry.gauge("up", "Up.", lambda: {(str(n),): n for n in range(10)}, ("name",))
    for number in range(10):
        calls.add((str(number),))
        seconds.observe((str(number),), 0.5)
    text = registry.text()
    assert 'calls_total{name="0"} 1' in text
    assert 'calls_total{name="other"} 7' in text
    assert 'seconds_count{name="other"} 7' in text
    assert text.count("calls_total{") == 4
    assert text.count("up{") == 4


def test_a_metric_has_one_name_and_all_of_its_labels() -> None:
    registry = Registry()
    calls = registry.counter("calls_total", "Calls.", ("name",))
    with pytest.raises(ValueError, match="there is a metric calls_total already"):
        registry.counter("calls_total", "Again.")
    with pytest.raises(ValueError, match="expected values for"):
        calls.add(("a", "b"))


def test_every_request_is_counted_with_its_time_and_its_bytes() -> None:
    metrics = GatewayMetrics()
    for verdict in ("ok", "ok", "down"):
        metrics.observe(
            upstream="sums",
            method="tools/call",
            verdict=verdict,
            seconds=0.02,
            request_bytes=100,
            answer_bytes=20 if verdict == "ok" else 0,
        )
    text = metrics.registry.text()
    name = "anyshape_gateway"
    labels = 'upstream="sums",method="tools/call"'
    assert f'{name}_requests_total{{{labels},verdict="ok"}} 2\n' in text
    assert f'{name}_requests_total{{{labels},verdict="down"}} 1\n' in text
    assert f'{name}_request_seconds_bucket{{{labels},le="0.01"}} 0\n' in text
    assert f'{name}_request_seconds_bucket{{{labels},le="0.025"}} 3\n' in text
    assert f'{name}_bytes_total{{upstream="sums",direction="request"}} 300\n' in text
    assert f'{name}_bytes_total{{upstream="sums",direction="answer"}} 40\n' in text


UP = UpstreamHealth(name="sums", state="up", seconds=12.34, tools=3, in_flight=1)
DOWN = UpstreamHealth(name="notes", state="down", reason="10.0.0.7 refused")


@pytest.mark.parametrize(
    ("health", "hindrances"),
    [
        (GatewayHealth(upstreams=[UP, DOWN]), ()),
        (GatewayHealth(upstreams=[UP, DOWN], required={"sums"}), ()),
        (GatewayHealth(), ()),
        (GatewayHealth(upstreams=[UP], is_stopping=True), ("it is stopping",)),
        (GatewayHealth(upstreams=[UP, DOWN], required={"notes"}), ("upstream 'notes' is down",)),
        (GatewayHealth(upstreams=[UP], required={"x"}), ("upstream 'x' is not there",)),
        (GatewayHealth(upstreams=[DOWN]), ("no upstream is up",)),
    ],
)
def test_a_gateway_is_ready_when_what_it_cannot_do_without_is_there(
    health: GatewayHealth, hindrances: tuple[str, ...]
) -> None:
    assert health.hindrances == hindrances
    assert (health.is_ready, health.status) == (not hindrances, 503 if hindrances else 200)


def test_anybody_is_told_no_more_than_whether_it_is_ready() -> None:
    health = GatewayHealth(upstreams=[UP, DOWN])
    assert health.public() == {"ready": True}
    assert health.as_data() == {
        "ready": True,
        "hindrances": [],
        "upstreams": [
            {
                "name": "sums",
                "state": "up",
                "seconds": 12.3,
                "tools": 3,
                "inFlight": 1,
                "waiting": 0,
                "breaker": "closed",
                "repeated": 0,
            },
            {
                "name": "notes",
                "state": "down",
                "seconds": 0.0,
                "tools": 0,
                "inFlight": 0,
                "waiting": 0,
                "breaker": "closed",
                "repeated": 0,
                "reason": "10.0.0.7 refused",
            },
        ],
    }
