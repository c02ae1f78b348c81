"""Several forms of one place become one node: a list of types, one enumeration, or `anyOf`."""

from __future__ import annotations

from typing import Any, cast

from anyshape.documents.json import identity
from anyshape.providers._clashes import Clash, worst
from anyshape.providers._codecs import AsIs, AsListed, Codec, Union
from anyshape.providers._forms import BARE, LoweredForm, text_form
from anyshape.providers._losses import Effect, Losses, compact, described
from anyshape.providers._source import arranged
from anyshape.providers._values import KINDS
from anyshape.providers.profile import Profile


def unite(
    forms: list[LoweredForm], description: str, profile: Profile, losses: Losses, place: str
) -> LoweredForm:
    """Return one form that stands for all of `forms`.

    What all of them note is said once, beside them, before they are compared: read again, it is
    part of the description, and what is alike then has to be alike now.
    """
    common = _shared_notes(forms) if profile.union_siblings else []
    forms = _distinct(forms, profile)
    if len(forms) == 1:
        only = forms[0]
        only.description = description or only.description
        only.notes += common
        return only
    found = worst([form.codec for form in forms])
    if found is Clash.VALUE:
        losses.add(place, "anyOf", "alternatives as JSON text")
        kinds = dict.fromkeys(str(form.node.get("type", "value")) for form in forms)
        notes = [*(note for form in forms for note in form.notes), *common]
        notes = [note for note in notes if not note.startswith("JSON text")]
        text = text_form(" or ".join(kinds), notes)
        text.description = description
        return text
    if found is Clash.NULL:
        losses.add(place, "anyOf", "null or absent", Effect.AMBIGUOUS)
    codec = Union(tuple(form.codec for form in forms))
    null = any(form.null for form in forms)
    others = [form for form in forms if form.node != {"type": "null"}]
    if len(others) < len(forms) and len(others) == 1:
        found_form = nullable(others[0], description, codec, profile)
        found_form.notes = [*found_form.notes, *common]
        return found_form
    if profile.nullable and len(others) < len(forms):
        for form in others:
            form.node["nullable"] = True
        forms = others
    if profile.type_lists and all(_is_bare(form) for form in forms):
        types = sorted((str(form.node["type"]) for form in forms), key=KINDS.index)
        return LoweredForm({"type": types}, codec, common, description, null)
    node: dict[str, Any] = {}
    if not profile.union_siblings:
        for form in forms:
            form.description = f"{description} {form.description}".strip()
        description = ""
    node["anyOf"] = [form.written() for form in forms]
    return LoweredForm(node, codec, common, description, null)


def _shared_notes(forms: list[LoweredForm]) -> list[str]:
    """Take out of each form the notes that all of them have."""
    common = [note for note in forms[0].notes if all(note in form.notes for form in forms)]
    for form in forms:
        form.notes = [note for note in form.notes if note not in common]
    return common


def nullable(form: LoweredForm, description: str, codec: Codec, profile: Profile) -> LoweredForm:
    """Return a form that admits null as well; `description` is that of the place."""
    node = dict(form.node)
    kind = node.get("type")
    if profile.nullable:
        if "anyOf" in node:
            node["anyOf"] = [arranged({**inner, "nullable": True}) for inner in node["anyOf"]]
        else:
            node["nullable"] = True
    elif isinstance(kind, list):
        node["type"] = [*cast("list[str]", kind), "null"]
    elif profile.type_lists and kind in BARE and "enum" not in node:
        node["type"] = [kind, "null"]
    elif "anyOf" in node:
        node["anyOf"] = [*node["anyOf"], {"type": "null"}]
    else:
        return LoweredForm(
            {"anyOf": [form.written(), {"type": "null"}]}, codec, [], description, True
        )
    both = f"{description} {form.description}".strip()
    return LoweredForm(node, codec, form.notes, both, True)


def _is_bare(form: LoweredForm) -> bool:
    return (
        form.node.keys() == {"type"}
        and form.node["type"] in BARE
        and not form.notes
        and not form.description
    )


def _distinct(forms: list[LoweredForm], profile: Profile) -> list[LoweredForm]:
    """Leave out forms that are there already, integers beside numbers, and join enumerations.

    An enumeration with words of its own stays an alternative, unless the target is known to do
    badly with alternatives that are constants; then the words go into the notes.
    """
    found: list[LoweredForm] = []
    bare = [form.node["type"] for form in forms if _is_bare(form)]
    for form in forms:
        if _is_bare(form) and form.node["type"] == "integer" and "number" in bare:
            continue
        if any(
            other.node == form.node
            and other.codec == form.codec
            and other.notes == form.notes
            and other.description == form.description
            for other in found
        ):
            continue
        joins = [other for other in found if _joins(other, form, profile)]
        if joins:
            _enlist(joins[0], form)
        else:
            found.append(form)
    return found


def _joins(known: LoweredForm, form: LoweredForm, profile: Profile) -> bool:
    return (
        all("enum" in one.node and isinstance(one.codec, (AsIs, AsListed)) for one in (known, form))
        and known.node["type"] == form.node["type"]
        and ((known.codec.plain and form.codec.plain) or not _share(known, form))
        and not (known.node.keys() | form.node.keys()) - {"type", "enum"}
        and (
            not profile.union_siblings
            or not (known.description or known.notes or form.description or form.notes)
        )
    )


def _share(known: LoweredForm, form: LoweredForm) -> bool:
    return any(value in known.node["enum"] for value in form.node["enum"])


def _enlist(known: LoweredForm, form: LoweredForm) -> None:
    """Add the values of one enumeration to another."""
    _credit(known)
    _credit(form)
    known.codec = _listed(known, form)
    values = known.node["enum"]
    known.node["enum"] = values + [value for value in form.node["enum"] if value not in values]
    known.notes += form.notes


def _credit(form: LoweredForm) -> None:
    """Turn the words of an enumeration into a note that names its values."""
    text = described(form.description, form.notes)
    if text and not form.joined:
        form.notes = [f"{', '.join(str(value) for value in form.node['enum'])}: {text}"]
        form.description = ""
    form.joined = True


def _listed(known: LoweredForm, form: LoweredForm) -> AsIs | AsListed:
    one, other = cast("AsIs | AsListed", known.codec), cast("AsIs | AsListed", form.codec)
    if isinstance(one, AsIs) and isinstance(other, AsIs):
        if one.values is None or other.values is None:
            return AsIs(one.kinds)
        return AsIs(one.kinds, None, one.values | other.values)
    entries = [
        entry
        for part, codec in ((known, one), (form, other))
        for entry in (
            codec.entries
            if isinstance(codec, AsListed)
            else tuple((identity(value), value, compact(value)) for value in part.node["enum"])
        )
    ]
    return AsListed(tuple(dict.fromkeys(entries)))
