"""Write what a plain install consists of as CycloneDX: `dist/anyshape-VERSION.cdx.json`.

    python scripts/sbom.py ENVIRONMENT [WHEEL]

ENVIRONMENT has the packages of `requirements/install.txt`; what else is in it, such as pip, is left
out. The document is valid (it is checked), says who needs whom, and is the same whenever it is made
from the same pins; with a wheel it names its digest. Run by `make sbom`.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "requirements" / "install.txt"
VERSION = ROOT / "src" / "anyshape" / "_version.py"


def main(environment: str, wheel: str | None = None) -> int:
    """Write the document and print where it is."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    about = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library", "--short-PURLs"]
    made = subprocess.run([*command, *about, environment], capture_output=True, check=True)
    document = json.loads(made.stdout)
    (version,) = re.findall(r'__version__ = "(.+)"', VERSION.read_text())
    ours = document["metadata"]["component"]
    _keep_what_is_pinned(document, ours["bom-ref"])
    ours |= {"version": version, "purl": f"pkg:pypi/anyshape@{version}"}
    if wheel is not None:
        digest = hashlib.sha256(Path(wheel).read_bytes()).hexdigest()
        ours["hashes"] = [{"alg": "SHA-256", "content": digest}]
    target = ROOT / "dist" / f"anyshape-{version}.cdx.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
    print(f"{target}: {len(document['components'])} packages")
    return 0


def _keep_what_is_pinned(document: dict[str, Any], root: str) -> None:
    """Leave out what an environment has beside the pins, which extras of packages may lead to."""
    pinned = set(re.findall(r"^([a-z0-9.-]+)==", PINS.read_text(), flags=re.MULTILINE))
    kept = [
        each
        for each in document["components"]
        if re.sub(r"[-_.]+", "-", each["name"]).lower() in pinned
    ]
    refs = {root, *(each["bom-ref"] for each in kept)}
    document["components"] = kept
    document["dependencies"] = [
        {**each, "dependsOn": [ref for ref in each.get("dependsOn", []) if ref in refs]}
        for each in document["dependencies"]
        if each["ref"] in refs
    ]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
