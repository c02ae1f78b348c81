"""What `lower` does, rule by rule, seen from outside."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from anyshape.errors import InvalidSchema, SchemaError, UnresolvableReference, ValidationError
from anyshape.providers import (
    PROFILES,
    CannotLower,
    Effect,
    Lowered,
    Undeclared,
    lower,
)
from anyshape.schema import compile


def tool(properties: dict[str, Any], *required: str, **beside: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **beside}


def closed(properties: dict[str, Any], *required: str, **beside: Any) -> dict[str, Any]:
    return tool(properties, *required, additionalProperties=False, **beside)


def node(lowered: Lowered, name: str = "v") -> dict[str, Any]:
    return lowered.document["properties"][name]


def trip(lowered: Lowered, value: Any) -> Any:
    """Return the lowered form of a value, after making sure that it comes back."""
    rewritten = lowered.rewrite(value)
    assert lowered.restore(rewritten) == value
    return rewritten


class TestWhatIsGiven:
    def test_a_tool_as_it_is_listed_stands_for_its_input_schema(self) -> None:
        schema = tool({"a": {"type": "string"}})
        listed = {"name": "search", "inputSchema": schema}
        assert lower(listed, "openai").document == lower(schema, "openai").document

    def test_an_object_with_an_input_schema_stands_for_it(self) -> None:
        class Tool:
            name = "search"
            input_schema = tool({"a": {"type": "string"}})

        assert lower(Tool(), "openai").document == lower(Tool.input_schema, "openai").document

    def test_a_compiled_schema_is_taken(self) -> None:
        schema = compile(tool({"a": {"type": "string"}}))
        assert node(lower(schema, "gemini"), "a") == {"type": "string"}

    def test_a_profile_of_ones_own_is_a_value(self) -> None:
        mine = replace(PROFILES["openai-strict"], name="mine", formats=frozenset(("uri",)))
        schema = closed({"v": {"type": "string", "format": "uri"}}, "v")
        assert node(lower(schema, mine))["format"] == "uri"
        assert "format" not in node(lower(schema, "openai-strict"))

    def test_an_unknown_profile_is_named_with_those_there_are(self) -> None:
        with pytest.raises(ValueError, match=r"openai-strict.*'clippy'"):
            lower({"type": "object"}, "clippy")

    def test_what_is_no_schema_is_refused_as_everywhere(self) -> None:
        with pytest.raises(InvalidSchema):
            lower({"type": "objekt"}, "openai")
        with pytest.raises(UnresolvableReference):
            lower(tool({"a": {"$ref": "https://example.com/elsewhere"}}), "openai")
        with pytest.raises(TypeError, match="expected a schema or a tool, got int"):
            lower(3, "openai")  # type: ignore[arg-type] # ty:ignore


class TestWhatIsReturned:
    def test_the_document_is_a_fresh_copy_and_the_same_bytes_every_time(self) -> None:
        schema = closed({"v": {"type": ["integer", "string"]}, "w": {"enum": [1, "a"]}}, "v")
        first = lower(schema, "openai-strict")
        text = json.dumps(first.document)
        first.document["properties"].clear()
        assert json.dumps(first.document) == text
        assert json.dumps(lower(dict(schema), "openai-strict").document) == text

    def test_the_same_schema_and_profile_are_lowered_once(self) -> None:
        schema = closed({"once": {"type": "integer"}})
        assert lower(schema, "gemini") is lower(json.loads(json.dumps(schema)), "gemini")
        assert lower(schema, "gemini") is not lower(schema, "gemini-json")

    def test_a_loss_names_path_keyword_and_words_and_the_model_reads_the_same(self) -> None:
        schema = closed(
            {"v": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}}, "v"
        )
        lowered = lower(schema, "openai-strict")
        (loss,) = lowered.losses
        assert (loss.path, loss.keyword, loss.words) == (
            "/properties/v",
            "uniqueItems",
            "unique items",
        )
        assert loss.effect is Effect.WIDER
        assert node(lowered)["description"] == "(unique items)"

    def test_notes_end_the_description_in_one_pair_of_parentheses(self) -> None:
        schema = closed(
            {"v": {"type": "integer", "description": "How many.", "minimum": 1, "multipleOf": 2}},
            "v",
        )
        assert node(lower(schema, "anthropic-strict"))["description"] == (
            "How many. (minimum=1; multipleOf=2)"
        )


class TestRoots:
    def test_alternatives_become_one_object_that_says_which_go_together(self) -> None:
        schema = tool(
            {"amount": {"type": "integer"}},
            "amount",
            oneOf=[
                {"properties": {"card": {"type": "string"}}, "required": ["card"]},
                {"properties": {"iban": {"type": "string"}}, "required": ["iban"]},
            ],
        )
        for name in PROFILES:
            document = lower(schema, name).document
            assert list(document["properties"]) == ["amount", "card", "iban"]
            assert not document.keys() & {"oneOf", "anyOf", "allOf"}
            if PROFILES[name].root_keywords is None:
                assert "one of: card | iban" in document["description"]
        assert lower(schema, "anthropic").document["required"] == ["amount"]

    def test_a_property_of_two_alternatives_is_either_of_them(self) -> None:
        schema = {
            "oneOf": [
                closed({"kind": {"const": "circle"}, "r": {"type": "number"}}, "kind", "r"),
                closed({"kind": {"const": "square"}, "a": {"type": "number"}}, "kind", "a"),
            ]
        }
        document = lower(schema, "gemini").document
        assert document["properties"]["kind"] == {"type": "string", "enum": ["circle", "square"]}
        assert document["required"] == ["kind"]

    def test_a_root_reference_is_resolved_and_recursion_goes_to_a_definition(self) -> None:
        schema = {"$ref": "#/$defs/N", "$defs": {"N": closed({"next": {"$ref": "#/$defs/N"}})}}
        document = lower(schema, "anthropic").document
        assert "$ref" not in document
        assert document["properties"]["next"] == {"$ref": "#/$defs/N"}

    def test_a_schema_that_admits_no_object_is_refused(self) -> None:
        with pytest.raises(CannotLower, match="admits no object"):
            lower({"type": "string"}, "openai")

    def test_a_required_property_that_can_have_no_value_is_refused(self) -> None:
        with pytest.raises(CannotLower, match="no call could satisfy it"):
            lower(tool({"v": False}, "v"), "openai-strict")

    def test_every_root_has_properties(self) -> None:
        for name in PROFILES:
            assert lower({"type": "object"}, name).document["properties"] == {}


class TestObjects:
    def test_optional_properties_are_null_where_all_are_required(self) -> None:
        lowered = lower(
            closed({"a": {"type": "string"}, "b": {"type": "integer"}}, "a"), "openai-strict"
        )
        assert lowered.document["required"] == ["a", "b"]
        assert node(lowered, "b") == {"type": ["integer", "null"]}
        assert trip(lowered, {"a": "x"}) == {"a": "x", "b": None}

    def test_null_and_absence_that_look_the_same_are_reported(self) -> None:
        lowered = lower(closed({"a": {"type": ["string", "null"]}}), "openai-strict")
        (loss,) = lowered.losses
        assert (loss.path, loss.effect) == ("/properties/a", Effect.AMBIGUOUS)
        assert lowered.restore({"a": None}) == {}

    def test_null_stays_where_absence_would_break_the_original(self) -> None:
        lowered = lower(
            closed({"a": {"type": ["string", "null"]}}, minProperties=1), "openai-strict"
        )
        assert lowered.restore({"a": None}) == {"a": None}

    def test_a_map_becomes_pairs(self) -> None:
        lowered = lower(
            closed({"v": {"type": "object", "additionalProperties": {"type": "integer"}}}, "v"),
            "openai-strict",
        )
        assert trip(lowered, {"v": {"a": 1}}) == {"v": [{"name": "a", "value": 1}]}

    def test_a_map_beside_properties_is_one_more_property(self) -> None:
        lowered = lower(
            tool({"id": {"type": "string"}}, "id", additionalProperties={"type": "integer"}),
            "anthropic-strict",
        )
        assert trip(lowered, {"id": "x", "n": 1}) == {
            "id": "x",
            "additional_properties": [{"name": "n", "value": 1}],
        }

    def test_a_name_given_twice_is_an_error(self) -> None:
        lowered = lower(tool({"id": {}}, "id", additionalProperties=True), "anthropic-strict")
        pairs = [{"name": "id", "value": "1"}]
        with pytest.raises(ValidationError, match="'id' is given twice"):
            lowered.restore({"id": "0", "additional_properties": pairs})

    def test_an_object_that_a_model_sends_for_pairs_is_taken_for_them(self) -> None:
        lowered = lower(tool({"id": {}}, "id", additionalProperties=True), "anthropic-strict")
        sent = {"id": "0", "additional_properties": {"n": "1"}}
        assert lowered.restore(sent) == {"id": 0, "n": 1}

    def test_what_is_no_pair_is_an_error_and_never_left_out(self) -> None:
        lowered = lower(tool({"id": {}}, "id", additionalProperties=True), "anthropic-strict")
        for pairs in (["n"], [{"name": "n"}], "n"):
            with pytest.raises(ValidationError, match="expected"):
                lowered.restore({"id": "0", "additional_properties": pairs})

    def test_a_free_object_and_any_value_are_json_text(self) -> None:
        lowered = lower(closed({"v": {"type": "object"}, "w": {}}, "v", "w"), "openai-strict")
        assert node(lowered) == {"type": "string", "description": "(JSON text: object)"}
        assert trip(lowered, {"v": {"a": [1]}, "w": None}) == {"v": '{"a":[1]}', "w": "null"}
        assert lowered.restore({"v": "{not json", "w": "plain"}) == {"v": "{not json", "w": "plain"}

    def test_undeclared_properties_have_no_form_and_the_loss_says_so(self) -> None:
        lowered = lower(tool({"a": {"type": "string"}}), "openai-strict")
        assert [loss.effect for loss in lowered.losses] == [Effect.NARROWER]
        with pytest.raises(ValidationError, match="no place for the property 'b'"):
            lowered.rewrite({"a": "x", "b": 1})

    def test_undeclared_properties_can_be_kept(self) -> None:
        sound = replace(PROFILES["openai-strict"], undeclared=Undeclared.KEPT)
        lowered = lower(tool({"a": {"type": "string"}}), sound)
        assert trip(lowered, {"a": "x", "b": [1]}) == {
            "a": "x",
            "additional_properties": [{"name": "b", "value": "[1]"}],
        }

    def test_what_only_a_condition_mentions_is_declared_in_closed_objects(self) -> None:
        schema = tool(
            {"mode": {"enum": ["fast", "slow"]}},
            "mode",
            **{
                "if": {"properties": {"mode": {"const": "fast"}}},
                "then": {"properties": {"limit": {"type": "integer"}}, "required": ["limit"]},
            },
        )
        lowered = lower(schema, "openai-strict")
        assert trip(lowered, {"mode": "fast", "limit": 3}) == {"mode": "fast", "limit": 3}

    def test_names_are_changed_per_object_and_the_description_says_how(self) -> None:
        schema = closed({"first name": {"type": "string"}, "first_name": {"type": "string"}})
        lowered = lower(schema, "gemini")
        assert list(lowered.document["properties"]) == ["first_name_2", "first_name"]
        assert node(lowered, "first_name_2")["description"] == "(named first name)"
        assert trip(lowered, {"first name": "a", "first_name": "b"}) == {
            "first_name_2": "a",
            "first_name": "b",
        }

    def test_a_name_is_found_within_the_rules_of_any_profile_or_none_is(self) -> None:
        short = replace(PROFILES["gemini"], property_names="[a-z]{1,3}")
        schema = closed({f"Long name {n}": {"type": "integer"} for n in range(3)})
        lowered = lower(schema, short)
        assert all(1 <= len(name) <= 3 for name in lowered.document["properties"])
        trip(lowered, {"Long name 2": 2})
        with pytest.raises(CannotLower, match="no name like 'Long name 0'"):
            lower(schema, replace(short, property_names="[a-z]{200}"))

    def test_names_below_the_root_stay_where_only_the_root_has_rules(self) -> None:
        schema = closed({"$q": closed({"$r": {"type": "string"}})})
        document = lower(schema, "anthropic").document
        assert list(document["properties"]) == ["_q"]
        assert list(document["properties"]["_q"]["properties"]) == ["$r"]

    def test_a_tool_over_the_limits_names_the_profile_to_use_instead(self) -> None:
        schema = closed({f"p{n}": {"type": "string"} for n in range(11)})
        with pytest.raises(CannotLower, match=r"11 optional properties.*lower it for 'anthropic'"):
            lower(schema, "anthropic-strict")

    def test_objects_deeper_than_the_limit_are_json_text(self) -> None:
        schema: dict[str, Any] = {"type": "string"}
        value: Any = "x"
        for _ in range(14):
            schema, value = closed({"d": schema}, "d"), {"d": value}
        trip(lower(schema, "openai-strict"), value)


class TestUnions:
    def test_alternatives_that_could_be_mistaken_are_json_text_as_a_whole(self) -> None:
        lowered = lower(
            closed({"v": {"anyOf": [{"type": "string"}, {"type": "object"}]}}, "v"), "openai-strict"
        )
        assert trip(lowered, {"v": '{"a":1}'}) == {"v": '"{\\"a\\":1}"'}
        assert trip(lowered, {"v": {"a": 1}}) == {"v": '{"a":1}'}
        assert lowered.restore({"v": "just text"}) == {"v": "just text"}

    def test_integers_go_without_saying_beside_numbers(self) -> None:
        union = {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}]}
        lowered = lower(closed({"v": union}, "v"), "openai-strict")
        assert node(lowered) == {"type": ["string", "number"]}
        trip(lowered, {"v": 3})

    def test_constants_are_one_enumeration(self) -> None:
        schema = closed({"v": {"oneOf": [{"const": "a"}, {"const": "b"}]}}, "v")
        assert node(lower(schema, "openai-strict")) == {"type": "string", "enum": ["a", "b"]}

    def test_described_constants_stay_alternatives_except_where_they_are_not_obeyed(self) -> None:
        constants = [{"const": "a", "description": "first"}, {"const": "b", "description": "last"}]
        schema = closed({"v": {"oneOf": constants}}, "v")
        assert len(node(lower(schema, "openai-strict"))["anyOf"]) == 2
        assert node(lower(schema, "gemini")) == {
            "type": "string",
            "description": "(a: first; b: last)",
            "enum": ["a", "b"],
        }

    def test_nothing_stands_beside_alternatives_where_nothing_may(self) -> None:
        union = {"description": "Either.", "anyOf": [{"type": "string"}, {"type": "integer"}]}
        assert node(lower(closed({"v": union}, "v"), "gemini")) == {
            "anyOf": [
                {"type": "string", "description": "Either."},
                {"type": "integer", "description": "Either."},
            ]
        }

    def test_one_of_is_a_loss_only_where_alternatives_overlap(self) -> None:
        apart = closed({"v": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}, "v")
        overlapping = closed({"v": {"oneOf": [{"type": "integer"}, {"type": "number"}]}}, "v")
        assert lower(apart, "openai-strict").losses == ()
        assert [loss.keyword for loss in lower(overlapping, "openai-strict").losses] == ["oneOf"]

    def test_a_product_of_alternatives_that_is_too_large_is_left_to_the_original(self) -> None:
        pair = {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object"}]}
        many = {"allOf": [{**pair, "title": str(n)} for n in range(20)]}
        lowered = lower(closed({"v": many}, "v"), "llguidance")
        assert any("alternatives" in loss.words for loss in lowered.losses)
        trip(lowered, {"v": {"a": 1}})

    def test_nothing_is_refused_for_a_format_that_is_but_a_hint(self) -> None:
        moment = {"type": "string", "format": "date-time"}
        schema = closed({"v": {"not": moment}, "w": {"oneOf": [moment, {"type": "string"}]}})
        lowered = lower(schema, "openai")
        assert [loss.keyword for loss in lowered.losses] == ["not", "oneOf"]
        assert "not" not in node(lowered)
        assert "oneOf" not in node(lowered, "w")

    def test_alternatives_that_note_the_same_are_compared_without_it(self) -> None:
        listed: list[Any] = [{"enum": [{}]}, {"enum": [{"a": 1}]}]
        schema = closed({"v": {"type": "object", "maxProperties": 3, "anyOf": listed}}, "v")
        assert node(lower(schema, "llguidance"))["enum"] == [{}, {"a": 1}]


class TestArrays:
    def test_a_tuple_becomes_a_list_of_any_of_its_items_and_a_note(self) -> None:
        pair = {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": False,
        }
        lowered = lower(closed({"v": pair}, "v"), "openai-strict")
        assert node(lowered) == {
            "type": "array",
            "description": '(prefixItems=["string","integer"])',
            "items": {"type": ["string", "integer"]},
            "maxItems": 2,
        }
        trip(lowered, {"v": ["a", 1]})

    def test_a_tuple_of_equal_items_loses_nothing(self) -> None:
        box = {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "number"}],
            "items": False,
            "minItems": 2,
        }
        assert lower(closed({"v": box}, "v"), "openai-strict").losses == ()

    def test_every_array_has_items(self) -> None:
        for name in PROFILES:
            assert "items" in node(lower(closed({"v": {"type": "array"}}, "v"), name)) or name in (
                *("anthropic", "bedrock"),
            )


class TestRecursion:
    SCHEMA: ClassVar = closed(
        {"v": {"$ref": "#/$defs/Node"}},
        "v",
        **{
            "$defs": {
                "Node": closed({"n": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}}, "n")
            }
        },
    )
    VALUE: ClassVar = {"v": {"n": 1, "next": {"n": 2, "next": {"n": 3, "next": {"n": 4}}}}}

    def test_it_stays_where_it_may(self) -> None:
        lowered = lower(self.SCHEMA, "openai-strict")
        assert list(lowered.document["$defs"]) == ["Node"]
        trip(lowered, self.VALUE)

    def test_it_is_unrolled_twice_and_then_json_text_where_it_may_not(self) -> None:
        lowered = lower(self.SCHEMA, "anthropic-strict")
        assert trip(lowered, self.VALUE) == {
            "v": {"n": 1, "next": {"n": 2, "next": '{"n":3,"next":{"n":4}}'}}
        }

    def test_definitions_of_several_tools_have_names_of_their_own(self) -> None:
        listed = {"name": "tree", "inputSchema": self.SCHEMA}
        assert list(lower(listed, "xgrammar").document["$defs"]) == ["tree_Node"]

    def test_a_definition_that_is_used_once_is_written_where_it_is_used(self) -> None:
        schema = closed({"v": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"type": "integer"}}})
        assert node(lower(schema, "llguidance")) == {"type": "integer"}


class TestRepairs:
    LOWERED = lower(
        tool(
            {
                "color": {"enum": ["Red", "Green"]},
                "size": {"type": "integer"},
                "box": {"type": "object", "properties": {"n": {"type": "integer"}}},
            }
        ),
        "openai",
    )

    def test_capitals_of_a_listed_value_are_put_right(self) -> None:
        assert self.LOWERED.restore({"color": "red"}) == {"color": "Red"}

    def test_null_for_an_absent_property_is_left_out(self) -> None:
        assert self.LOWERED.restore({"size": None}) == {}

    def test_json_text_for_an_object_is_parsed(self) -> None:
        assert self.LOWERED.restore({"box": '{"n": 1}'}) == {"box": {"n": 1}}

    def test_what_is_wrong_otherwise_is_left_for_the_original_to_explain(self) -> None:
        assert self.LOWERED.restore({"color": "blue", "size": None}) == {
            "color": "blue",
            "size": None,
        }


@pytest.mark.parametrize("name", PROFILES)
def test_a_count_may_be_written_as_a_number_with_a_point(name: str) -> None:
    def pair(count: float) -> dict[str, Any]:
        text = {"type": "string", "minLength": count, "maxLength": 2 * count}
        array = {"type": "array", "prefixItems": [text] * 3, "minItems": count, "maxItems": count}
        return tool({"v": {**array, "items": text}}, "v")

    assert lower(pair(2.0), name).document == lower(pair(2), name).document


def test_a_bound_of_integers_is_the_number_that_was_written() -> None:
    lowered = lower(tool({"v": {"type": "integer", "maximum": 1e23}}, "v"), "gemini-json")
    assert node(lowered)["maximum"] == 10**23
    assert trip(lowered, {"v": 10**23}) == {"v": 10**23}


def test_every_refusal_is_a_schema_error_of_ours() -> None:
    assert issubclass(CannotLower, SchemaError)


def test_older_dialects_are_written_in_today_s_words() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "https://example.com/old",
        "type": "object",
        "properties": {
            "at": {"type": "array", "items": [{"type": "number"}], "additionalItems": False},
            "n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
        },
        "dependencies": {"at": ["n"]},
    }
    assert lower(schema, "anthropic").document == {
        "type": "object",
        "properties": {
            "at": {"type": "array", "prefixItems": [{"type": "number"}], "items": {"not": {}}},
            "n": {"type": "integer", "exclusiveMinimum": 0},
        },
        "dependentRequired": {"at": ["n"]},
    }


@pytest.mark.parametrize("name", ["openai-strict", "anthropic-strict", "deepseek", "outlines"])
@pytest.mark.parametrize(
    "said",
    [
        {"additionalProperties": False},
        {"unevaluatedProperties": False},
        {"items": {"type": "string"}, "additionalProperties": False},
    ],
    ids=str,
)
def test_what_json_text_no_longer_says_of_objects_is_a_loss(
    name: str, said: dict[str, object]
) -> None:
    document = {"type": "object", "properties": {"v": said}, "required": ["v"]}
    lowered = lower(document, name)
    assert lowered.document["properties"]["v"]["type"] == "string"
    assert any(loss.path == "/properties/v" for loss in lowered.losses)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([{"name": "k", "value": 1}] * 2, "the property 'k' is given twice"),
        ([{"key": "k"}], 'expected {"name": …, "value": …} for each undeclared property'),
    ],
)
def test_pairs_that_are_none_are_told_with_their_place(pairs: list[Any], said: str) -> None:
    counts = {"type": "object", "additionalProperties": {"type": "integer"}}
    lowered = lower(tool({"v": {"type": "array", "items": tool({"a/b": counts})}}), "openai-strict")
    with pytest.raises(ValidationError) as raised:
        lowered.restore({"v": [{"a/b": None}, {"a/b": pairs}]})
    assert [(each.path, each.message) for each in raised.value.problems] == [("/v/1/a~1b", said)]
