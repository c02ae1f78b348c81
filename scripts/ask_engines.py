"""Ask the real grammar engines what they make of lowered schemas, and print a table.

    python scripts/ask_engines.py [FOLDER] [--probes FILE] [--engine NAME ...] [--values N]
                                  [--seconds S]

Every schema of tests/providers/probes.py, of the listings in FOLDER and of the probes in FILE (see
scripts/lower_listings.py) is lowered for its engine, compiled by it, and matched with the rewritten
values; exit code 1 when one does not compile, or a value is refused. With `--seconds` an engine has
that long for each schema, in a process of its own, and those that take longer are counted. Run by
`make engines`, in an environment of its own: xgrammar brings torch, and llama.cpp's converter is
compiled from source.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "llama.cpp"
LLAMA = (
    "llama-cpp-python==0.3.36 "
    "--hash=sha256:832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
)
SOURCES = (
    *("common/json.cpp", "common/json-schema.cpp", "common/json-schema-to-grammar.cpp"),
    *("common/trie.cpp", "common/unicode.cpp", "common/common.cpp"),
    *("src/llama-grammar.cpp", "src/llama-impl.cpp"),
)
"""What the converter and the matcher need of llama.cpp; the linker leaves the rest of it out."""

sys.path[:0] = [str(ROOT / part) for part in ("src", "scripts", "tests/providers")]
sys.path.append(str(ROOT / "tests" / "properties"))

from engines import LlGuidance, Outlines, spellings  # noqa: E402
from heavy_engines import MATCHER, LlamaCpp, XGrammar  # noqa: E402
from instances import Sampler  # noqa: E402
from lower_listings import read_probes, tools_in, usable  # noqa: E402
from probes import PROBES  # noqa: E402

from anyshape.errors import AnyshapeError, CannotLower  # noqa: E402
from anyshape.providers import lower  # noqa: E402
from anyshape.schema import compile  # noqa: E402

ENGINES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "llguidance": LlGuidance,
    "outlines": Outlines,
    "xgrammar": XGrammar,
    "llama.cpp": LlamaCpp,
}


def beyond_llama(value: Any, document: dict[str, Any]) -> bool:
    """Tell whether no grammar of llama.cpp's converter has a value, whatever its schema says.

    It writes numbers of 16 digits at most, and no undeclared name that a declared one begins with.
    """
    texts = json.dumps(value), json.dumps(document)
    if re.search(r"\d{16}|\de\+\d", texts[0]):
        return True
    names, declared = (set(re.findall(r'"([^"]*)": ', text)) for text in texts)
    return any(other.startswith(name) for name in names - declared for other in declared)


def build_matcher() -> Path:
    """Compile llama.cpp's converter and matcher, once, from the sources that a package carries."""
    program = CACHE / "matcher"
    driver = ROOT / "tests" / "providers" / "llama_matcher.cpp"
    if program.exists() and program.stat().st_mtime > driver.stat().st_mtime:
        return program
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted = CACHE / "requirements.txt"
    wanted.write_text(LLAMA + "\n")
    pip = shutil.which("pip") or shutil.which("pip3") or "pip"
    download = ["download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([pip, *download, "-r", wanted, "-d", CACHE], check=True)
    (archive,) = CACHE.glob("llama_cpp_python-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(CACHE, filter="data")
    (source,) = CACHE.glob("llama_cpp_python-*/vendor/llama.cpp")
    folders = [f"-I{source / part}" for part in ("common", "src", "include", "ggml/include")]
    subprocess.run(
        [
            *("g++", "-O1", "-std=c++17", "-w", "-ffunction-sections", "-Wl,--gc-sections"),
            *(*folders, f"-I{source / 'vendor'}", driver),
            *(source / part for part in SOURCES),
            *("-o", program),
        ],
        check=True,
    )
    return program


def accepted(schema: Any, values: list[Any]) -> list[Any]:
    """Return the values that a schema admits."""
    original = compile(schema)
    found: list[Any] = []
    for value in values:
        try:
            if isinstance(value, dict) and original.accepts(value):
                found.append(value)
        except AnyshapeError:
            continue
    return found


Case = tuple[str, Any, list[Any]]
"""What a schema is called, the schema, and values for it."""
Figures = tuple[Counter[str], list[str]]
"""How often something came out, and a line for each refusal."""


def ask(name: str, label: str, schema: Any, values: list[Any]) -> Figures:
    """Return what one engine makes of one schema and its values."""
    try:
        lowered = lower(schema, name)
    except CannotLower:
        return Counter({"not lowered": 1}), []
    counts, refusals = Counter({"schemas": 1}), list[str]()
    document = lowered.document
    try:
        engine = ENGINES[name](document)
    except Exception as error:  # each engine has errors of its own
        counts["do not compile"] += 1
        return counts, [f"{label}: does not compile: {str(error)[:200]}"]
    for value in accepted(schema, values):
        try:
            rewritten = lowered.rewrite(value)
        except AnyshapeError:
            counts["without a form"] += 1
            continue
        if name == "llama.cpp" and beyond_llama(rewritten, document):
            counts["beyond it by design"] += 1
            continue
        counts["values"] += 1
        if not any(engine.matches(text) for text in spellings(rewritten, document)):
            counts["refused"] += 1
            refusals.append(f"{label}: refuses {str(rewritten)[:200]}")
    return counts, refusals


def ask_within(seconds: int, name: str, cases: Sequence[Case]) -> Iterator[Figures]:
    """Do as `ask` with each case, in a process that is ended when one takes so many seconds."""
    done = 0
    while done < len(cases):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as answers:
                for case in cases[done:]:
                    signal.alarm(seconds)
                    print(json.dumps(ask(name, *case)), file=answers, flush=True)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answers:
            for line in answers:
                counts, refusals = json.loads(line)
                done += 1
                yield Counter(counts), refusals
        os.waitpid(child, 0)
        if done < len(cases):
            print(f"    {cases[done][0]}: took more than {seconds} s")
            done += 1
            yield Counter({"schemas": 1, f"took more than {seconds} s": 1}), []


def main() -> int:
    """Run, report, and tell whether an engine refused anything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--probes", type=Path)
    parser.add_argument("--engine", action="append", choices=sorted(ENGINES))
    parser.add_argument("--values", type=int, default=6)
    parser.add_argument("--shown", type=int, default=10)
    parser.add_argument("--seconds", type=int)
    options = parser.parse_args()
    chosen: list[str] = options.engine or list(ENGINES)
    if "llama.cpp" in chosen and MATCHER not in os.environ:
        os.environ[MATCHER] = str(build_matcher())
    cases: list[Case] = [(probe.name, probe.schema, probe.accepts) for probe in PROBES]
    if options.probes:
        cases += read_probes(options.probes)
    if options.folder:
        for name, schema in usable(tools_in(options.folder)):
            cases.append((name, schema, Sampler(Random(name), schema).batch(options.values)))
    broken = 0
    for name in chosen:
        started = time.monotonic()
        counts, refusals = Counter[str](), list[str]()
        figures = (
            ask_within(options.seconds, name, cases)
            if options.seconds
            else (ask(name, *case) for case in cases)
        )
        for counted, refused in figures:
            counts += counted
            refusals += refused
        for line in refusals[: options.shown]:
            print(f"    {line}")
        shown = ", ".join(f"{count} {noun}" for noun, count in counts.items())
        print(f"{name:11} {shown}  {time.monotonic() - started:.0f} s", flush=True)
        broken += len(refusals)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
