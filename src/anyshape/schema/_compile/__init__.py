"""From a document to what judges values, in the order in which the steps are taken.

    intake       is the document JSON, of what size, and fit for its place
    sources      the document with the resources that it may refer to, each in its dialect
    metaschemas  the official metaschemas, which the engine carries
    validity     is it a valid schema of its dialect, and if not, where and why not
    graph        every subschema, and what it applies to which part of a value
    patterns     the regular expressions: are they any, and what do they cost
    spelling     regular expressions as the engine has to be told them
    engine       validators of the whole schema and of its parts
    core         all of these steps, and what comes of them

Nothing here knows whether it runs in the process or in one that is confined; `_bounds` decides.
"""

from __future__ import annotations

from anyshape.schema._compile.core import Analysis, Core, analyse, build
from anyshape.schema._compile.engine import Engine, Test, copy_json
from anyshape.schema._compile.graph import Edge, Graph, GraphNode, build_graph
from anyshape.schema._compile.intake import (
    DOCUMENT_BYTES,
    Admitted,
    Document,
    Role,
    admit_document,
    check_role,
)
from anyshape.schema._compile.metaschemas import (
    find_metaschema,
    is_metaschema,
    metaschema_documents,
)
from anyshape.schema._compile.patterns import Patterns, patterns_of
from anyshape.schema._compile.sources import Sources
from anyshape.schema._compile.spelling import spell

__all__ = [
    "DOCUMENT_BYTES",
    "Admitted",
    "Analysis",
    "Core",
    "Document",
    "Edge",
    "Engine",
    "Graph",
    "GraphNode",
    "Patterns",
    "Role",
    "Sources",
    "Test",
    "admit_document",
    "analyse",
    "build",
    "build_graph",
    "check_role",
    "copy_json",
    "find_metaschema",
    "is_metaschema",
    "metaschema_documents",
    "patterns_of",
    "spell",
]
