"""Arrays, as a profile lets them be written: lists, and tuples where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyshape.providers._branches import either
from anyshape.providers._cases import Case
from anyshape.providers._codecs import ANY, AsText, Codec, Items
from anyshape.providers._forms import LoweredForm
from anyshape.providers._losses import Said
from anyshape.providers._scalars import Notebook

if TYPE_CHECKING:
    from anyshape.providers._writer import At, Writer


def array(writer: Writer, case: Case, at: At) -> LoweredForm:
    """Return the form of a case of arrays."""
    profile = writer.profile
    notebook = Notebook(writer.losses)
    node: dict[str, Any] = {"type": "array"}
    least, most = case.said.get("minItems"), case.said.get("maxItems")
    low = 0 if least is None else least.value
    high: int | None = None if most is None else most.value
    if case.rest == ():
        high = len(case.prefix) if high is None else min(high, len(case.prefix))
    if (
        case.prefix
        and "prefixItems" in profile.keywords
        and (case.rest == () or profile.open_tuples)
    ):
        codec = _tuple(writer, case, at, node, low, high)
    else:
        codec = _list(writer, case, at, node, low, high, notebook)
    if low:
        written = low if profile.most_min_items is None else min(low, profile.most_min_items)
        if "minItems" in profile.keywords and _countable(written, writer):
            node["minItems"] = written
        if node.get("minItems") != low:
            notebook.lose(least or Said("minItems", low, case.place))
    if high is not None:
        if "maxItems" in profile.keywords and _countable(high, writer):
            node["maxItems"] = high
        elif not (node.get("items") is False and high == len(case.prefix)):
            notebook.lose(most or Said("maxItems", high, case.place))
    for said in (case.said.get("uniqueItems"), *case.more):
        if said is not None:
            if said.keyword in profile.keywords:
                node[said.keyword] = said.value
            else:
                notebook.lose(said)
    return LoweredForm(node, codec, notebook.notes)


def _countable(count: int, writer: Writer) -> bool:
    most = writer.profile.largest_count
    return most is None or count <= most


def _tuple(
    writer: Writer, case: Case, at: At, node: dict[str, Any], low: int, high: int | None
) -> Codec:
    forms = [writer.site(raw, at) for raw in case.prefix]
    node["prefixItems"] = [form.written() for form in forms]
    rest: Codec = ANY
    if case.rest == ():
        if writer.profile.false_items:
            node["items"] = False
    else:
        form = writer.site(case.rest, at)
        node["items"] = form.written()
        rest = form.codec
    return Items(tuple(form.codec for form in forms), rest, low, high)


def _list(
    writer: Writer,
    case: Case,
    at: At,
    node: dict[str, Any],
    low: int,
    high: int | None,
    notebook: Notebook,
) -> Codec:
    """Write `items` for all items alike; positions go into a note."""
    raw = either([*case.prefix, case.rest])
    if raw == ():
        node["items"] = {"type": "string"}
        return Items((), ANY, low, high)
    form = writer.site(raw, at)
    node["items"] = form.written()
    if not case.prefix:
        return Items((), form.codec, low, high)
    places = [writer.site(part, at) for part in case.prefix]
    rest = form if case.rest == () else writer.site(case.rest, at)
    written = [place.written() for place in (*places, rest)]
    if any(part != written[0] for part in written):
        notebook.lose(Said("prefixItems", [_kind(part) for part in written[:-1]], case.place))
    if isinstance(form.codec, AsText):
        return Items((), form.codec, low, high)
    return Items(tuple(place.codec for place in places), rest.codec, low, high)


def _kind(node: dict[str, Any]) -> object:
    return node.get("enum") or node.get("type") or "any"
