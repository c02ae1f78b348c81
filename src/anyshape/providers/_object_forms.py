"""Objects, as a profile lets them be written: declared properties, and whatever may be beside them.

Closed targets have no form for undeclared properties. Where the author wrote of them, they become
pairs of name and value; where nobody said anything, they are left out and the loss says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from anyshape.documents.pointers import pointer
from anyshape.providers._branches import ANYTHING, Raw, either
from anyshape.providers._cases import Case
from anyshape.providers._codecs import ANY, Codec, Union
from anyshape.providers._forms import LoweredForm, text_form
from anyshape.providers._losses import Effect, Said
from anyshape.providers._members import PAIR, Field, Members, Pairs, note_renamed
from anyshape.providers._names import fits, safe_name
from anyshape.providers._patterns import written_pattern
from anyshape.providers._scalars import Notebook
from anyshape.providers._unions import nullable
from anyshape.providers.profile import Maps, Undeclared

if TYPE_CHECKING:
    from anyshape.providers._writer import At, Writer

_PAIRS: Final = "additional_properties"


def object_form(writer: Writer, case: Case, at: At, *, arrays: bool = False) -> LoweredForm:
    """Return the form of a case of objects; `arrays` says that arrays are alternatives to it."""
    written = _Object(writer, case, at)
    if written.is_shapeless or written.is_too_deep:
        return written.as_text()
    written.declare()
    written.admit_others(arrays=arrays)
    written.count()
    return written.form()


class _Object:
    """One object on its way to being written."""

    def __init__(self, writer: Writer, case: Case, at: At) -> None:
        self._writer = writer
        self._profile = writer.profile
        self._case = case
        self._at = at
        self._notebook = Notebook(writer.losses)
        self._node: dict[str, Any] = {"type": "object"}
        self._fields: dict[str, Field] = {}
        self._rest: Codec | None = None
        self._pairs: Pairs | None = None
        self._listing: dict[str, Any] = {}
        self._left_out = (
            case.implied
            and self._profile.closed
            and self._profile.undeclared is Undeclared.LEFT_OUT
        )
        self._properties = dict(case.properties)
        if self._left_out:
            self._properties |= case.mentioned
        self._taken = set(self._properties)

    @property
    def is_shapeless(self) -> bool:
        """Whether it is an object of which nothing is known, where such objects arrive empty.

        An object that must be empty looks the same where nothing can say that it is closed.
        """
        case = self._case
        unsaid = case.extra == () and "additionalProperties" not in self._profile.keywords
        return (
            not self._at.root
            and not (self._properties or case.patterns)
            and (case.extra == ANYTHING or unsaid)
            and (self._profile.maps is Maps.PAIRS or self._left_out)
        )

    @property
    def is_too_deep(self) -> bool:
        """Whether the target would refuse one more object within objects."""
        most = self._profile.bounds.levels
        return most is not None and self._at.levels >= most

    def as_text(self) -> LoweredForm:
        """Return the form of an object as JSON text."""
        case = self._case
        self._writer.losses.add(case.place, "type", "an object as JSON text")
        self._notebook.lose(*case.said.values(), *case.more)
        return text_form("object", self._notebook.notes)

    def declare(self) -> None:
        """Write the declared properties."""
        profile, case, at = self._profile, self._case, self._at
        written: dict[str, Any] = {}
        required: list[str] = []
        forms: dict[str, LoweredForm] = {}
        for name, raw in self._properties.items():
            guarded = at.guarded or name not in case.required
            inside = replace(at, levels=at.levels + 1, guarded=guarded, root=False)
            forms[name] = self._writer.site(raw, inside)
        chosen = self._chosen(forms)
        for name, form in forms.items():
            wanted = name in case.required
            lowered = self._renamed(name)
            if lowered != name:
                form.remark(f"named {name}", beside=profile.union_siblings)
            needed = wanted or profile.all_required or name == chosen
            padded = needed and not wanted
            ambiguous = padded and form.null
            if ambiguous:
                place = case.place + pointer(("properties", name))
                words = "null or absent"
                self._writer.losses.add(place, "required", words, Effect.AMBIGUOUS)
            if padded and not ambiguous:
                own = LoweredForm(form.node, form.codec, form.notes)
                form = nullable(own, form.description, form.codec, profile)
            written[lowered] = form.written()
            null = ambiguous or (not padded and form.null)
            self._fields[name] = Field(lowered, form.codec, needed, padded, null)
            if needed:
                required.append(lowered)
        if written or at.root or profile.closed:
            self._node["properties"] = written
        if required or profile.all_required:  # as OpenAI's own SDK writes it
            self._node["required"] = required

    def _chosen(self, forms: dict[str, LoweredForm]) -> str | None:
        """Return the property to require where none is: one that is never null, if there is one."""
        if not self._profile.one_required or self._case.required or len(forms) < 2:
            return None
        return next((name for name, form in forms.items() if not form.null), next(iter(forms)))

    def _renamed(self, name: str) -> str:
        rule = self._profile.property_names
        if rule is None or (self._profile.root_names_only and not self._at.root):
            return name
        lowered = name if fits(name, rule) else safe_name(name, rule, self._taken)
        self._taken.add(lowered)
        return lowered

    def admit_others(self, *, arrays: bool) -> None:
        """Write what may be given beside the declared properties."""
        case, profile, node = self._case, self._profile, self._node
        says = "additionalProperties" in profile.keywords
        extra: Raw = () if self._left_out else case.extra
        if self._left_out:
            words = "properties that are not declared"
            self._writer.losses.add(case.place, "additionalProperties", words, Effect.NARROWER)
        if extra == () and not case.patterns:
            if says:
                node["additionalProperties"] = False
            else:
                self._writer.losses.add(case.place, "additionalProperties", "no others")
                self._rest = ANY
        elif case.implied and extra == ANYTHING and not profile.closed:
            self._rest = ANY
            if says and profile.openness_written:
                node["additionalProperties"] = True
        else:
            self._admit_said(extra, says=says, arrays=arrays)

    def _admit_said(self, extra: Raw, *, says: bool, arrays: bool) -> None:
        """Write the undeclared properties that the author speaks of."""
        case, profile, node = self._case, self._profile, self._node
        inside = replace(self._at, levels=self._at.levels + 1, guarded=True, root=False)
        takes = not case.overlapping and all(
            written_pattern(pattern, profile.patterns) == pattern for pattern in case.patterns
        )
        if case.patterns and takes and "patternProperties" in profile.keywords:
            self._keep_patterns(extra, inside)
            return
        if case.patterns:
            self._notebook.lose(Said("patternProperties", list(case.patterns), case.place))
        raw = either([*case.patterns.values(), extra])
        if raw == ANYTHING and says and profile.openness_written:
            self._rest = ANY
            node["additionalProperties"] = True
            return
        form = self._writer.site(raw, inside)
        alone = not self._fields and not self._at.root
        if profile.maps is Maps.KEPT or (profile.maps is Maps.ALONE and alone):
            self._rest = form.codec
            if alone:
                node.pop("properties", None)
            if says:
                node["additionalProperties"] = _additional(form)
            else:
                self._notebook.lose(Said("additionalProperties", "schema", case.place))
            return
        self._pair(form, arrays=arrays)

    def _keep_patterns(self, extra: Raw, at: At) -> None:
        patterns = self._case.patterns
        forms = {pattern: self._writer.site(raw, at) for pattern, raw in patterns.items()}
        written = {pattern: form.written() for pattern, form in forms.items()}
        self._node["patternProperties"] = written
        codecs = [form.codec for form in forms.values()]
        self._node["additionalProperties"] = False
        if extra != ():
            form = self._writer.site(extra, at)
            self._node["additionalProperties"] = _additional(form)
            codecs.append(form.codec)
        self._rest = Union(tuple(codecs))

    def _pair(self, form: LoweredForm, *, arrays: bool) -> None:
        """Write undeclared properties as an array of names and values."""
        name, value = PAIR
        pair: dict[str, Any] = {
            "type": "object",
            "properties": {name: {"type": "string"}, value: form.written()},
            "required": [name, value],
        }
        if self._profile.closed:
            pair["additionalProperties"] = False
            self._node["additionalProperties"] = False
        words = "as pairs of name and value"
        self._writer.losses.add(self._case.place, "additionalProperties", words)
        self._listing = {"type": "array", "items": pair}
        self._notebook.remark("properties as name and value")
        if not (self._fields or arrays or self._at.root):
            self._pairs = Pairs(None, form.codec)
            return
        taken = {*self._fields, *(entry.lowered for entry in self._fields.values())}
        lowered = safe_name(_PAIRS, "[a-z0-9_]+", taken)
        self._node.setdefault("properties", {})[lowered] = self._listing
        if self._profile.all_required:
            self._node.setdefault("required", []).append(lowered)
        self._pairs = Pairs(lowered, form.codec)

    def count(self) -> None:
        """Write how many properties there may be, where the number stays what it was."""
        case = self._case
        if self._rest is not None:
            note_renamed(self._fields, case.place, self._writer.losses)
        if case.forbidden and self._rest is not None:
            words = f"without {', '.join(case.forbidden)}"
            self._notebook.lose(Said("properties", words, case.place))
        counted = not (self._pairs or any(entry.padded for entry in self._fields.values()))
        for keyword, said in case.said.items():
            if counted and keyword in self._profile.keywords and keyword != "propertyNames":
                self._node[keyword] = said.value
            else:
                self._notebook.lose(said)
        self._notebook.lose(*case.more)

    def form(self) -> LoweredForm:
        """Return what was written."""
        alone = self._pairs is not None and self._pairs.lowered is None
        codec = Members(self._fields, self._rest, self._pairs)
        return LoweredForm(self._listing if alone else self._node, codec, self._notebook.notes)


def _additional(form: LoweredForm) -> dict[str, Any] | bool:
    """Return what `additionalProperties` says; a default says nothing for names that may be any."""
    return form.written() if form.node.keys() - {"default"} else True
