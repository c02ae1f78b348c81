"""References that leave the document. Loaded only if the operator lets something be fetched.

references  what the operator permits, and the budget of one compilation
vetting     what may be fetched, decided without touching the network
transfer    one HTTP GET to an address that was vetted
"""

from __future__ import annotations

from anyshape.schema._remote.references import RemoteReferences, fetch_references

__all__ = ["RemoteReferences", "fetch_references"]
