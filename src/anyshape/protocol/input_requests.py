"""What a server asks of a client while it answers a request, as each revision words it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#inputrequests
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from anyshape.errors import AskError
from anyshape.protocol.capabilities import (
    ELICITS_FORMS,
    ELICITS_URLS,
    ROOTS,
    SAMPLES,
    SAMPLES_TOOLS,
)
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.methods import ELICIT, ROOTS_LIST, SAMPLE
from anyshape.protocol.revision import Revision
from anyshape.protocol.sampling import SampleRequest, write_sample


class InputRequest(msgspec.Struct, frozen=True):
    """One question to a client: its method, the JSON text of its parameters, what it requires."""

    method: str
    requires: Mapping[str, Any]
    params: bytes | None = None

    @property
    def text(self) -> bytes:
        """The question as it stands in `inputRequests`."""
        method = b'{"method":%b' % encode_data(self.method)
        return method + (b"}" if self.params is None else b',"params":%b}' % self.params)


def ask_for_form(revision: Revision, message: str, form: Mapping[str, Any]) -> InputRequest:
    """Return what asks the user to fill in a form; `form` is as 2025-11-25 writes it."""
    if not revision.has_elicitation:
        raise AskError(f"at revision {revision} a user cannot be asked")
    params: dict[str, Any] = {"mode": "form"} if revision.has_elicitation_modes else {}
    params["message"] = message
    params["requestedSchema"] = form if revision.has_rich_forms else _write_plain_form(form)
    return InputRequest(ELICIT, ELICITS_FORMS, encode_data(params))


def ask_for_visit(revision: Revision, message: str, url: str, id: str) -> InputRequest:
    """Return what asks the user to visit an address."""
    if not revision.has_elicitation_modes:
        raise AskError(f"at revision {revision} a user cannot be sent to an address")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ValueError(f"url has to be an http or https address, got {url!r:.80}")
    params: dict[str, Any] = {"mode": "url", "message": message, "url": url}
    if revision.has_elicitation_ids:
        params["elicitationId"] = id
    return InputRequest(ELICIT, ELICITS_URLS, encode_data(params))


def ask_for_sample(revision: Revision, asked: SampleRequest) -> InputRequest:
    """Return what asks the client's model."""
    params = write_sample(revision, asked)
    requires = SAMPLES_TOOLS if asked.tools or asked.tool_choice else SAMPLES
    return InputRequest(SAMPLE, requires, encode_data(params))


def ask_for_roots() -> InputRequest:
    """Return what asks for the client's roots."""
    return InputRequest(ROOTS_LIST, ROOTS)


def _write_plain_form(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return a form as 2025-06-18 has it, where only what is true or false has a default."""
    fields = {name: _write_plain_field(name, field) for name, field in form["properties"].items()}
    return {**form, "properties": fields}


def _write_plain_field(name: str, field: Mapping[str, Any]) -> dict[str, Any]:
    if field["type"] == "array":
        raise AskError(f"{name}: before revision 2025-11-25 a form has no choice of several")
    plain = dict(field)
    if plain["type"] != "boolean":
        plain.pop("default", None)
    choices = plain.pop("oneOf", None)
    if choices is not None:
        plain["enum"] = [choice["const"] for choice in choices]
        plain["enumNames"] = [choice["title"] for choice in choices]
    return plain
