"""`anyshape check`: judge the tools of a server, or schemas and listings in files."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from anyshape.cli import json_text, terminal
from anyshape.cli.asked import Asked, about_server
from anyshape.cli.failure import CommandError, Exit, UsageError
from anyshape.cli.loading import is_fleet
from anyshape.cli.target import NamedTarget, connect, connect_as

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyshape.client.findings import JudgedEntry, Judgement
    from anyshape.client.review import Review
    from anyshape.gateway import Gateway
    from anyshape.providers import Loss

EXAMPLES: Final = """\b
A file holds a schema, a tool, an array of tools, or a tools/list result; - is
stdin. Exit code 1 says that something is refused, or that something is hidden
in it, so that CI can stop there. Of a gateway, fleet.toml, what is lost of
the servers behind it is said, and what it costs to list all of their tools.

\b
Examples:
  anyshape check server.py
  anyshape check schemas/*.json --role output
  anyshape check server.py --for openai-strict,gemini
  anyshape check -- npx some-server
"""

_CARRIED: Final = {
    "natural": "as it is",
    "object": 'as it is, stamped "type": "object"',
    "absent": "text only",
    "none": "the same content",
}

_EFFECTS: Final = {
    "wider": "a model may send more than the schema admits, and the call is refused",
    "narrower": "a model cannot send some of what the schema admits",
    "ambiguous": "null and absent look the same to a model",
}
_PLACES: Final = 3
"""How many places of one loss are shown."""


@about_server(without=("revision",))
def check(
    asked: Asked,
    role: Annotated[
        str | None,
        typer.Option(metavar="input|output", help="What a schema in a file is for."),
    ] = None,
    profiles: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="PROVIDER,…",
            help="Say what these make of each tool, such as openai-strict; all for every one.",
        ),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="SEVERITY",
            help="How bad a finding has to be to end with 1: low, medium, high, never.",
        ),
    ] = "high",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only what is refused or suspect.")
    ] = False,
) -> int:
    """Judge tools or schema files: refused, suspect, cost, older clients, advice."""
    from anyshape.client.findings import Judgement, uncover

    if role not in (None, "input", "output"):
        raise UsageError(f"--role {role}: expected input or output", hint=_ROLE)
    providers = [] if profiles is None else _providers(profiles)
    threshold = _threshold(fail_on)
    verdicts: dict[str, Judgement] = {}
    for written in (asked.first, *asked.rest):
        name = written if isinstance(written, str) else " ".join(written)
        if isinstance(written, str) and _is_file(written):
            verdicts[name] = Judgement(_review_file(written, cast("Any", role), providers))
        else:
            verdicts[name] = asyncio.run(_review_server(asked.target(written), providers))
    verdicts = uncover(verdicts, threshold)
    if asked.json:
        found = [{"target": name, **verdict.as_data()} for name, verdict in verdicts.items()]
        terminal.write(json_text.compact(found))
    else:
        for name, verdict in verdicts.items():
            _show(name if len(verdicts) > 1 else None, verdict, quiet=quiet)
    bad = any(verdict.refused or verdict.suspect for verdict in verdicts.values())
    if bad:
        return Exit.NO
    return Exit.UNKNOWN if any(verdict.unreached for verdict in verdicts.values()) else Exit.OK


def _threshold(written: str) -> int:
    """Return the severity from which on a finding says no."""
    from anyshape.screening import Severity

    known = {str(severity): int(severity) for severity in Severity} | {"never": max(Severity) + 1}
    if written not in known:
        hint = f"one of {', '.join(known)}"
        raise UsageError(f"--fail-on {written}: unknown", hint=hint)
    return known[written]


_ROLE: Final = "an inputSchema needs an object at its root, an outputSchema may be anything"


def _is_file(written: str) -> bool:
    if written == "-":
        return True
    if written.endswith(".py") or is_fleet(written):
        return False
    path = Path(written)
    return written.endswith(".json") or path.is_file() or path.is_fifo()  # check <(generate)


def _providers(written: str) -> list[str]:
    """Return the names of profiles that `--for` lists."""
    from anyshape.providers import PROFILES

    names = [name.strip() for name in written.split(",")]
    if names == ["all"]:
        return list(PROFILES)
    for name in names:
        if name not in PROFILES:
            known = ", ".join(PROFILES)
            raise UsageError(f"--for {name!r}: expected a provider", hint=f"known: {known}")
    return names


async def _review_server(target: NamedTarget, providers: Sequence[str]) -> Judgement:
    from anyshape.client.findings import find_out

    source, gateway = partial(read_source, target), _gateway_at(target)
    review = partial(find_out, connect(target), partial(connect_as, target), providers, source)
    if gateway is None:
        return await review()
    async with connect(target):  # so that upstreams are connected to once for all of it
        return _with_fleet(await review(), gateway, is_fleet=gateway is target.address)


def _gateway_at(target: NamedTarget) -> Gateway | None:
    """Return the gateway that a target is, or that it was adopted by."""
    if "anyshape.gateway" not in sys.modules:
        return None
    from anyshape.gateway import Gateway
    from anyshape.gateway.gateway import gateway_of
    from anyshape.server import Server

    address = target.address
    if isinstance(address, Gateway):
        return address
    return gateway_of(address) if isinstance(address, Server) else None


def _with_fleet(verdict: Judgement, gateway: Gateway, *, is_fleet: bool) -> Judgement:
    """Return a judgement with what is lost behind a gateway, and what its tools would cost."""
    from anyshape.client.findings import JudgedEntry
    from anyshape.client.review import Review, count_tokens

    rejected = gateway.rejected.items()
    costs = {way: count_tokens(entries) for way, entries in gateway.listings().items()}
    states = gateway.health.upstreams
    return replace(
        verdict,
        entries=[*verdict.entries, *(JudgedEntry(Review(*each)) for each in rejected)],
        unrecovered=gateway.unrecovered,
        unreached={each.name: each.reason for each in states if each.reason is not None},
        disclosure=costs if is_fleet else {},
    )


def read_source(target: NamedTarget, review: Review) -> Review:
    """Return a review with advice on the function of a tool, where it is there to be read."""
    from anyshape.server import Server
    from anyshape.tools.repeats import repeated_effects

    if not isinstance(target.address, Server):
        return review
    tool = target.address.tools.get(review.name)
    found = [] if tool is None else repeated_effects(tool.function)
    return replace(review, advice=(*review.advice, *found))


def _review_file(
    path: str, role: Literal["input", "output"] | None, providers: Sequence[str]
) -> list[JudgedEntry]:
    from anyshape.client.findings import foresee
    from anyshape.client.review import review_entry, review_schema

    document = _read(path)
    entries = _entries(document)
    if entries is None:
        review = review_schema("stdin" if path == "-" else path, document, role=role)
        return [foresee(review, None, document, () if role == "output" else providers)]
    found: list[JudgedEntry] = []
    for index, entry in enumerate(entries):
        review = review_entry(entry, position=index)
        schema = cast("dict[str, Any]", entry)["inputSchema"] if not review.refused else None
        found.append(foresee(review, review.name, schema, providers))
    return found


def _read(path: str) -> object:
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise CommandError(f"cannot read {path}: {reason}", hint="check the path") from None
    try:
        return json_module.loads(text)
    except (ValueError, RecursionError) as error:
        name = "stdin" if path == "-" else path
        raise CommandError(
            f"{name} is not JSON: {error}", hint="check takes schemas and listings in JSON"
        ) from None


def _entries(document: object) -> list[object] | None:
    """Return the tools that a document lists, or `None` if it is a schema."""
    if isinstance(document, list):
        return cast("list[object]", document)
    if not isinstance(document, dict):
        return None
    members = cast("dict[str, Any]", document)
    answer: Any = members.get("result", members)
    if isinstance(answer, dict):
        tools: object = cast("dict[str, Any]", answer).get("tools")
        if isinstance(tools, list):
            return cast("list[object]", tools)
    return [members] if "inputSchema" in members else None


def _show(name: str | None, verdict: Judgement, *, quiet: bool) -> None:
    from rich.text import Text

    parts: list[RenderableType] = []
    if name is not None:
        parts += [terminal.heading(name, "underline"), Text()]
    for entry in verdict.entries:
        if entry.refused or entry.is_suspect or not quiet:
            parts += [*_describe(entry), Text()]
    for asked, chosen in verdict.answered.items():
        parts.append(Text(f"clients of {asked} are answered with {chosen}", "dim"))
    parts += [terminal.heading(gap, "yellow") for gap in verdict.gaps]
    for upstream, reason in verdict.unreached.items():
        parts.append(terminal.heading(f"upstream {upstream} was not reached: {reason}", "red"))
    for line in verdict.unrecovered:
        parts.append(terminal.heading(f"not recovered: {line}", "yellow"))
    parts += [Text(line) for line in _totals(verdict)]
    parts.append(Text(_total(verdict)))
    if verdict.disclosure:
        parts.append(Text(_ways(verdict.disclosure)))
    terminal.emit(*parts)


def _ways(costs: Mapping[str, int]) -> str:
    every, search = (f"about {costs[way]:,} tokens" for way in ("all", "search"))
    return f"in a model's context: {every} with all tools listed, {search} with tools by search"


def _total(verdict: Judgement) -> str:
    size = sum(entry.review.size for entry in verdict.entries)
    tokens = sum(entry.review.tokens for entry in verdict.entries)
    refused = f"{verdict.refused} refused" if verdict.refused else "none refused"
    suspect = f", {verdict.suspect} suspect" if verdict.suspect else ""
    checked = f"{len(verdict.entries)} checked, {refused}{suspect}"
    return f"{checked}; {size:,} bytes listed, about {tokens:,} tokens"


def _totals(verdict: Judgement) -> Iterator[str]:
    """Yield how many tools each provider takes, and how."""
    counts: dict[str, Counter[str]] = {}
    for entry in verdict.entries:
        for found in entry.outlooks:
            counts.setdefault(found.profile, Counter())[found.outcome] += 1
    for profile, count in counts.items():
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in sorted(count.items()))
        yield f"for {profile}: {outcomes}"
    outlooks = [found for entry in verdict.entries for found in entry.outlooks]
    effects = {loss.effect.value for found in outlooks for loss in found.losses}
    for effect, meaning in _EFFECTS.items():
        if effect in effects:
            yield f"{effect}: {meaning}"


def _outlook_rows(entry: JudgedEntry) -> Iterator[tuple[str, str]]:
    for found in entry.outlooks:
        if found.outcome == "as is":
            yield found.profile, "takes it as it is"
        elif found.outcome == "refused":
            yield found.profile, f"refused: {found.why}"
        else:
            why = f"not as it is ({found.violations[0]}); " if found.violations else ""
            yield found.profile, f"{why}lowered{'' if found.losses else ', nothing is lost'}"
            yield from (("  lost", line) for line in _lost(found.losses))


def _lost(losses: Sequence[Loss]) -> Iterator[str]:
    """Yield a line for each thing that is no longer said, whatever the number of its places."""
    places: dict[tuple[str, str], list[str]] = {}
    for loss in losses:
        places.setdefault((loss.words, loss.effect.value), []).append(loss.path or "/")
    for (words, effect), paths in places.items():
        more = f", … ({len(paths) - _PLACES} more)" if len(paths) > _PLACES else ""
        yield f"{', '.join(paths[:_PLACES])}{more}: {words} ({effect})"


def _describe(entry: JudgedEntry) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    review = entry.review
    title = terminal.heading(review.name)
    if entry.refused:
        title.append("  refused", "red")
    else:
        title.append(*(("  suspect", "yellow") if entry.is_suspect else ("  ok", "green")))
    rows: list[tuple[str, str]] = []
    if review.refused:
        rows.append(("why", review.refused))
    else:
        rows += [("cost", _cost(review.cost)), ("older clients", _older(review.carried))]
    if review.size:
        rows.append(("size", f"{review.size:,} bytes, about {review.tokens:,} tokens"))
    rows += [("found", str(finding)) for finding in entry.findings]
    rows += [("advice", line) for line in review.advice]
    rows += _outlook_rows(entry)
    grid = Table.grid(padding=(0, 2, 0, 0))
    for label, text in rows:
        if text:
            grid.add_row(Text(f"  {label}", "dim"), Text(terminal.safe(text), overflow="fold"))
    return [title, grid]


def _cost(cost: Mapping[str, str]) -> str:
    if len(set(cost.values())) == 1:
        return next(iter(cost.values()))
    return ", ".join(f"{name} {verdict}" for name, verdict in cost.items())


def _older(carried: Mapping[str, str]) -> str:
    from anyshape.protocol.shapes.envelope import SHOWN_ENVELOPE

    words = {**_CARRIED, "wrapped": f"wrapped, {SHOWN_ENVELOPE}"}
    said: dict[str, list[str]] = {}
    for revision, how in carried.items():
        said.setdefault(words.get(how, how), []).append(revision)
    return "; ".join(f"{', '.join(revisions)} {how}" for how, revisions in said.items())
