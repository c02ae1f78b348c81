"""`anyshape check`: judge the tools of a server, or schemas and listings in files."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

import typer

from anyshape.cli import json_text, options, terminal
from anyshape.cli.failure import CommandError, Exit
from anyshape.cli.target import NamedTarget, connect, split_target, take_target
from anyshape.cli.usage import TargetWords
from anyshape.cli.views import view_listing

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anyshape.client.review import ListedEntries, Review
    from anyshape.protocol.revision import Revision
    from anyshape.providers import Outlook
    from anyshape.screening import Finding

__all__ = ["EXAMPLES", "check"]

EXAMPLES: Final = """\b
A file holds a schema, a tool, an array of tools, or a tools/list result; - is
stdin. Exit code 1 says that something is refused, or that something is hidden
in it, so that CI can stop there.

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
    "wrapped": 'wrapped, {"result": …}',
    "absent": "text only",
    "none": "the same content",
}


def check(
    context: typer.Context,
    words: TargetWords = None,
    role: Annotated[
        str | None,
        typer.Option(metavar="input|output", help="What a schema in a file is for."),
    ] = None,
    profiles: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="PROVIDER,…",
            help="Say what these make of each tool, such as openai-strict; all for every one.",
        ),
    ] = "",
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
    headers: options.HeadersOption = None,
    login: options.LoginOption = False,
    timeout: options.TimeoutOption = 60.0,
    json: options.JsonOption = False,
) -> int:
    """Judge tools or schema files: refused, suspect, cost, older clients, advice."""
    if role not in (None, "input", "output"):
        raise CommandError(f"--role {role}: expected input or output", hint=_ROLE, code=Exit.USAGE)
    providers = _providers(profiles)
    threshold = _threshold(fail_on)
    first, rest = split_target(context, words)
    verdicts: dict[str, _Verdict] = {}
    for written in (first, *rest):
        name = written if isinstance(written, str) else " ".join(written)
        if isinstance(written, str) and _is_file(written):
            verdicts[name] = _Verdict(_review_file(written, cast("Any", role), providers))
        else:
            target = take_target(written, headers, timeout, login=login)
            verdicts[name] = asyncio.run(_review_server(target, providers))
    verdicts = _judged(verdicts, threshold)
    if json:
        found = [_as_data(name, verdict) for name, verdict in verdicts.items()]
        terminal.write(json_text.compact(found))
    else:
        for name, verdict in verdicts.items():
            _show(name if len(verdicts) > 1 else None, verdict, quiet=quiet)
    bad = any(verdict.refused or verdict.suspect for verdict in verdicts.values())
    return Exit.NO if bad else Exit.OK


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What there is to say about one file or server."""

    entries: Sequence[_Entry]
    answered: Mapping[str, str] = field(default_factory=dict[str, str])
    """The older revision that clients of each of these are answered with."""
    gaps: Sequence[str] = ()
    """Which older clients are listed nothing, and why."""

    @property
    def refused(self) -> int:
        """How many of its tools or schemas no client should use, or a provider would not take."""
        return sum(1 for entry in self.entries if entry.refused)

    @property
    def suspect(self) -> int:
        """In how many of them something is hidden that is bad enough to say no."""
        return sum(1 for entry in self.entries if entry.is_suspect)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What there is to say about one tool or schema."""

    review: Review
    outlooks: Sequence[Outlook] = ()
    findings: Sequence[Finding] = ()
    is_suspect: bool = False
    """Whether one of the findings is bad enough to say no."""

    @property
    def refused(self) -> bool:
        """Whether no client should use it, or one of the providers would not take it."""
        return bool(self.review.refused) or any(
            found.outcome == "refused" for found in self.outlooks
        )


def _threshold(written: str) -> int:
    """Return the severity from which on a finding says no."""
    from anyshape.screening import Severity

    known = {str(severity): int(severity) for severity in Severity} | {"never": max(Severity) + 1}
    if written not in known:
        hint = f"one of {', '.join(known)}"
        raise CommandError(f"--fail-on {written}: unknown", hint=hint, code=Exit.USAGE)
    return known[written]


def _judged(verdicts: Mapping[str, _Verdict], threshold: int) -> dict[str, _Verdict]:
    """Return the verdicts with what is hidden in each entry, names that imitate among it."""
    from anyshape.screening import find_imitations

    # A schema by itself is called by its file, and no name of anybody's.
    named = {
        target: [entry.review.name for entry in found.entries if entry.review.name != target]
        for target, found in verdicts.items()
    }
    imitations = find_imitations(named)

    def judged(target: str, entry: _Entry) -> _Entry:
        imitation = imitations.get((target, entry.review.name))
        findings = [*([imitation] if imitation else []), *entry.review.findings]
        is_suspect = any(finding.severity >= threshold for finding in findings)
        return replace(entry, findings=findings, is_suspect=is_suspect)

    return {
        name: replace(found, entries=[judged(name, entry) for entry in found.entries])
        for name, found in verdicts.items()
    }


_ROLE: Final = "an inputSchema needs an object at its root, an outputSchema may be anything"


def _is_file(written: str) -> bool:
    if written == "-" or written.endswith(".json"):
        return True
    return not written.endswith(".py") and Path(written).is_file()


def _providers(written: str) -> list[str]:
    """Return the names of profiles that `--for` lists."""
    from anyshape.providers import PROFILES

    names = [name.strip() for name in written.split(",") if name.strip()]
    if names == ["all"]:
        return list(PROFILES)
    for name in names:
        if name not in PROFILES:
            known = ", ".join(PROFILES)
            raise CommandError(
                f"--for {name}: expected a provider", hint=f"known: {known}", code=Exit.USAGE
            )
    return names


def _look_ahead(
    review: Review, name: str | None, schema: object, providers: Sequence[str]
) -> _Entry:
    """Return a review with what each provider makes of the tool, where it can be used at all."""
    from anyshape.providers import outlook

    if review.refused or not isinstance(schema, Mapping):
        return _Entry(review)
    document = cast("Mapping[str, Any]", schema)
    return _Entry(review, [outlook(name, document, provider) for provider in providers])


async def _review_server(target: NamedTarget, providers: Sequence[str]) -> _Verdict:
    from anyshape.client.review import Review, review_tool
    from anyshape.protocol.shapes import OLDER

    async with connect(target) as client:
        listed = await client.list_tools()
        refused = [Review(name, refused=str(error)) for name, error in client.rejected.items()]
    views = await asyncio.gather(*(view_listing(target, revision) for revision in OLDER))
    older: dict[Revision, ListedEntries] = {}
    answered: dict[str, str] = {}
    gaps: list[str] = []
    for revision, view in zip(OLDER, views, strict=True):
        if isinstance(view, str):
            gaps.append(f"clients of {revision} are listed nothing: {view}")
            continue
        chosen, older[revision] = view
        if chosen != revision:
            answered[str(revision)] = str(chosen)
    entries = [
        _look_ahead(
            _read_source(target, review_tool(tool, older)), tool.name, tool.input_schema, providers
        )
        for tool in listed
    ]
    return _Verdict([*entries, *(_Entry(review) for review in refused)], answered, gaps)


def _read_source(target: NamedTarget, review: Review) -> Review:
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
) -> list[_Entry]:
    from anyshape.client.review import review_entry, review_schema

    document = _read(path)
    entries = _entries(document)
    if entries is None:
        review = review_schema("stdin" if path == "-" else path, document, role=role)
        return [_look_ahead(review, None, document, () if role == "output" else providers)]
    found: list[_Entry] = []
    for index, entry in enumerate(entries):
        review = review_entry(entry, position=index)
        schema = cast("dict[str, Any]", entry)["inputSchema"] if not review.refused else None
        found.append(_look_ahead(review, review.name, schema, providers))
    return found


def _read(path: str) -> object:
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise CommandError(f"cannot read {path}: {reason}", hint="check the path") from None
    try:
        return json_module.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(
            f"{path} is not JSON: {error}", hint="check takes schemas and listings in JSON"
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


def _as_data(name: str, verdict: _Verdict) -> dict[str, Any]:
    reviews = [entry.review for entry in verdict.entries]
    return {
        "target": name,
        "answered": verdict.answered,
        "gaps": verdict.gaps,
        "refused": verdict.refused,
        "suspect": verdict.suspect,
        "bytes": sum(review.size for review in reviews),
        "tokens": sum(review.tokens for review in reviews),
        "reviews": [
            {
                "name": review.name,
                "refused": review.refused,
                "cost": review.cost,
                "olderClients": review.carried,
                "bytes": review.size,
                "tokens": review.tokens,
                "advice": review.advice,
                "findings": [
                    {**asdict(finding), "severity": str(finding.severity)}
                    for finding in entry.findings
                ],
                **({"providers": _foreseen(entry)} if entry.outlooks else {}),
            }
            for entry, review in zip(verdict.entries, reviews, strict=True)
        ],
    }


def _foreseen(entry: _Entry) -> dict[str, Any]:
    return {
        found.profile: {
            "outcome": found.outcome,
            "why": found.why or None,
            "violations": [
                {"path": each.path, "keyword": each.keyword, "message": each.message}
                for each in found.violations
            ],
            "losses": [
                {
                    "path": loss.path,
                    "keyword": loss.keyword,
                    "words": loss.words,
                    "effect": loss.effect.value,
                }
                for loss in found.losses
            ],
        }
        for found in entry.outlooks
    }


def _show(name: str | None, verdict: _Verdict, *, quiet: bool) -> None:
    from rich.text import Text

    parts: list[RenderableType] = []
    if name is not None:
        parts += [terminal.heading(name, "underline"), Text()]
    for entry in verdict.entries:
        if entry.refused or entry.is_suspect or not quiet:
            parts += [*_describe(entry), Text()]
    for asked, chosen in verdict.answered.items():
        parts.append(Text(f"clients of {asked} are answered with {chosen}", "dim"))
    parts += [Text(terminal.safe(gap), "yellow") for gap in verdict.gaps]
    parts += [Text(line) for line in _totals(verdict)]
    parts.append(Text(_total(verdict)))
    terminal.emit(*parts)


def _total(verdict: _Verdict) -> str:
    size = sum(entry.review.size for entry in verdict.entries)
    tokens = sum(entry.review.tokens for entry in verdict.entries)
    refused = f"{verdict.refused} refused" if verdict.refused else "none refused"
    suspect = f", {verdict.suspect} suspect" if verdict.suspect else ""
    checked = f"{len(verdict.entries)} checked, {refused}{suspect}"
    return f"{checked}; {size:,} bytes listed, about {tokens:,} tokens"


def _totals(verdict: _Verdict) -> Iterator[str]:
    """Yield how many tools each provider takes, and how."""
    counts: dict[str, Counter[str]] = {}
    for entry in verdict.entries:
        for found in entry.outlooks:
            counts.setdefault(found.profile, Counter())[found.outcome] += 1
    for profile, count in counts.items():
        outcomes = ", ".join(f"{number} {outcome}" for outcome, number in sorted(count.items()))
        yield f"for {profile}: {outcomes}"


def _outlook_rows(entry: _Entry) -> Iterator[tuple[str, str]]:
    for found in entry.outlooks:
        if found.outcome == "as is":
            yield found.profile, "takes it as it is"
        elif found.outcome == "refused":
            yield found.profile, f"refused: {found.why}"
        else:
            why = f"refuses {found.violations[0]}; " if found.violations else ""
            yield found.profile, f"{why}lowered{'' if found.losses else ', nothing is lost'}"
            yield from (("  lost", str(loss)) for loss in found.losses)


def _describe(entry: _Entry) -> list[RenderableType]:
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
            grid.add_row(Text(f"  {label}", "dim"), Text(terminal.safe(text)))
    return [title, grid]


def _cost(cost: Mapping[str, str]) -> str:
    if len(set(cost.values())) == 1:
        return next(iter(cost.values()))
    return ", ".join(f"{name} {verdict}" for name, verdict in cost.items())


def _older(carried: Mapping[str, str]) -> str:
    said: dict[str, list[str]] = {}
    for revision, how in carried.items():
        said.setdefault(_CARRIED.get(how, how), []).append(revision)
    return "; ".join(f"{', '.join(revisions)} {how}" for how, revisions in said.items())
