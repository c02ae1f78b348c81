"""The protocol revisions we speak, and what each of them knows.

Revisions are an enumerated set, not strings to compare: a string that is none of them has no place
in any order, so it can never count as newer. The facts are read off the schema of each revision
(https://modelcontextprotocol.io/specification, `schema/<revision>/schema.ts`). Most are told by the
revisions that lack something, so that one which is added knows what the newest one does, until a
property says otherwise.
"""

from __future__ import annotations

import enum
from typing import Final, NoReturn

__all__ = [
    "BY_NAME",
    "HANDSHAKE",
    "LATEST",
    "LATEST_HANDSHAKE",
    "MODERN",
    "RELEASED",
    "SUPPORTED",
    "WITHOUT_HEADER",
    "WORKING_NAMES",
    "Revision",
    "negotiate",
]


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

    @property
    def is_modern(self) -> bool:
        """Whether requests stand alone: no handshake, `_meta` on each, `server/discover`."""
        return self not in _HANDSHAKE

    @property
    def is_natural(self) -> bool:
        """Whether `outputSchema` and `structuredContent` may have any JSON shape.

        Then the text mirror of an object is the author's choice, that of a string is JSON unless
        the author chooses otherwise, and `true` and `false` are schemas like any other.
        """
        return self not in _BEFORE_2026

    @property
    def has_structured_content(self) -> bool:
        """Whether tools have `outputSchema` and results `structuredContent` at all."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_batches(self) -> bool:
        """Whether several JSON-RPC messages may travel in one array."""
        return self is Revision.V2025_03_26

    @property
    def has_tool_annotations(self) -> bool:
        """Whether a listed tool may carry `annotations`."""
        return self is not Revision.V2024_11_05

    @property
    def has_titles(self) -> bool:
        """Whether tools, prompts, resources and implementations may carry `title`."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_item_meta(self) -> bool:
        """Whether listed things and content blocks may carry `_meta` (results always may)."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_last_modified(self) -> bool:
        """Whether the annotations of content may carry `lastModified`."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_resource_links(self) -> bool:
        """Whether content may be a `resource_link`."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_icons(self) -> bool:
        """Whether tools, prompts, resources and implementations may carry `icons`."""
        return self not in _BEFORE_2025_11_25

    @property
    def has_completions(self) -> bool:
        """Whether a server declares that it completes arguments (every revision lets it)."""
        return self is not Revision.V2024_11_05

    @property
    def has_not_found(self) -> bool:
        """Whether a resource that is not there has an error code of its own, -32002."""
        return self in _BEFORE_2026

    @property
    def has_audio(self) -> bool:
        """Whether content may be `audio`."""
        return self is not Revision.V2024_11_05

    @property
    def has_elicitation(self) -> bool:
        """Whether a server may ask the user to fill in a form."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_elicitation_modes(self) -> bool:
        """Whether elicitation has modes, so that a user may be sent to an address, too."""
        return self not in _BEFORE_2025_11_25

    @property
    def has_elicitation_ids(self) -> bool:
        """Whether a visit to an address has an id of its own."""
        return not self.is_modern

    @property
    def has_rich_forms(self) -> bool:
        """Whether a form may have defaults, titled choices, and choices of several."""
        return self not in _BEFORE_2025_11_25

    @property
    def has_sampling_tools(self) -> bool:
        """Whether a model that a server samples may use tools, and messages have several blocks."""
        return self not in _BEFORE_2025_11_25

    @property
    def asks_in_results(self) -> bool:
        """Whether a server asks by a result that wants input, and not by requests of its own."""
        return self.is_modern

    @property
    def has_progress_messages(self) -> bool:
        """Whether a progress notification may carry `message`."""
        return self is not Revision.V2024_11_05

    @property
    def has_version_header(self) -> bool:
        """Whether HTTP requests carry `MCP-Protocol-Version`."""
        return self not in _BEFORE_2025_06_18

    @property
    def has_error_statuses(self) -> bool:
        """Whether errors travel under HTTP statuses of their own, such as 404 for a method."""
        return self.is_modern

    @property
    def has_declared_calls(self) -> bool:
        """Whether each call declares the capabilities and headers that the tool relies on."""
        return self.is_modern

    @property
    def has_tasks(self) -> bool:
        """Whether a call may become a task, by the extension that we speak."""
        return self.is_modern

    @property
    def disconnect_cancels(self) -> bool:
        """Whether a client that closes its HTTP connection has cancelled its request."""
        return self.is_modern

    @property
    def has_event_ids(self) -> bool:
        """Whether a client may come back, over HTTP, for what follows an event that it has."""
        return not self.is_modern and self is not Revision.V2024_11_05

    @property
    def has_empty_events(self) -> bool:
        """Whether a stream may begin with an event that has an id and nothing else."""
        return not self.is_modern and self not in _BEFORE_2025_11_25

    @property
    def omits_unknown_id(self) -> bool:
        """Whether an error about an unreadable id leaves `id` out; older ones say `null`."""
        return self not in _BEFORE_2025_11_25


BY_NAME: Final = {revision.value: revision for revision in Revision}
"""Every revision by the string that names it."""

WORKING_NAMES: Final = (Revision.V2026_06_30, Revision.DRAFT_2026_06_V1)
"""Names 2026-07-28 went by before its release; spoken with a handshake, seen in natural shapes."""

RELEASED: Final = tuple(revision for revision in Revision if revision not in WORKING_NAMES)
"""The revisions that were published, oldest first."""

LATEST: Final = RELEASED[-1]
"""The newest revision."""

HANDSHAKE: Final = (
    Revision.V2024_11_05,
    Revision.V2025_03_26,
    Revision.V2025_06_18,
    Revision.V2025_11_25,
    *WORKING_NAMES,
)
"""The revisions that `initialize` can settle on, oldest first."""

LATEST_HANDSHAKE: Final = Revision.V2025_11_25
"""What a server offers to a client that asks for a revision it does not know."""

MODERN: Final = tuple(revision for revision in Revision if revision not in HANDSHAKE)
"""The revisions without a handshake, oldest first."""

WITHOUT_HEADER: Final = Revision.V2025_03_26
"""What an HTTP request without `MCP-Protocol-Version` speaks: the last one not to have it."""

SUPPORTED: Final = tuple(revision.value for revision in reversed(RELEASED))
"""The wire names a server advertises, newest first."""

_HANDSHAKE: Final = frozenset(HANDSHAKE)
_BEFORE_2025_06_18: Final = frozenset({Revision.V2024_11_05, Revision.V2025_03_26})
_BEFORE_2025_11_25: Final = _BEFORE_2025_06_18 | {Revision.V2025_06_18}
_BEFORE_2026: Final = _BEFORE_2025_11_25 | {Revision.V2025_11_25}


def negotiate(asked: str) -> Revision:
    """Return the revision a handshake settles on: what was asked for, or the latest that has one.

    https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation
    """
    revision = Revision.parse(asked)
    if revision is None or revision not in _HANDSHAKE:
        return LATEST_HANDSHAKE
    return revision
