"""Models whose JSON form is what they hold: a way to it that makes no copies.

What pydantic writes for a model of strings, numbers and the like is its `__dict__`, and with models
inside, the dicts of those. `shortcut` writes a function for such a type that takes them as they
are, after a look at every part: a field need not hold what its annotation says (`model_construct`,
assignment, a default), and pydantic has its own idea of what to write then. At the first thing that
is not exactly as declared the function raises `UnusualError` (or `KeyError`, or `RecursionError`),
and pydantic is asked. So what it returns is what pydantic would return; a test in test_forms.py
makes up types and values to show that it is.

https://docs.pydantic.dev/latest/concepts/serialization/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, cast

import msgspec

from anyshape.tools.outputs import ToBuiltins, UnusualError
from anyshape.tools.source import DEEPEST, Source

__all__ = ["shortcut"]


class _NotPlainError(Exception):
    """The form of a type is not what it holds, or that is not certain."""


class _Scalar(msgspec.Struct, frozen=True):
    types: frozenset[type]


class _List(msgspec.Struct, frozen=True):
    item: _Form


class _Dict(msgspec.Struct, frozen=True):
    value: _Form


class _Maybe(msgspec.Struct, frozen=True):
    """A form or `None`."""

    form: _Form


class _Model(msgspec.Struct, frozen=True, eq=False):
    """A model; it may contain itself, so the fields are added once it is there."""

    cls: type
    fields: dict[str, _Form] = msgspec.field(default_factory=dict[str, "_Form"])


_Form: TypeAlias = _Scalar | _List | _Dict | _Maybe | _Model


def shortcut(schema: Mapping[str, Any]) -> Callable[[], ToBuiltins] | None:
    """Return what writes a function to the JSON form of values with this core schema.

    `None` if no such function is certain to be right. To write it takes as long as a hundred calls,
    so that is done when a value is first there.
    """
    try:
        form = _Reader().read(schema)
    except _NotPlainError:
        return None
    # A writer for each: two threads may come first.
    return cache(lambda: _Writer(form).write())


# What a core schema may say without changing how its values are written. Anything else, above all
# `serialization`, and whatever pydantic may yet think of, is a reason to leave it to pydantic.
_ANYWHERE = frozenset(("type", "ref", "metadata", "strict"))
_BOUNDS = frozenset(("multiple_of", "le", "ge", "lt", "gt", "allow_inf_nan"))
_LENGTHS = frozenset(("min_length", "max_length", "fail_fast"))
_HARMLESS: Mapping[str, frozenset[str]] = {
    "none": frozenset(),
    "bool": frozenset(),
    "int": _BOUNDS,
    "float": _BOUNDS,
    "str": frozenset(
        (
            "pattern",
            "min_length",
            "max_length",
            "strip_whitespace",
            "to_lower",
            "to_upper",
            "ascii_only",
            "regex_engine",
            "coerce_numbers_to_str",
        )
    ),
    "literal": frozenset(("expected",)),
    "union": frozenset(("choices", "mode", "auto_collapse")),
    "list": frozenset(("items_schema",)) | _LENGTHS,
    "dict": frozenset(("keys_schema", "values_schema")) | _LENGTHS,
    "nullable": frozenset(("schema",)),
    "default": frozenset(
        (
            "schema",
            "default",
            "default_factory",
            "default_factory_takes_data",
            "copy_default",
            "on_error",
            "validate_default",
        )
    ),
    "function-before": frozenset(("function", "schema", "json_schema_input_schema")),
    "function-after": frozenset(("function", "schema")),
    "function-wrap": frozenset(("function", "schema", "json_schema_input_schema")),
    "definitions": frozenset(("schema", "definitions")),
    "definition-ref": frozenset(("schema_ref",)),
    "model": frozenset(
        (
            "cls",
            "schema",
            "config",
            "generic_origin",
            "custom_init",
            "root_model",
            "post_init",
            "revalidate_instances",
            "frozen",
            "extra_behavior",
        )
    ),
    "model-fields": frozenset(
        ("fields", "model_name", "computed_fields", "extra_behavior", "from_attributes")
    ),
    "model-field": frozenset(
        ("schema", "validation_alias", "serialization_alias", "serialization_exclude", "frozen")
    ),
}
_HARMLESS_CONFIG = frozenset(
    (
        "title",
        "strict",
        "extra_fields_behavior",
        "from_attributes",
        "loc_by_alias",
        "revalidate_instances",
        "validate_default",
        "str_max_length",
        "str_min_length",
        "str_strip_whitespace",
        "str_to_lower",
        "str_to_upper",
        "allow_inf_nan",
        "hide_input_in_errors",
        "validation_error_cause",
        "coerce_numbers_to_str",
        "regex_engine",
        "cache_strings",
        "validate_by_alias",
        "validate_by_name",
        "serialize_by_alias",
    )
)
_TYPES: Mapping[str, type] = {
    "none": type(None),
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
}
_JSON_TYPES = frozenset((str, int, bool, type(None)))
_TEXT = _Scalar(frozenset((str,)))
_MANY = 16
"""Above so many items a list of their types is counted, in C; below that takes longer."""


class _Reader:
    """One walk over a core schema; every definition met is read once."""

    def __init__(self) -> None:
        self._definitions: dict[str, Mapping[str, Any]] = {}
        self._forms: dict[str, _Form] = {}

    def read(self, node: Mapping[str, Any]) -> _Form:
        """Return the form of what `node` describes; raise `_NotPlainError` if none is certain."""
        _check_keys(node)
        kind = node["type"]
        if kind in _TYPES:
            return _Scalar(frozenset((_TYPES[kind],)))
        if kind == "literal":
            return _scalar({type(value) for value in node["expected"]})
        if kind == "union":
            return self._read_union(node)
        if kind == "list":
            return _List(self._read_given(node, "items_schema"))
        if kind == "dict":
            if self._read_given(node, "keys_schema") != _TEXT:
                raise _NotPlainError
            return _Dict(self._read_given(node, "values_schema"))
        if kind == "nullable":
            form = self.read(node["schema"])
            if isinstance(form, _Scalar):
                return _Scalar(form.types | {type(None)})
            return _Maybe(form)
        if kind == "default":
            return self._read_default(node)
        if kind == "definitions":
            self._definitions.update((part["ref"], part) for part in node["definitions"])
            return self.read(node["schema"])
        if kind == "definition-ref":
            return self._read_reference(node["schema_ref"])
        if kind == "model":
            return self._read_model(node)
        return self.read(node["schema"])  # validators have no say in what is written

    def _read_given(self, node: Mapping[str, Any], key: str) -> _Form:
        if key not in node:
            raise _NotPlainError
        return self.read(node[key])

    def _read_union(self, node: Mapping[str, Any]) -> _Form:
        types: set[type] = set()
        for choice in node["choices"]:
            form = self.read(
                cast("tuple[Any, str]", choice)[0] if type(choice) is tuple else choice
            )
            if not isinstance(form, _Scalar):
                raise _NotPlainError
            types |= form.types
        return _scalar(types)

    def _read_default(self, node: Mapping[str, Any]) -> _Form:
        form = self.read(node["schema"])
        unusual = isinstance(form, _Scalar) and type(node.get("default")) not in form.types
        if unusual and "default" in node:
            # Such as 0 for a float: to look at every value would be in vain.
            raise _NotPlainError
        return form

    def _read_reference(self, reference: str) -> _Form:
        if reference not in self._forms:
            # Popped: a model that contains itself is known by now, anything else has no end.
            node = self._definitions.pop(reference, None)
            if node is None:
                raise _NotPlainError
            self._forms[reference] = self.read(node)
        return self._forms[reference]

    def _read_model(self, node: Mapping[str, Any]) -> _Form:
        inner = node["schema"]
        while inner["type"].startswith("function-"):
            _check_keys(inner)
            inner = inner["schema"]
        _check_keys(inner)
        config = node.get("config", {})
        extras = (
            config.get("extra_fields_behavior"),
            node.get("extra_behavior"),
            inner.get("extra_behavior"),
        )
        if (
            inner["type"] != "model-fields"
            or inner.get("computed_fields")
            or node.get("root_model")
            or "allow" in extras
            or not config.keys() <= _HARMLESS_CONFIG
        ):
            raise _NotPlainError
        model = _Model(node["cls"])
        if "ref" in node:
            self._forms[node["ref"]] = model
        for name, part in inner["fields"].items():
            _check_keys(part)
            if part.get("serialization_exclude") or part.get("serialization_alias", name) != name:
                raise _NotPlainError
            model.fields[name] = self.read(part["schema"])
        return model


def _check_keys(node: Mapping[str, Any]) -> None:
    harmless = _HARMLESS.get(node["type"])
    if harmless is None or not node.keys() <= harmless | _ANYWHERE:
        raise _NotPlainError


def _scalar(types: set[type]) -> _Scalar:
    # Where either is expected, pydantic may write 1 for `True`, or 1.0 for 1.
    if not types <= _JSON_TYPES or {int, bool} <= types:
        raise _NotPlainError
    return _Scalar(frozenset(types))


class _Writer:
    """Writes the function; what is used twice, or contains itself, has one of its own."""

    def __init__(self, root: _Form) -> None:
        self._root = root
        self._source = Source()
        self._uses = _count_uses(root)
        self._functions: dict[int, str] = {}
        self._waiting: list[tuple[str, _Form]] = []
        self._stop = f"raise {self._source.name_value('Unusual', UnusualError)}"

    def write(self) -> ToBuiltins:
        self._write_function("shortcut", self._root)
        while self._waiting:
            self._write_function(*self._waiting.pop())
        return self._source.function("shortcut")

    def _write_function(self, name: str, form: _Form) -> None:
        with self._source.block(f"def {name}(value):"):
            self._source.line(f"return {self._write_inside(form, 'value')}")

    def _write(self, form: _Form, value: str) -> str:
        """Write what makes the JSON form of a value; return the expression that is it then."""
        key = id(form)
        if self._uses[key] < 2 and self._source.depth <= DEEPEST:
            return self._write_inside(form, value)
        if key not in self._functions:
            self._functions[key] = self._source.new_name("form")
            self._waiting.append((self._functions[key], form))
        result = self._source.new_name("result")
        self._source.line(f"{result} = {self._functions[key]}({value})")
        return result

    def _write_inside(self, form: _Form, value: str) -> str:
        if isinstance(form, _Scalar):
            self._source.line(f"if {_is_not(form, value)}: {self._stop}")
            return value
        if isinstance(form, _Model):
            return self._write_model(form, value)
        if isinstance(form, _Maybe):
            return self._write_maybe(form, value)
        if isinstance(form, _List):
            self._source.line(f"if type({value}) is not list: {self._stop}")
            return self._write_parts(form.item, value)
        self._source.line(f"if type({value}) is not dict: {self._stop}")
        self._write_scan(_TEXT, value, value)
        return self._write_parts(form.value, value, keyed=True)

    def _write_maybe(self, form: _Maybe, value: str) -> str:
        result = value if _is_itself(form) else self._source.new_name("result")
        if result != value:
            self._source.line(f"{result} = None")
        with self._source.block(f"if {value} is not None:"):
            found = self._write(form.form, value)
            if result != value:
                self._source.line(f"{result} = {found}")
        return result

    def _write_parts(self, part: _Form, value: str, *, keyed: bool = False) -> str:
        source = self._source
        parts = f"{value}.values()" if keyed else value
        if isinstance(part, _Scalar):
            self._write_scan(part, parts, value)
            return value
        item = source.new_name("item")
        if _is_itself(part):
            with source.block(f"for {item} in {parts}:"):
                self._write(part, item)
            return value
        result = source.new_name("result")
        if keyed:
            key = source.new_name("key")
            source.line(f"{result} = {{}}")
            with source.block(f"for {key}, {item} in {value}.items():"):
                source.line(f"{result}[{key}] = {self._write(part, item)}")
        else:
            source.line(f"{result} = []")
            with source.block(f"for {item} in {value}:"):
                source.line(f"{result}.append({self._write(part, item)})")
        return result

    def _write_model(self, model: _Model, value: str) -> str:
        source = self._source
        held = source.new_name("held")
        cls = source.name_value("Model", model.cls)
        source.line(f"if type({value}) is not {cls}: {self._stop}")
        source.line(f"{held} = {value}.__dict__")
        # That many, and each by its name: no other. What else an instance may hold, such as a
        # cached property, is never written.
        wrong = [f"len({held}) != {len(model.fields)}"]
        others: dict[str, _Form] = {}
        for name, form in model.fields.items():
            if isinstance(form, _Scalar):
                wrong.append(_is_not(form, f"{held}[{name!r}]"))
            else:
                others[name] = form
        source.line(f"if {' or '.join(wrong)}: {self._stop}")
        forms: list[str] = []
        for name, form in others.items():
            part = source.new_name("part")
            source.line(f"{part} = {held}[{name!r}]")
            found = self._write(form, part)
            if not _is_itself(form):
                forms.append(f"{name!r}: {found}")
        return f"{{**{held}, {', '.join(forms)}}}" if forms else held

    def _write_scan(self, form: _Scalar, parts: str, whole: str) -> None:
        """Write a look at all of `parts`, of which there are as many as `whole` is long."""
        source = self._source
        types, item = source.new_name("types"), source.new_name("item")
        with source.block(f"if len({whole}) > {_MANY}:"):
            counts = [f"{types}.count({name})" for name in sorted(map(_name_of, form.types))]
            source.line(f"{types} = [*map(type, {parts})]")
            source.line(f"if {' + '.join(counts)} != len({whole}): {self._stop}")
        with source.block("else:"), source.block(f"for {item} in {parts}:"):
            source.line(f"if {_is_not(form, item)}: {self._stop}")


def _name_of(kind: type) -> str:
    return "type(None)" if kind is type(None) else kind.__name__


def _is_not(form: _Scalar, value: str) -> str:
    """Return the condition under which a value is not exactly of one of the types of `form`."""
    names = sorted(kind.__name__ for kind in form.types if kind is not type(None))
    conditions = [f"type({value}) is not {name}" for name in names]
    if type(None) in form.types:
        conditions.insert(0, f"{value} is not None")
    return " and ".join(conditions)


def _is_itself(form: _Form) -> bool:
    """Tell whether there is no model in `form`, so that its values are JSON as they are."""
    while not isinstance(form, _Scalar | _Model):
        form = _part(form)
    return isinstance(form, _Scalar)


def _part(form: _List | _Dict | _Maybe) -> _Form:
    if isinstance(form, _List):
        return form.item
    return form.value if isinstance(form, _Dict) else form.form


def _count_uses(root: _Form) -> Counter[int]:
    uses: Counter[int] = Counter()
    pending = [root]
    while pending:
        form = pending.pop()
        if isinstance(form, _Scalar):
            continue
        uses[id(form)] += 1
        if uses[id(form)] == 1:
            pending.extend(form.fields.values() if isinstance(form, _Model) else [_part(form)])
    return uses
