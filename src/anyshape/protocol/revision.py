"""The protocol revisions we speak, and what each of them knows.

Revisions are an enumerated set, not strings to compare: a string that is none of them has no place
in any order, so it can never count as newer. The facts are read off the schema of each revision
(https://modelcontextprotocol.io/specification, `schema/<revision>/schema.ts`). Most are told by the
revisions that lack something, so that one which is added knows what the newest one does, until a
fact says otherwise.
"""

from __future__ import annotations

import enum
from typing import Final, NoReturn

_BEFORE_2025_03_26: Final = frozenset({"2024-11-05"})
_BEFORE_2025_06_18: Final = _BEFORE_2025_03_26 | {"2025-03-26"}
_BEFORE_2025_11_25: Final = _BEFORE_2025_06_18 | {"2025-06-18"}
_BEFORE_2026: Final = _BEFORE_2025_11_25 | {"2025-11-25"}
_HANDSHAKE: Final = _BEFORE_2026 | {"2026-06-30", "DRAFT-2026-06-v1"}


class Revision(enum.StrEnum):
    """One protocol revision, equal to the string that names it on the wire, and in no order."""

    V2024_11_05 = "2024-11-05"
    V2025_03_26 = "2025-03-26"
    V2025_06_18 = "2025-06-18"
    V2025_11_25 = "2025-11-25"
    V2026_06_30 = "2026-06-30"
    DRAFT_2026_06_V1 = "DRAFT-2026-06-v1"
    V2026_07_28 = "2026-07-28"

    @classmethod
    def parse(cls, text: str) -> Revision | None:
        """Return the revision that `text` names exactly, or `None`."""
        return BY_NAME.get(text)

    # Members are keys that every call looks up; what an enumeration does for a hash would show.
    __hash__ = str.__hash__

    def _refuse_order(self, other: object) -> NoReturn:
        raise TypeError(f"revisions are a set, not an order: {self} is neither before nor after")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_order

    def __init__(self, text: str) -> None:
        """Know what the revision of that name has."""
        since_2025_03_26 = text not in _BEFORE_2025_03_26
        since_2025_06_18 = text not in _BEFORE_2025_06_18
        since_2025_11_25 = text not in _BEFORE_2025_11_25
        self.is_modern = text not in _HANDSHAKE
        """Whether requests stand alone: no handshake, `_meta` on each, `server/discover`."""
        self.is_natural = text not in _BEFORE_2026
        """Whether `outputSchema` and `structuredContent` may have any JSON shape.

        Then the text mirror of an object is the author's choice, that of a string is JSON unless
        the author chooses otherwise, and `true` and `false` are schemas like any other.
        """
        self.has_structured_content = since_2025_06_18
        """Whether tools have `outputSchema` and results `structuredContent` at all."""
        self.has_batches = since_2025_03_26 and not since_2025_06_18
        """Whether several JSON-RPC messages may travel in one array."""
        self.has_tool_annotations = since_2025_03_26
        """Whether a listed tool may carry `annotations`."""
        self.has_titles = since_2025_06_18
        """Whether tools, prompts, resources and implementations may carry `title`."""
        self.has_item_meta = since_2025_06_18
        """Whether listed things and content blocks may carry `_meta` (results always may)."""
        self.has_last_modified = since_2025_06_18
        """Whether the annotations of content may carry `lastModified`."""
        self.has_resource_links = since_2025_06_18
        """Whether content may be a `resource_link`."""
        self.has_icons = since_2025_11_25
        """Whether tools, prompts, resources and implementations may carry `icons`."""
        self.has_completions = since_2025_03_26
        """Whether a server declares that it completes arguments (every revision lets it)."""
        self.has_not_found = text in _BEFORE_2026
        """Whether a resource that is not there has an error code of its own, -32002."""
        self.has_audio = since_2025_03_26
        """Whether content may be `audio`."""
        self.has_elicitation = since_2025_06_18
        """Whether a server may ask the user to fill in a form."""
        self.has_elicitation_modes = since_2025_11_25
        """Whether elicitation has modes, so that a user may be sent to an address, too."""
        self.has_elicitation_ids = not self.is_modern
        """Whether a visit to an address has an id of its own."""
        self.has_rich_forms = since_2025_11_25
        """Whether a form may have defaults, titled choices, and choices of several."""
        self.has_sampling_tools = since_2025_11_25
        """Whether a model that a server samples may use tools, and messages have several blocks."""
        self.asks_in_results = self.is_modern
        """Whether a server asks by a result that wants input, and not by requests of its own."""
        self.has_progress_messages = since_2025_03_26
        """Whether a progress notification may carry `message`."""
        self.has_version_header = since_2025_06_18
        """Whether HTTP requests carry `MCP-Protocol-Version`."""
        self.has_error_statuses = self.is_modern
        """Whether errors travel under HTTP statuses of their own, such as 404 for a method."""
        self.has_declared_calls = self.is_modern
        """Whether each call declares the capabilities and headers that the tool relies on."""
        self.has_tasks = self.is_modern
        """Whether a call may become a task, by the extension that we speak."""
        self.disconnect_cancels = self.is_modern
        """Whether a client that closes its HTTP connection has cancelled its request."""
        self.has_event_ids = not self.is_modern and since_2025_03_26
        """Whether a client may come back, over HTTP, for what follows an event that it has."""
        self.has_empty_events = not self.is_modern and since_2025_11_25
        """Whether a stream may begin with an event that has an id and nothing else."""
        self.omits_unknown_id = since_2025_11_25
        """Whether an error about an unreadable id leaves `id` out; older ones say `null`."""


BY_NAME: Final = {revision.value: revision for revision in Revision}
"""Every revision by the string that names it."""

WORKING_NAMES: Final = (Revision.V2026_06_30, Revision.DRAFT_2026_06_V1)
"""Names 2026-07-28 went by before its release; spoken with a handshake, seen in natural shapes."""

RELEASED: Final = tuple(revision for revision in Revision if revision not in WORKING_NAMES)
"""The revisions that were published, oldest first."""

LATEST: Final = RELEASED[-1]
"""The newest revision."""

HANDSHAKE: Final = tuple(revision for revision in Revision if not revision.is_modern)
"""The revisions that `initialize` can settle on, oldest first."""

LATEST_HANDSHAKE: Final = Revision.V2025_11_25
"""What a server offers to a client that asks for a revision it does not know."""

MODERN: Final = tuple(revision for revision in Revision if revision.is_modern)
"""The revisions without a handshake, oldest first."""

WITHOUT_HEADER: Final = Revision.V2025_03_26
"""What an HTTP request without `MCP-Protocol-Version` speaks: the last one not to have it."""

SUPPORTED: Final = tuple(revision.value for revision in reversed(RELEASED))
"""The wire names a server advertises, newest first."""


def negotiate(asked: str) -> Revision:
    """Return the revision a handshake settles on: what was asked for, or the latest that has one.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
    """
    revision = Revision.parse(asked)
    return LATEST_HANDSHAKE if revision is None or revision.is_modern else revision
